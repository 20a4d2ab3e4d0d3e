// SPDX-License-Identifier: Apache-2.0
// One node on constants: its operands become constants of a module of its own, so that shapes which follow from data
// are numbers too.
#include <algorithm>

#include "ops/op_def.h"
#include "ops/routines.h"

namespace tvc::ops {
namespace {

constexpr int64_t kMaxElements = int64_t{64} << 20;
constexpr int kMaxDepth = 32;

Result<std::vector<ir::Tensor>> evaluate_node(ir::Module& module, ir::NodeId id, int depth);

Result<std::vector<int64_t>> static_dims(const ir::Type& type) {
  std::vector<int64_t> dims;
  int64_t count = 1;
  for (const Dim& d : type.shape) {
    auto value = d.as_constant();
    if (!value) return unsupported("a size is not known: {}", d.text());
    if (*value < 0) return bad_input("a size is negative: {}", *value);
    dims.push_back(*value);
    if (__builtin_mul_overflow(count, *value, &count) || count > kMaxElements)
      return unsupported("the result is too large to be computed now");
  }
  return dims;
}

Result<std::vector<ir::Tensor>> evaluate_view(const ir::Module& module, const ir::Node& node) {
  ir::Tensor out = *module.constant(node.inputs[0]);
  out.dtype = module.value(node.outputs[0]).type.dtype;
  TVC_TRY(out.dims, static_dims(module.value(node.outputs[0]).type));
  if (out.count() != module.constant(node.inputs[0])->count())
    return bad_input("{} elements cannot take this shape", module.constant(node.inputs[0])->count());
  return std::vector<ir::Tensor>{std::move(out)};
}

Result<std::vector<ir::Tensor>> evaluate_expressions(const ir::Module& module, ir::NodeId id, const OpDef& def) {
  const ir::Node& node = module.node(id);
  TVC_TRY(auto expressions, def.express(NodeView(module, id)));
  std::vector<te::OperandData> operands;
  for (ir::ValueId input : node.inputs) {
    const ir::Tensor* tensor = module.constant(input);
    if (tensor == nullptr) operands.push_back({});
    else operands.push_back({tensor->dtype, tensor->dims, tensor->bytes.data()});
  }
  std::vector<ir::Tensor> out(node.outputs.size());
  for (size_t k = 0; k < node.outputs.size() && k < expressions.size(); ++k) {
    if (node.outputs[k] == ir::kNone || !expressions[k].body) continue;
    TVC_TRY(auto dims, static_dims(module.value(node.outputs[k]).type));
    std::span<std::byte> bytes;
    out[k] = ir::make_tensor(expressions[k].dtype, std::move(dims), &bytes);
    auto no_symbols = [](const std::string&) -> std::optional<int64_t> { return std::nullopt; };
    if (!te::interpret(expressions[k], operands, no_symbols, bytes.data()))
      return bad_input("an index is out of range, or a size is not known");
  }
  return out;
}

// The module's nodes in order; every value becomes a constant.
Result<std::vector<ir::Tensor>> evaluate_decomposition(ir::Module& module, ir::NodeId id, const OpDef& def, int depth) {
  DecomposeContext context(module, id);
  TVC_TRY(auto results, def.decompose(context));
  auto order = module.main().nodes;
  for (ir::NodeId inner : order) {
    if (inner == id) break;
    auto outputs = module.node(inner).outputs;
    if (std::all_of(outputs.begin(), outputs.end(),
                    [&](ir::ValueId v) { return v == ir::kNone || module.value(v).constant; }))
      continue;
    TVC_CHECK_OK(infer_node(module, inner));
    TVC_TRY(auto tensors, evaluate_node(module, inner, depth + 1));
    for (size_t k = 0; k < outputs.size(); ++k)
      if (outputs[k] != ir::kNone)
        module.value(outputs[k]).constant = std::make_shared<const ir::Tensor>(std::move(tensors[k]));
  }
  std::vector<ir::Tensor> out;
  for (ir::ValueId result : results) {
    if (result != ir::kNone && module.constant(result) == nullptr)
      return internal("a decomposition left an output open");
    out.push_back(result == ir::kNone ? ir::Tensor() : *module.constant(result));
  }
  return out;
}

Result<std::vector<ir::Tensor>> evaluate_node(ir::Module& module, ir::NodeId id, int depth) {
  if (depth > kMaxDepth) return internal("decompositions do not end");
  const ir::Node node = module.node(id);
  const OpDef* def = find(node.op);
  if (def == nullptr) return unsupported("operator {} is not supported", node.op);
  for (ir::ValueId input : node.inputs) {
    const DType dtype = input == ir::kNone ? DType::kF32 : module.value(input).type.dtype;
    if (dtype == DType::kString || (!def->view && (dtype == DType::kC64 || dtype == DType::kC128)))
      return unsupported("elements of type {} are not computed now", ir::name(dtype));
  }
  if (def->random || def->control) return unsupported("{} is not computed now", node.op);
  if (def->view) return evaluate_view(module, node);
  if (def->express != nullptr) return evaluate_expressions(module, id, *def);
  if (def->decompose != nullptr) return evaluate_decomposition(module, id, *def, depth);
  if (def->routine != nullptr) {
    TVC_TRY(auto call, def->routine(NodeView(module, id)));
    std::vector<const ir::Tensor*> inputs;
    for (ir::ValueId input : node.inputs) inputs.push_back(module.constant(input));
    return call_routine(call, inputs, node.outputs.size());
  }
  return unsupported("{} has no meaning that can be computed now", node.op);
}

// Copies the bodies that a node owns.
Result<void> copy_attributes(const ir::Module& from, const ir::Node& node, ir::Module& to, ir::NodeId copy) {
  for (const auto& [key, graph] : ir::subgraphs(node)) {
    auto made = static_cast<ir::GraphId>(to.graphs.size());
    to.graphs.emplace_back();
    std::map<ir::ValueId, ir::ValueId> values;
    auto copy_value = [&](ir::ValueId id) {
      if (id == ir::kNone) return ir::kNone;
      auto [it, fresh] = values.try_emplace(id, ir::kNone);
      if (fresh) {
        it->second = ir::add_value(to, from.value(id).name, from.value(id).type, made);
        to.value(it->second).constant = from.value(id).constant;
      }
      return it->second;
    };
    for (ir::ValueId input : from.graphs[graph].inputs) to.graphs[made].inputs.push_back(copy_value(input));
    for (ir::NodeId id : from.graphs[graph].nodes) {
      ir::Node inner = from.node(id);
      if (!ir::subgraphs(inner).empty()) return unsupported("bodies in bodies are not computed now");
      inner.graph = made;
      for (ir::ValueId& input : inner.inputs) input = copy_value(input);
      auto number = static_cast<ir::NodeId>(to.nodes.size());
      for (uint32_t slot = 0; slot < inner.outputs.size(); ++slot) {
        inner.outputs[slot] = copy_value(inner.outputs[slot]);
        if (inner.outputs[slot] == ir::kNone) continue;
        to.value(inner.outputs[slot]).producer = number;
        to.value(inner.outputs[slot]).slot = slot;
      }
      to.nodes.push_back(std::move(inner));
      to.graphs[made].nodes.push_back(number);
    }
    for (ir::ValueId output : from.graphs[graph].outputs) to.graphs[made].outputs.push_back(copy_value(output));
    to.node(copy).attrs[key] = made;
  }
  return {};
}

}  // namespace

Result<std::vector<ir::Tensor>> evaluate(const ir::Module& module, ir::NodeId id,
                                         const std::vector<const ir::Tensor*>& inputs) {
  const ir::Node& node = module.node(id);
  ir::Module own;
  ir::NodeSpec spec{node.op, {}, node.attrs, node.outputs.size(), node.origin};
  for (const ir::Tensor* input : inputs)
    spec.inputs.push_back(input == nullptr ? ir::kNone : ir::add_constant(own, "", *input));
  ir::NodeId copy = ir::add_node(own, 0, std::move(spec));
  TVC_CHECK_OK(copy_attributes(module, node, own, copy));
  for (size_t k = 0; k < node.outputs.size(); ++k)
    if (node.outputs[k] == ir::kNone) own.node(copy).outputs[k] = ir::kNone;
  TVC_CHECK_OK(infer_node(own, copy));
  return evaluate_node(own, copy, 0);
}

}  // namespace tvc::ops
