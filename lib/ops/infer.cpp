// SPDX-License-Identifier: Apache-2.0
// Inference of types and known elements, node by node in graph order.
#include "ops/elements.h"
#include "ops/op_def.h"

namespace tvc::ops {
namespace {

std::string place_of(const ir::Node& node) {
  return node.label() == node.op ? node.op : fmt::format("{} {}", node.op, node.label());
}

Result<void> check_meaning_exists(const ir::Module& module, ir::NodeId id) {
  const ir::Node& node = module.node(id);
  if (find(node.op) == nullptr) return unsupported("operator {} is not supported", node.op).at(place_of(node));
  for (ir::ValueId input : node.inputs)
    if (input != ir::kNone && module.value(input).type.dtype == DType::kUndefined)
      return internal("operand {} has no type", module.value(input).name).at(place_of(node));
  return {};
}

// A formula that has grown long gets a name, or it would grow from node to node.
void name_long_sizes(ir::Module& module, ir::NodeId id) {
  constexpr size_t kMaxText = 48;
  for (ir::ValueId out : module.node(id).outputs) {
    if (out == ir::kNone) continue;
    Shape& shape = module.value(out).type.shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis].is_constant() || shape[axis].text().size() <= kMaxText) continue;
      std::string name = fmt::format("u{}_{}", out, axis);
      module.definitions.insert_or_assign(name, shape[axis]);
      shape[axis] = Dim::symbol(name);
    }
  }
}

// Sizes that are numbers must leave room to compute with: of 2^46 bytes no machine has that many.
Result<void> check_sizes(const ir::Module& module, ir::NodeId id) {
  constexpr int64_t kMaxElements = int64_t{1} << 46;
  for (ir::ValueId out : module.node(id).outputs) {
    if (out == ir::kNone || module.value(out).type.kind != ir::Kind::kTensor) continue;
    int64_t count = 1;
    bool empty = false, large = false;
    for (const Dim& d : module.value(out).type.shape) {
      if (!d.is_constant()) continue;
      if (d.constant() < 0) return bad_input("a size of its result is negative: {}", d.constant());
      empty |= d.constant() == 0;
      large |= __builtin_mul_overflow(count, d.constant(), &count) || count > kMaxElements;
    }
    if (large && !empty) return bad_input("its result is too large");
  }
  return {};
}

void forget_definitions(ir::Module& module, ir::NodeId id) {
  if (module.definitions.empty()) return;
  for (ir::ValueId out : module.node(id).outputs) {
    if (out == ir::kNone) continue;
    for (int axis = 0; axis < module.value(out).type.rank(); ++axis)
      module.definitions.erase(fmt::format("u{}_{}", out, axis));
    for (int k = 0; k < ir::kMaxParts; ++k) module.definitions.erase(fmt::format("u{}_{}", out, ir::kFirstPart + k));
  }
}

}  // namespace

Result<void> infer_node(ir::Module& module, ir::NodeId id) {
  TVC_CHECK_OK(check_meaning_exists(module, id));
  const OpDef* def = find(module.node(id).op);
  for (ir::ValueId out : module.node(id).outputs)
    if (out != ir::kNone) module.value(out).known.clear();
  forget_definitions(module, id);
  InferContext context(module, id);
  if (def->infer == nullptr) return internal("operator has no shape rule").at(place_of(module.node(id)));
  if (auto status = def->infer(context); !status.ok()) {
    Error error = status.error();
    std::string place = place_of(module.node(id));
    if (error.place.find(place) != std::string::npos) return error;  // a body's node has named itself
    return std::move(error).at(place);
  }
  // A body's results have sizes of their own already; element-wise nodes may stand in bodies that are not run as such.
  if (!def->control && !def->elementwise) name_long_sizes(module, id);
  if (auto status = check_sizes(module, id); !status.ok())
    return std::move(status).error().at(place_of(module.node(id)));
  derive_known(module, id);
  return {};
}

Result<void> infer_graph(ir::Module& module, ir::GraphId graph) {
  for (ir::ValueId input : module.graphs[graph].inputs) name_elements(module, input);
  // Inference of a control operator may add values, never nodes or graphs; the list stays as it is.
  for (size_t k = 0; k < module.graphs[graph].nodes.size(); ++k)
    TVC_CHECK_OK(infer_node(module, module.graphs[graph].nodes[k]));
  return {};
}

Result<void> infer_types(ir::Module& module) { return infer_graph(module, 0); }

}  // namespace tvc::ops
