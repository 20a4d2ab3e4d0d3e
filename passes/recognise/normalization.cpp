// SPDX-License-Identifier: Apache-2.0
// Normalisations along the last axes that exporters take apart. With d = x - ReduceMean(x), v = ReduceMean(d^2):
//   d / Sqrt(v + epsilon) * scale + bias = LayerNormalization(x, scale, bias)
//   x * r + (bias - ReduceMean(x) * r), r = scale / Sqrt(v + epsilon): the same, as TensorFlow writes it
//   x / Sqrt(ReduceMean(x^2) + epsilon) * scale = RMSNormalization(x, scale)
// Squares as Pow or Mul, roots as Sqrt or Pow, quotients as Div or Mul by a reciprocal. scale and bias are constants.
#include <algorithm>
#include <numeric>

#include "ops/op_def.h"
#include "passes/pass.h"
#include "passes/recognise/replace.h"

namespace tvc::passes {
namespace {

using namespace recognise;

class Normalization {
 public:
  Normalization(const ir::Module& module, const ir::Uses& uses) : module_(module), uses_(uses) {}

  Nodes nodes;
  ir::NodeId last = ir::kNone;
  ir::ValueId x = ir::kNone, mean = ir::kNone;  // mean: none for RMSNormalization
  int64_t axis = 0;
  double epsilon = 0;
  const ir::Tensor *scale = nullptr, *bias = nullptr;

  // root: the node that makes the square root.
  bool match(ir::NodeId root) {
    nodes = {root};
    return match_variance(root) && match_quotient(root) && last != ir::kNone && is_closed(module_, uses_, nodes, last);
  }

 private:
  void take(ir::ValueId value) { nodes.insert(module_.value(value).producer); }
  bool is_f32(ir::ValueId value) const { return module_.value(value).type.dtype == ir::DType::kF32; }

  // ReduceMean over the last axes, kept: its operand; axis_ is set or compared.
  ir::ValueId averaged(ir::ValueId value) {
    const ir::Node* reduce = producer(module_, value, "ReduceMean");
    if (reduce == nullptr || reduce->i("keepdims", 1) == 0) return ir::kNone;
    const ops::NodeView view(module_, module_.value(value).producer);
    auto axes = view.constant_ints(1);
    if (!axes || axes->empty()) return ir::kNone;
    const int64_t rank = view.rank(0);
    for (int64_t& a : *axes) a += a < 0 ? rank : 0;
    std::sort(axes->begin(), axes->end());
    for (size_t k = 0; k < axes->size(); ++k)
      if ((*axes)[k] != rank - static_cast<int64_t>(axes->size() - k)) return ir::kNone;
    axis = axes->front();
    take(value);
    return reduce->inputs[0];
  }

  ir::ValueId squared(ir::ValueId value) {
    if (const ir::Node* pow = producer(module_, value, "Pow");
        pow != nullptr && scalar(module_, pow->inputs[1]) == 2.0) {
      take(value);
      return pow->inputs[0];
    }
    const ir::Node* mul = producer(module_, value, "Mul");
    if (mul == nullptr || mul->inputs[0] != mul->inputs[1]) return ir::kNone;
    take(value);
    return mul->inputs[0];
  }

  // x where d = x - mean over the same axes, which it sets.
  ir::ValueId centred(ir::ValueId d) {
    const ir::Node* sub = producer(module_, d, "Sub");
    if (sub == nullptr) return ir::kNone;
    const int64_t axis_before = axis;
    if (averaged(sub->inputs[1]) != sub->inputs[0] || axis != axis_before) return ir::kNone;
    take(d);
    mean = sub->inputs[1];
    return sub->inputs[0];
  }

  // Root of the mean of squares, plus epsilon.
  bool match_variance(ir::NodeId root) {
    const ir::Node* add = producer(module_, module_.node(root).inputs[0], "Add");
    if (add == nullptr || !is_f32(add->outputs[0])) return false;
    const bool right = scalar(module_, add->inputs[1]).has_value();
    auto number = scalar(module_, add->inputs[right ? 1 : 0]);
    if (!number || *number < 0) return false;
    epsilon = *number;
    take(add->outputs[0]);
    const ir::ValueId squares = averaged(add->inputs[right ? 0 : 1]);
    if (squares == ir::kNone) return false;
    const ir::ValueId base = squared(squares);
    if (base == ir::kNone) return false;
    const ir::ValueId inner = centred(base);
    x = inner == ir::kNone ? base : inner;
    difference_ = base;
    return is_f32(x);
  }

  // The only reader of `value`, an `op`; its other operand.
  ir::NodeId reader(ir::ValueId value, std::string_view op) const {
    if (!uses_.single(module_, value)) return ir::kNone;
    const ir::NodeId id = uses_.of(value)[0].node;
    return module_.node(id).op == op ? id : ir::kNone;
  }
  ir::ValueId other(ir::NodeId id, ir::ValueId value) const {
    const auto& inputs = module_.node(id).inputs;
    return inputs[0] == value ? inputs[1] : inputs[0];
  }

  bool match_quotient(ir::NodeId root) {
    ir::ValueId r = module_.node(root).outputs[0];
    if (module_.node(root).op == "Sqrt" || scalar(module_, module_.node(root).inputs[1]) == 0.5) {
      if (const ir::NodeId div = reader(r, "Div"); div != ir::kNone && module_.node(div).inputs[1] == r) {
        nodes.insert(div);
        if (scalar(module_, module_.node(div).inputs[0]) != 1.0)
          return match_normalized(div, module_.node(div).inputs[0]);
        r = module_.node(div).outputs[0];
      } else if (const ir::NodeId inverse = reader(r, "Reciprocal"); inverse != ir::kNone) {
        nodes.insert(inverse);
        r = module_.node(inverse).outputs[0];
      } else {
        return false;
      }
    }
    return match_product_with(r);
  }

  // r = 1 / deviation
  bool match_product_with(ir::ValueId r) {
    const ir::NodeId mul = reader(r, "Mul");
    if (mul == ir::kNone) return false;
    nodes.insert(mul);
    const ir::ValueId with = other(mul, r);
    if (with == difference_ || same_difference(with)) return match_normalized(mul, with);
    if (mean == ir::kNone || !take_vector(with, &scale)) return false;
    return match_tensorflow(module_.node(mul).outputs[0]);
  }

  // PyTorch's older exporter writes the difference twice.
  bool same_difference(ir::ValueId value) {
    if (value == difference_) return true;
    const ir::Node* sub = producer(module_, value, "Sub");
    if (mean == ir::kNone || sub == nullptr || sub->inputs[0] != x) return false;
    const int64_t before = axis;
    if (sub->inputs[1] != mean && averaged(sub->inputs[1]) != x) return false;
    take(value);
    return axis == before;
  }

  // A constant with one number for each place of the normalised axes.
  bool take_vector(ir::ValueId value, const ir::Tensor** out) const {
    const ir::Tensor* c = module_.constant(value);
    if (c == nullptr || c->dtype != ir::DType::kF32) return false;
    const ir::Shape& shape = module_.value(x).type.shape;
    const size_t wanted = shape.size() - static_cast<size_t>(axis);
    if (c->dims.size() < wanted) return false;
    const size_t extra = c->dims.size() - wanted;
    for (size_t k = 0; k < c->dims.size(); ++k)
      if (k < extra ? c->dims[k] != 1 : !shape[static_cast<size_t>(axis) + k - extra].is(c->dims[k])) return false;
    *out = c;
    return c->dims.size() <= shape.size();
  }

  // quotient: the normalised x, times scale, plus bias if they follow.
  bool match_normalized(ir::NodeId quotient, ir::ValueId dividend) {
    if (!same_difference(dividend)) return false;
    ir::ValueId y = module_.node(quotient).outputs[0];
    last = quotient;
    if (const ir::NodeId mul = reader(y, "Mul"); mul != ir::kNone && take_vector(other(mul, y), &scale)) {
      nodes.insert(mul);
      last = mul;
      y = module_.node(mul).outputs[0];
    }
    if (const ir::NodeId add = reader(y, "Add");
        mean != ir::kNone && add != ir::kNone && take_vector(other(add, y), &bias)) {
      nodes.insert(add);
      last = add;
    }
    return true;
  }

  // factor = scale / deviation, read by x * factor and mean * factor.
  bool match_tensorflow(ir::ValueId factor) {
    ir::NodeId of_x = ir::kNone, of_mean = ir::kNone;
    for (const auto& use : uses_.of(factor)) {
      if (use.node == ir::kNone || module_.node(use.node).op != "Mul") return false;
      const ir::ValueId with = other(use.node, factor);
      if (with == x) of_x = use.node;
      else if (with == mean) of_mean = use.node;
      else return false;
    }
    if (of_x == ir::kNone || of_mean == ir::kNone) return false;
    const ir::ValueId shift_part = module_.node(of_mean).outputs[0];
    const ir::NodeId sub = reader(shift_part, "Sub");
    if (sub == ir::kNone || module_.node(sub).inputs[1] != shift_part ||
        !take_vector(module_.node(sub).inputs[0], &bias))
      return false;
    const ir::NodeId add = reader(module_.node(of_x).outputs[0], "Add");
    if (add == ir::kNone || other(add, module_.node(of_x).outputs[0]) != module_.node(sub).outputs[0]) return false;
    for (ir::NodeId id : {of_x, of_mean, sub, add}) nodes.insert(id);
    last = add;
    return true;
  }

  const ir::Module& module_;
  const ir::Uses& uses_;
  ir::ValueId difference_ = ir::kNone;
};

// The vector as the operator wants it: with the normalised axes only. Ones where there is none.
ir::ValueId vector(ir::Module& module, const ir::Tensor* c, const ir::Shape& normalized, ir::GraphId graph) {
  std::vector<int64_t> dims;
  for (const ir::Dim& d : normalized) dims.push_back(d.constant());
  ir::Tensor tensor;
  if (c != nullptr) {
    tensor = *c;
    tensor.dims = dims;
  } else {
    const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
    tensor = ir::make_f32(dims, std::vector<float>(static_cast<size_t>(count), 1.0f));
  }
  return ir::add_constant(module, "", std::move(tensor), graph);
}

bool rewrite(ir::Module& module, const Normalization& found) {
  const ir::Shape& shape = module.value(found.x).type.shape;
  const ir::Shape normalized(shape.begin() + static_cast<ptrdiff_t>(found.axis), shape.end());
  for (const ir::Dim& d : normalized)
    if (!d.is_constant()) return false;
  if (module.value(module.node(found.last).outputs[0]).type != module.value(found.x).type) return false;
  const ir::GraphId graph = module.node(found.last).graph;
  ir::NodeSpec spec{.op = found.mean == ir::kNone ? "RMSNormalization" : "LayerNormalization",
                    .inputs = {found.x, vector(module, found.scale, normalized, graph)},
                    .attrs = {{"axis", found.axis - static_cast<int64_t>(shape.size())}, {"epsilon", found.epsilon}}};
  if (found.bias != nullptr) spec.inputs.push_back(vector(module, found.bias, normalized, graph));
  replace(module, found.nodes, found.last, std::move(spec));
  return true;
}

}  // namespace

Result<Changes> recognise_normalizations(ir::Module& module, const PassContext&) {
  Changes changes = 0;
  for (ir::GraphId g = 0; g < module.graphs.size(); ++g) {
    const auto nodes = module.graphs[g].nodes;
    for (ir::NodeId id : nodes) {
      const ir::Node& node = module.node(id);
      const bool root =
          node.op == "Sqrt" ||
          (node.op == "Pow" && (scalar(module, node.inputs[1]) == 0.5 || scalar(module, node.inputs[1]) == -0.5));
      if (!root) continue;
      const ir::Uses uses(module);
      Normalization found(module, uses);
      if (found.match(id) && rewrite(module, found)) ++changes;
    }
  }
  return changes;
}

}  // namespace tvc::passes
