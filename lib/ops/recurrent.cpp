// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM as loops over time: the input's share of all gates is one product over all steps, each step adds
// the state's share. Formulas, gate orders and defaults are ONNX's operator descriptions. com.microsoft's
// DynamicQuantizeLSTM has W and R as [I, G H], in 8 bits; X as a whole, and each step's state, are brought to 8 bits
// before they are multiplied.
#include <array>

#include "ops/op_def.h"
#include "ops/recurrent.h"

namespace tvc::ops {
namespace {

using Values = Result<std::vector<ir::ValueId>>;

Result<int64_t> direction_count(const NodeView& v) {
  const std::string direction = v.s("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return bad_input("direction {} is not known", direction);
  return direction == "bidirectional" ? 2 : 1;
}

bool is_quantized(const NodeView& v) { return v.node().op == "com.microsoft.DynamicQuantizeLSTM"; }
const Dim& hidden_size(const NodeView& v) { return v.shape(2)[is_quantized(v) ? 1 : 2]; }

Result<void> infer_recurrent(InferContext& c) {
  TVC_TRY(int64_t directions, direction_count(c));
  if (c.rank(0) != 3 || c.rank(1) != 3 || c.rank(2) != 3) return bad_input("X, W and R must have rank 3");
  const Dim hidden = hidden_size(c);
  const bool batch_first = c.i("layout", 0) != 0;
  const Dim &steps = c.shape(0)[batch_first ? 1 : 0], &batch = c.shape(0)[batch_first ? 0 : 1];
  if (!hidden.is_constant()) return unsupported("the hidden size is not known at compile time");
  if (batch_first) c.set(0, c.dtype(0), {batch, steps, directions, hidden});
  else c.set(0, c.dtype(0), {steps, directions, batch, hidden});
  for (size_t k = 1; k <= 2; ++k) {
    if (batch_first) c.set(k, c.dtype(0), {batch, directions, hidden});
    else c.set(k, c.dtype(0), {directions, batch, hidden});
  }
  return {};
}

Result<void> infer_quantized_lstm(InferContext& c) {
  for (size_t k : {8, 9, 10, 11}) {
    if (!c.has_input(k)) {
      if (k % 2 == 0) return bad_input("it has no scale of its weights");
    } else if (c.rank(k) < 1 || c.rank(k) > 2) {
      return bad_input("a scale or zero point has rank {}", c.rank(k));
    }
  }
  return infer_recurrent(c);
}

// Builds one direction outside and inside of the loop.
class Direction {
 public:
  Direction(DecomposeContext& c, int64_t index, int64_t gates)
      : c_(c), index_(index), gates_(gates), hidden_(hidden_size(c).constant()) {}

  // Slice `index` of a [directions, ...] operand.
  Result<ir::ValueId> part(size_t operand) {
    return c_.add("Gather", {c_.in(operand), c_.scalar(DType::kI64, static_cast<double>(index_))},
                  {{"axis", int64_t{0}}});
  }

  Result<ir::ValueId> columns(ir::ValueId x, int64_t from, int64_t to, int64_t axis) {
    return c_.add("Slice", {x, c_.ints({from}), c_.ints({to}), c_.ints({axis}), c_.ints({1})});
  }

  // W or R as [K, G H], for a product from the right.
  Result<ir::ValueId> weights(size_t operand) {
    TVC_TRY(auto matrix, part(operand));
    if (!is_quantized(c_)) return c_.add("Transpose", {matrix}, {{"perm", std::vector<int64_t>{1, 0}}});
    const size_t scale = operand == 1 ? 8 : 10, zero = scale + 1;
    std::vector<ir::ValueId> inputs = {matrix};
    for (size_t k : {scale, zero}) {
      if (k == zero && !c_.has_input(k)) break;
      TVC_TRY(auto value, part(k));
      inputs.push_back(value);
    }
    return c_.add("DequantizeLinear", inputs, {{"axis", int64_t{1}}});
  }

  // X W^T + Wb (+ Rb where it may be added at once), [T, B, G H].
  Result<ir::ValueId> input_share(ir::ValueId x, bool with_state_bias) {
    TVC_TRY(auto w, weights(1));
    if (is_quantized(c_)) {
      TVC_TRY(auto q, c_.add_multi("DynamicQuantizeLinear", {x}, {}, 3));
      TVC_TRY(x, c_.add("DequantizeLinear", q));
    }
    TVC_TRY(auto share, c_.add("MatMul", {x, w}));
    if (!c_.has_input(3)) return share;
    TVC_TRY(auto bias, part(3));
    TVC_TRY(auto wb, columns(bias, 0, gates_ * hidden_, 0));
    if (with_state_bias) {
      TVC_TRY(auto rb, columns(bias, gates_ * hidden_, 2 * gates_ * hidden_, 0));
      TVC_TRY(wb, c_.add("Add", {wb, rb}));
    }
    return c_.add("Add", {share, wb});
  }

  // Initial state: operand k's part, or zeros [B, H].
  Result<ir::ValueId> initial(size_t operand, ir::ValueId x) {
    if (c_.has_input(operand)) return part(operand);
    TVC_TRY(auto shape, c_.add("Shape", {x}, {{"start", int64_t{1}}, {"end", int64_t{2}}}));
    TVC_TRY(auto sizes, c_.add("Concat", {shape, c_.ints({hidden_})}, {{"axis", int64_t{0}}}));
    std::map<std::string, ir::Attr, std::less<>> attrs;
    if (c_.dtype(0) != DType::kF32)
      attrs.emplace("value", std::make_shared<const ir::Tensor>(ir::from_f64(c_.dtype(0), {1}, {0})));
    return c_.add("ConstantOfShape", {sizes}, std::move(attrs));
  }

  // Backwards in time, each sequence from its own end.
  Result<ir::ValueId> reversed(ir::ValueId x) {
    if (c_.has_input(4))
      return c_.add("ReverseSequence", {x, c_.in(4)}, {{"time_axis", int64_t{0}}, {"batch_axis", int64_t{1}}});
    return c_.add("Slice", {x, c_.ints({-1}), c_.ints({INT64_MIN}), c_.ints({0}), c_.ints({-1})});
  }

  DecomposeContext& c_;
  int64_t index_, gates_, hidden_;
};

struct Results {
  ir::ValueId all, last, cell;  // [T, B, H], [B, H], [B, H]
};

using Step = Result<StepResult> (*)(StepBuilder&, Direction&);

Result<Results> run_direction(DecomposeContext& c, Direction& d, ir::ValueId x, bool backwards, bool with_state_bias,
                              bool has_cell, size_t activation, Step step) {
  if (backwards) {
    TVC_TRY(x, d.reversed(x));
  }
  TVC_TRY(auto share, d.input_share(x, with_state_bias));
  TVC_TRY(auto h, d.initial(5, x));
  std::vector<ir::ValueId> states = {h};
  if (has_cell) {
    TVC_TRY(auto cell, d.initial(6, x));
    states.push_back(cell);
  }
  StepBuilder builder(c, share, states, activation);
  TVC_TRY(StepResult result, step(builder, d));
  std::vector<ir::ValueId> next = {result.hidden};
  if (has_cell) next.push_back(result.cell);
  ir::GraphId body = builder.finish(next, c.has_input(4) ? c.in(4) : ir::kNone);
  TVC_TRY(auto shape, c.add("Shape", {x}, {{"start", int64_t{0}}, {"end", int64_t{1}}}));
  TVC_TRY(auto steps, c.add("Squeeze", {shape}));
  std::vector<ir::ValueId> inputs = {steps, c.scalar(DType::kBool, 1)};
  inputs.insert(inputs.end(), states.begin(), states.end());
  TVC_TRY(auto outputs, c.add_multi("Loop", inputs, {{"body", body}}, states.size() + 1));
  Results r{outputs.back(), outputs[0], has_cell ? outputs[1] : ir::kNone};
  if (backwards) {
    TVC_TRY(r.all, d.reversed(r.all));
  }
  return r;
}

Values assemble(DecomposeContext& c, const std::vector<Results>& results, bool has_cell) {
  std::vector<ir::ValueId> all, last, cell;
  for (const Results& r : results) {
    TVC_TRY(auto y, c.add("Unsqueeze", {r.all, c.ints({1})}));
    TVC_TRY(auto h, c.add("Unsqueeze", {r.last, c.ints({0})}));
    all.push_back(y);
    last.push_back(h);
    if (!has_cell) continue;
    TVC_TRY(auto k, c.add("Unsqueeze", {r.cell, c.ints({0})}));
    cell.push_back(k);
  }
  auto joined = [&](const std::vector<ir::ValueId>& parts, int64_t axis) -> Result<ir::ValueId> {
    return parts.size() == 1 ? Result<ir::ValueId>(parts[0]) : c.add("Concat", parts, {{"axis", axis}});
  };
  std::vector<ir::ValueId> out(3, ir::kNone);
  TVC_TRY(out[0], joined(all, 1));
  TVC_TRY(out[1], joined(last, 0));
  if (has_cell) {
    TVC_TRY(out[2], joined(cell, 0));
  }
  if (c.i("layout", 0) == 0) return out;
  TVC_TRY(out[0], c.add("Transpose", {out[0]}, {{"perm", std::vector<int64_t>{2, 0, 1, 3}}}));
  for (size_t k = 1; k < 3; ++k)
    if (out[k] != ir::kNone) {
      TVC_TRY(out[k], c.add("Transpose", {out[k]}, {{"perm", std::vector<int64_t>{1, 0, 2}}}));
    }
  return out;
}

Values decompose_recurrent(DecomposeContext& c, int64_t gates, bool with_state_bias, bool has_cell, size_t activations,
                           Step step) {
  TVC_TRY(int64_t directions, direction_count(c));
  ir::ValueId x = c.in(0);
  if (c.i("layout", 0) != 0) {
    if (c.has_input(5) || c.has_input(6)) return unsupported("layout 1 with initial states is not supported");
    TVC_TRY(x, c.add("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0, 2}}}));
  }
  std::vector<Results> results;
  for (int64_t k = 0; k < directions; ++k) {
    const bool backwards = k == 1 || c.s("direction", "forward") == "reverse";
    Direction direction(c, k, gates);
    TVC_TRY(auto r, run_direction(c, direction, x, backwards, with_state_bias, has_cell,
                                  static_cast<size_t>(k) * activations, step));
    results.push_back(r);
  }
  return assemble(c, results, has_cell);
}

Result<StepResult> rnn_step(StepBuilder& b, Direction& d) {
  TVC_TRY(auto r, d.weights(2));
  ir::ValueId sum = b.add("Add", {b.input(), b.add("MatMul", {b.state(0), r})});
  TVC_TRY(auto h, b.activation(0, b.clipped(sum), "Tanh"));
  return StepResult{h, ir::kNone};
}

// Gates z, r, h. H' = (1 - z) h + z H.
Result<StepResult> gru_step(StepBuilder& b, Direction& d) {
  DecomposeContext& c = d.c_;
  const int64_t n = d.hidden_;
  const bool linear_before_reset = c.i("linear_before_reset", 0) != 0;
  TVC_TRY(auto r_all, d.weights(2));
  TVC_TRY(auto r_gates, d.columns(r_all, 0, 2 * n, 1));
  TVC_TRY(auto r_new, d.columns(r_all, 2 * n, 3 * n, 1));
  ir::ValueId rb_gates = ir::kNone, rb_new = ir::kNone;
  if (c.has_input(3)) {
    TVC_TRY(auto bias, d.part(3));
    TVC_TRY(rb_gates, d.columns(bias, 3 * n, 5 * n, 0));
    TVC_TRY(rb_new, d.columns(bias, 5 * n, 6 * n, 0));
  }
  auto biased = [&](ir::ValueId x, ir::ValueId bias) { return bias == ir::kNone ? x : b.add("Add", {x, bias}); };
  auto parts = b.split(b.input(), {2 * n, n});
  ir::ValueId gates = b.add("Add", {parts[0], biased(b.add("MatMul", {b.state(0), r_gates}), rb_gates)});
  auto zr = b.split(gates, {n, n});
  TVC_TRY(auto z, b.activation(0, b.clipped(zr[0]), "Sigmoid"));
  TVC_TRY(auto r, b.activation(0, b.clipped(zr[1]), "Sigmoid"));
  ir::ValueId recurrent = linear_before_reset ? b.add("Mul", {r, biased(b.add("MatMul", {b.state(0), r_new}), rb_new)})
                                              : biased(b.add("MatMul", {b.add("Mul", {r, b.state(0)}), r_new}), rb_new);
  TVC_TRY(auto fresh, b.activation(1, b.clipped(b.add("Add", {parts[1], recurrent})), "Tanh"));
  ir::ValueId keep = b.add("Mul", {z, b.state(0)});
  ir::ValueId take = b.add("Mul", {b.add("Sub", {b.number(1), z}), fresh});
  return StepResult{b.add("Add", {take, keep}), ir::kNone};
}

// Gates i, o, f, c; peepholes P in the order i, o, f. C' = f C + i c, H' = o h(C').
Result<StepResult> lstm_step(StepBuilder& b, Direction& d) {
  DecomposeContext& c = d.c_;
  const int64_t n = d.hidden_;
  TVC_TRY(auto r, d.weights(2));
  std::array<ir::ValueId, 3> peephole = {ir::kNone, ir::kNone, ir::kNone};
  if (c.has_input(7)) {
    TVC_TRY(auto all, d.part(7));
    for (int64_t k = 0; k < 3; ++k) {
      TVC_TRY(peephole[static_cast<size_t>(k)], d.columns(all, k * n, (k + 1) * n, 0));
    }
  }
  auto peeped = [&](ir::ValueId x, size_t k, ir::ValueId cell) {
    return peephole[k] == ir::kNone ? x : b.add("Add", {x, b.add("Mul", {peephole[k], cell})});
  };
  ir::ValueId h = b.state(0);
  if (is_quantized(c)) h = b.add("DequantizeLinear", b.add_multi("DynamicQuantizeLinear", {h}, {}, 3));
  ir::ValueId gates = b.add("Add", {b.input(), b.add("MatMul", {h, r})});
  auto g = b.split(gates, {n, n, n, n});
  TVC_TRY(auto i, b.activation(0, b.clipped(peeped(g[0], 0, b.state(1))), "Sigmoid"));
  ir::ValueId f = ir::kNone;
  if (c.i("input_forget", 0) != 0) {
    f = b.add("Sub", {b.number(1), i});
  } else {
    TVC_TRY(f, b.activation(0, b.clipped(peeped(g[2], 2, b.state(1))), "Sigmoid"));
  }
  TVC_TRY(auto fresh, b.activation(1, b.clipped(g[3]), "Tanh"));
  ir::ValueId cell = b.add("Add", {b.add("Mul", {f, b.state(1)}), b.add("Mul", {i, fresh})});
  TVC_TRY(auto o, b.activation(0, b.clipped(peeped(g[1], 1, cell)), "Sigmoid"));
  TVC_TRY(auto squashed, b.activation(2, cell, "Tanh"));
  return StepResult{b.add("Mul", {o, squashed}), cell};
}

Values decompose_rnn(DecomposeContext& c) { return decompose_recurrent(c, 1, true, false, 1, rnn_step); }
Values decompose_gru(DecomposeContext& c) { return decompose_recurrent(c, 3, false, false, 2, gru_step); }
Values decompose_lstm(DecomposeContext& c) { return decompose_recurrent(c, 4, true, true, 3, lstm_step); }

}  // namespace

TVC_DEFINE_OP(kRNN) = {.name = "RNN", .infer = infer_recurrent, .decompose = decompose_rnn};
TVC_DEFINE_OP(kGRU) = {.name = "GRU", .infer = infer_recurrent, .decompose = decompose_gru};
TVC_DEFINE_OP(kLSTM) = {.name = "LSTM", .infer = infer_recurrent, .decompose = decompose_lstm};
TVC_DEFINE_OP(kMicrosoftDynamicQuantizeLSTM) = {
    .name = "com.microsoft.DynamicQuantizeLSTM", .infer = infer_quantized_lstm, .decompose = decompose_lstm};

}  // namespace tvc::ops
