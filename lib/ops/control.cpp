// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan: types of what bodies give. A size that differs between branches or iterations, or that only a body
// knows, becomes a size of the result's own (u<value>_<axis>). Scan is a Loop over slices.
#include <charconv>
#include <set>

#include "ops/branches.h"
#include "ops/containers.h"
#include "ops/elements.h"
#include "ops/loops.h"

namespace tvc::ops {
namespace {

using Values = Result<std::vector<ir::ValueId>>;

// Symbols of values that are defined inside a graph mean nothing outside of it.
class Scope {
 public:
  Scope(const ir::Module& module, ir::GraphId graph) : module_(module) { add(graph); }

  bool is_local(const Dim& dim) const {
    std::set<std::string> names;
    ir::collect_symbols(dim, names);
    for (const auto& name : names) {
      ir::ValueId id = ir::kNone;
      if (name.size() < 2 || (name[0] != 'e' && name[0] != 'u')) continue;
      auto [end, code] = std::from_chars(name.data() + 1, name.data() + name.size(), id);
      if (code != std::errc() || end == name.data() + name.size() || *end != '_' || id >= module_.values.size())
        continue;
      if (graphs_.count(module_.value(id).graph) > 0) return true;
    }
    return false;
  }

 private:
  void add(ir::GraphId graph) {
    graphs_.insert(graph);
    for (ir::NodeId id : module_.graphs[graph].nodes)
      for (const auto& [key, inner] : ir::subgraphs(module_.node(id))) add(inner);
  }
  const ir::Module& module_;
  std::set<ir::GraphId> graphs_;
};

Dim own_size(ir::ValueId value, size_t axis) { return Dim::symbol(fmt::format("u{}_{}", value, axis)); }

Result<ir::GraphId> body_of(const NodeView& v, std::string_view key) {
  auto graph = v.node().subgraph(key);
  if (!graph) return bad_input("it has no {}", key);
  return *graph;
}

// The other branch may have no meaning for these sizes, and is never looked at.
Result<void> infer_taken(InferContext& c, ir::GraphId graph) {
  ir::Module& module = c.mutable_module();
  TVC_CHECK_OK(infer_graph(module, graph));
  const auto results = module.graphs[graph].outputs;
  for (size_t k = 0; k < c.output_count() && k < results.size(); ++k) {
    c.set(k, module.value(results[k]).type);
    if (auto elements = elements_of(module, results[k]);
        elements && static_cast<int64_t>(elements->size()) <= kMaxKnown)
      c.set_known(k, std::move(*elements));
  }
  return {};
}

Result<void> infer_if(InferContext& c) {
  TVC_TRY(ir::GraphId then_graph, body_of(c, "then_branch"));
  TVC_TRY(ir::GraphId else_graph, body_of(c, "else_branch"));
  ir::Module& module = c.mutable_module();
  if (auto taken = taken_branch(module, c.id()); taken && !taken->guarded)
    return infer_taken(c, taken->then_branch ? then_graph : else_graph);
  TVC_CHECK_OK(infer_graph(module, then_graph));
  TVC_CHECK_OK(infer_graph(module, else_graph));
  if (auto taken = taken_branch(module, c.id())) return infer_taken(c, taken->then_branch ? then_graph : else_graph);
  const Scope then_scope(module, then_graph), else_scope(module, else_graph);
  for (size_t k = 0; k < c.output_count(); ++k) {
    if (!c.has_output(k)) continue;
    if (k >= module.graphs[then_graph].outputs.size() || k >= module.graphs[else_graph].outputs.size())
      return bad_input("a branch has no output {}", k);
    const ir::Type a = module.value(module.graphs[then_graph].outputs[k]).type,
                   b = module.value(module.graphs[else_graph].outputs[k]).type;
    auto joined = join_types(a, b, [&](size_t axis) { return own_size(c.node().outputs[k], axis); });
    if (!joined) return std::move(joined).error().at(fmt::format("output {} of the branches", k));
    ir::Type type = std::move(joined).value();
    for (size_t axis = 0; type.kind == ir::Kind::kTensor && axis < type.shape.size(); ++axis)
      if (then_scope.is_local(type.shape[axis]) || else_scope.is_local(type.shape[axis]))
        type.shape[axis] = own_size(c.node().outputs[k], axis);
    c.set(k, std::move(type));
  }
  return {};
}

// Sets the body's inputs so that they hold in every iteration, and infers the body; `first` is the first carried input.
Result<void> infer_carried(InferContext& c, ir::GraphId graph, size_t first, size_t first_result,
                           const std::vector<ir::Type>& initial, const std::vector<bool>& fresh = {}) {
  ir::Module& module = c.mutable_module();
  for (size_t k = 0; k < initial.size(); ++k) module.value(module.graphs[graph].inputs[first + k]).type = initial[k];
  for (int round = 0; round < 64; ++round) {
    for (ir::ValueId input : module.graphs[graph].inputs) module.value(input).known.clear();
    TVC_CHECK_OK(infer_graph(module, graph));
    bool changed = false;
    for (size_t k = 0; k < initial.size(); ++k) {
      ir::ValueId in = module.graphs[graph].inputs[first + k];
      ir::Type& type = module.value(in).type;
      const ir::Type& next = module.value(module.graphs[graph].outputs[first_result + k]).type;
      if (k < fresh.size() && fresh[k]) {
        type = next;
        for (size_t axis = 0; type.kind == ir::Kind::kTensor && axis < type.shape.size(); ++axis)
          if (!type.shape[axis].is_constant()) type.shape[axis] = own_size(in, axis);
        continue;
      }
      auto joined = join_types(type, next, [&](size_t axis) { return own_size(in, axis); });
      if (!joined) return std::move(joined).error().at(fmt::format("carried value {}", k));
      changed |= !(*joined == type);
      type = std::move(joined).value();
    }
    if (!changed) return {};
  }
  return internal("the types of a loop do not settle");
}

// The result's type outside of the body: the carried input's, with sizes of its own where that has them.
ir::Type outer_type(const ir::Module& module, ir::ValueId in, ir::ValueId out) {
  ir::Type type = module.value(in).type;
  for (size_t axis = 0; type.kind == ir::Kind::kTensor && axis < type.shape.size(); ++axis)
    if (type.shape[axis] == own_size(in, axis)) type.shape[axis] = own_size(out, axis);
  return type;
}

bool is_true(const ir::Module& module, ir::ValueId value) {
  const ir::Tensor* tensor = module.constant(value);
  return tensor != nullptr && tensor->count() == 1 && ir::to_i64(*tensor)[0] != 0;
}

// Whether the loop runs exactly as often as its trip count says.
bool runs_to_the_end(const NodeView& v, const ir::Graph& body) {
  const ir::Module& module = v.module();
  if (v.has_input(1) && !is_true(module, v.node().inputs[1])) return false;
  ir::ValueId go = body.outputs[0];
  while (module.value(go).producer != ir::kNone && module.node(module.value(go).producer).op == "Identity")
    go = module.node(module.value(go).producer).inputs[0];
  return go == body.inputs[1] || is_true(module, go);
}

Result<void> infer_loop(InferContext& c) {
  TVC_TRY(ir::GraphId graph, body_of(c, "body"));
  ir::Module& module = c.mutable_module();
  const size_t carried = c.input_count() < 2 ? 0 : c.input_count() - 2;
  if (module.graphs[graph].inputs.size() != carried + 2 || module.graphs[graph].outputs.size() < carried + 1)
    return bad_input("the body does not fit {} carried values", carried);
  ir::Type scalar;
  scalar.dtype = DType::kI64;
  module.value(module.graphs[graph].inputs[0]).type = scalar;
  scalar.dtype = DType::kBool;
  module.value(module.graphs[graph].inputs[1]).type = scalar;
  std::vector<ir::Type> initial;
  for (size_t k = 0; k < carried; ++k) {
    if (!c.has_input(k + 2)) return unsupported("an initial value is omitted");
    initial.push_back(c.type(k + 2));
  }
  TVC_CHECK_OK(infer_carried(c, graph, 2, 1, initial, overwritten(c)));
  const ir::Graph body = module.graphs[graph];
  for (size_t k = 0; k < carried && k < c.output_count(); ++k)
    if (c.has_output(k)) c.set(k, outer_type(module, body.inputs[k + 2], c.node().outputs[k]));
  std::optional<Dim> trips;
  if (c.has_input(0) && runs_to_the_end(c, body))
    if (auto count = c.elements(0); count && count->size() == 1) trips = ir::max((*count)[0], 0);
  const Scope scope(module, graph);
  for (size_t k = carried; k < c.output_count(); ++k) {
    if (!c.has_output(k)) continue;
    if (k + 1 >= body.outputs.size()) return bad_input("the body has no output {}", k + 1);
    ir::Type type = module.value(body.outputs[k + 1]).type;
    if (type.kind != ir::Kind::kTensor) return unsupported("a scan output is no tensor");
    for (size_t axis = 0; axis < type.shape.size(); ++axis)
      if (scope.is_local(type.shape[axis])) type.shape[axis] = own_size(c.node().outputs[k], axis + 1);
    type.shape.insert(type.shape.begin(), trips ? *trips : own_size(c.node().outputs[k], 0));
    c.set(k, std::move(type));
  }
  return {};
}

struct ScanParts {
  ir::GraphId graph;
  size_t states, slices, results;  // carried values, scan inputs, scan outputs
  std::vector<int64_t> input_axes, input_directions, output_axes, output_directions;
};

Result<ScanParts> scan_parts(const NodeView& v) {
  ScanParts p{};
  TVC_TRY(p.graph, body_of(v, "body"));
  const ir::Graph& body = v.module().graphs[p.graph];
  p.slices = static_cast<size_t>(v.i("num_scan_inputs", 0));
  if (p.slices < 1 || p.slices > v.input_count() || body.inputs.size() != v.input_count())
    return bad_input("the body does not fit its {} inputs", v.input_count());
  p.states = v.input_count() - p.slices;
  if (body.outputs.size() < p.states)
    return bad_input("the body gives {} outputs for {} states", body.outputs.size(), p.states);
  p.results = body.outputs.size() - p.states;
  auto list = [&](std::string_view key, size_t count) {
    auto values = v.ints(key);
    values.resize(count, 0);
    return values;
  };
  p.input_axes = list("scan_input_axes", p.slices);
  p.input_directions = list("scan_input_directions", p.slices);
  p.output_axes = list("scan_output_axes", p.results);
  p.output_directions = list("scan_output_directions", p.results);
  for (size_t k = 0; k < p.slices; ++k) {
    TVC_TRY(int axis, v.axis(p.input_axes[k], v.rank(p.states + k)));
    p.input_axes[k] = axis;
  }
  return p;
}

Result<void> infer_scan(InferContext& c) {
  TVC_TRY(ScanParts p, scan_parts(c));
  ir::Module& module = c.mutable_module();
  for (size_t k = 0; k < p.slices; ++k) {
    ir::Type slice = c.type(p.states + k);
    slice.shape.erase(slice.shape.begin() + p.input_axes[k]);
    module.value(module.graphs[p.graph].inputs[p.states + k]).type = std::move(slice);
  }
  std::vector<ir::Type> initial;
  for (size_t k = 0; k < p.states; ++k) initial.push_back(c.type(k));
  TVC_CHECK_OK(infer_carried(c, p.graph, 0, 0, initial));
  const ir::Graph body = module.graphs[p.graph];
  const Dim steps = c.shape(p.states)[static_cast<size_t>(p.input_axes[0])];
  const Scope scope(module, p.graph);
  for (size_t k = 0; k < c.output_count(); ++k) {
    if (!c.has_output(k)) continue;
    if (k < p.states) {
      c.set(k, outer_type(module, body.inputs[k], c.node().outputs[k]));
      continue;
    }
    ir::Type type = module.value(body.outputs[k]).type;
    int64_t axis = p.output_axes[k - p.states];
    if (axis < 0) axis += type.rank() + 1;
    if (axis < 0 || axis > type.rank()) return bad_input("scan_output_axes holds {}", axis);
    for (size_t a = 0; a < type.shape.size(); ++a)
      if (scope.is_local(type.shape[a]))
        type.shape[a] = own_size(c.node().outputs[k], a < static_cast<size_t>(axis) ? a : a + 1);
    type.shape.insert(type.shape.begin() + axis, steps);
    c.set(k, std::move(type));
  }
  return {};
}

// The body takes (iteration, condition, states...) and reads its slices itself.
Result<void> body_of_loop(DecomposeContext& c, const ScanParts& p) {
  ir::Module& module = c.mutable_module();
  const std::vector<ir::ValueId> operands = c.node().inputs;
  ir::Type scalar;
  scalar.dtype = DType::kI64;
  ir::ValueId iteration = ir::add_value(module, "", scalar, p.graph);
  scalar.dtype = DType::kBool;
  ir::ValueId go = ir::add_value(module, "", scalar, p.graph);
  std::vector<ir::ValueId> slices(module.graphs[p.graph].inputs.begin() + static_cast<ptrdiff_t>(p.states),
                                  module.graphs[p.graph].inputs.end());
  auto& inputs = module.graphs[p.graph].inputs;
  inputs.resize(p.states);
  inputs.insert(inputs.begin(), {iteration, go});
  const ir::NodeId first = module.graphs[p.graph].nodes.empty() ? ir::kNone : module.graphs[p.graph].nodes[0];
  auto insert = [&](std::string op, std::vector<ir::ValueId> in, std::map<std::string, ir::Attr, std::less<>> attrs) {
    return module.node(ir::add_node(module, p.graph, {std::move(op), std::move(in), std::move(attrs), 1, {}}, first))
        .outputs[0];
  };
  for (size_t k = 0; k < p.slices; ++k) {
    ir::ValueId operand = operands[p.states + k], index = iteration;
    if (p.input_directions[k] != 0) {
      ir::ValueId last = ir::add_constant(module, "", ir::make_scalar(DType::kI64, -1), p.graph);
      index = insert("Sub", {last, iteration}, {});  // -1 - i counts from the end
    }
    ir::ValueId slice = insert("Gather", {operand, index}, {{"axis", p.input_axes[k]}});
    ir::replace_uses(module, slices[k], slice);
  }
  module.graphs[p.graph].outputs.insert(module.graphs[p.graph].outputs.begin(), go);
  return {};
}

// A result of the loop has the steps in front, in order; Scan may want them elsewhere, or backwards.
Result<ir::ValueId> arranged(DecomposeContext& c, ir::ValueId value, int64_t axis, bool backwards) {
  if (backwards) {
    TVC_TRY(value, c.add("Slice", {value, c.ints({-1}), c.ints({INT64_MIN}), c.ints({0}), c.ints({-1})}));
  }
  const int rank = c.module().value(value).type.rank();
  if (axis < 0) axis += rank;
  if (axis == 0) return value;
  std::vector<int64_t> perm;
  for (int64_t k = 1; k < rank; ++k) perm.push_back(k);
  perm.insert(perm.begin() + axis, 0);
  return c.add("Transpose", {value}, {{"perm", perm}});
}

Values decompose_scan(DecomposeContext& c) {
  TVC_TRY(ScanParts p, scan_parts(c));
  ir::Module& module = c.mutable_module();
  TVC_TRY(ir::ValueId shape, c.add("Shape", {c.in(p.states)}));
  TVC_TRY(ir::ValueId steps, c.add("Gather", {shape, c.scalar(DType::kI64, static_cast<double>(p.input_axes[0]))},
                                   {{"axis", int64_t{0}}}));
  TVC_CHECK_OK(body_of_loop(c, p));
  module.node(c.id()).attrs.erase("body");  // the loop's now
  std::vector<ir::ValueId> inputs = {steps, c.scalar(DType::kBool, 1)};
  for (size_t k = 0; k < p.states; ++k) inputs.push_back(c.in(k));
  TVC_TRY(auto results, c.add_multi("Loop", std::move(inputs), {{"body", p.graph}}, p.states + p.results));
  for (size_t k = 0; k < p.results; ++k) {
    TVC_TRY(results[p.states + k], arranged(c, results[p.states + k], p.output_axes[k], p.output_directions[k] != 0));
  }
  return results;
}

}  // namespace

TVC_DEFINE_OP(kGuard) = {.name = "tvc.Guard", .infer = infer_same_as_input, .control = true};
TVC_DEFINE_OP(kIf) = {.name = "If", .infer = infer_if, .control = true};
TVC_DEFINE_OP(kLoop) = {.name = "Loop", .infer = infer_loop, .control = true};
TVC_DEFINE_OP(kScan) = {.name = "Scan", .infer = infer_scan, .decompose = decompose_scan, .control = true};

}  // namespace tvc::ops
