// SPDX-License-Identifier: Apache-2.0
// g(f(x), y) = f(x, y){epilogue: g} for an element-wise g of f's result, where a kernel of f computes g in registers.
// Only when g is the sole reader of f's result: another reader, a graph output or a body that captures the result needs
// it stored. The node stands where g stood, so that g's other operands are there.
#include <algorithm>

#include "ops/op_def.h"
#include "passes/pass.h"

namespace tvc::passes {
namespace {

constexpr size_t kOwnInputs = 3;  // a missing bias keeps its place, so that no further operand is taken for it

bool is_elementwise(const ir::Module& module, ir::NodeId id) {
  const ir::Node& node = module.node(id);
  const ops::OpDef* def = ops::find(node.op);
  return def != nullptr && def->elementwise && def->express != nullptr && !def->random && node.outputs.size() == 1 &&
         module.value(node.outputs[0]).known.empty();
}

// A body whose input 0 is `result`, and the other operands in the order of its further inputs.
struct Body {
  ir::GraphId graph;
  std::vector<ir::ValueId> operands;
};

// The body of a tvc.Fused, its inputs in the new order. The graph changes hands: the caller drops the node.
Body body_of_fused(ir::Module& module, const ir::Node& node, ir::ValueId result) {
  Body body{*node.subgraph("body"), node.inputs};
  auto& inputs = module.graphs[body.graph].inputs;
  auto at = std::find(body.operands.begin(), body.operands.end(), result) - body.operands.begin();
  std::rotate(inputs.begin(), inputs.begin() + at, inputs.begin() + at + 1);
  body.operands.erase(body.operands.begin() + at);
  return body;
}

// A new body that holds the node alone; its one-element constants lie in it.
Body body_of_node(ir::Module& module, const ir::Node& node, ir::ValueId result) {
  Body body{static_cast<ir::GraphId>(module.graphs.size()), {}};
  module.graphs.emplace_back();
  auto add_input = [&](ir::ValueId outer) {
    ir::Type type = module.value(outer).type;
    ir::ValueId id = ir::add_value(module, module.value(outer).name, std::move(type), body.graph);
    module.graphs[body.graph].inputs.push_back(id);
    return id;
  };
  const ir::ValueId acc = add_input(result);
  std::vector<ir::ValueId> inputs;
  for (ir::ValueId input : node.inputs) {
    if (input == ir::kNone || input == result) {
      inputs.push_back(input == result ? acc : input);
    } else if (const ir::Tensor* tensor = module.constant(input); tensor != nullptr && tensor->count() == 1) {
      inputs.push_back(ir::add_constant(module, "", ir::Tensor(*tensor), body.graph));
    } else {
      inputs.push_back(add_input(input));
      body.operands.push_back(input);
    }
  }
  ir::NodeId copy = ir::add_node(module, body.graph, {node.op, std::move(inputs), node.attrs, 1, node.origin});
  ir::ValueId value = module.node(copy).outputs[0];
  module.value(value).type = module.value(node.outputs[0]).type;
  module.graphs[body.graph].outputs = {value};
  return body;
}

// Input `slot` of `reader` is the result of a node that may take the reader as its epilogue.
bool is_producer(const ir::Module& module, const ir::Uses& uses, ir::NodeId reader, ir::ValueId result) {
  if (result == ir::kNone || !uses.single(module, result)) return false;
  const ir::Value& value = module.value(result);
  if (value.producer == ir::kNone || module.value(module.node(reader).outputs[0]).type != value.type) return false;
  const ir::Node& producer = module.node(value.producer);
  const ops::OpDef* def = ops::find(producer.op);
  return producer.outputs.size() == 1 && producer.graph == module.node(reader).graph && !producer.has("epilogue") &&
         def != nullptr && !def->elementwise && !def->view && !def->control;
}

bool fuse(ir::Module& module, const PassContext& context, ir::NodeId reader, ir::ValueId result) {
  const ir::Node node = module.node(reader);
  const ir::NodeId producer = module.value(result).producer;
  const bool fused = node.op == "tvc.Fused";
  const size_t graphs = module.graphs.size(), nodes = module.nodes.size(), values = module.values.size();
  Body body = fused ? body_of_fused(module, node, result) : body_of_node(module, node, result);
  if (!context.takes_epilogue(module, producer, body.graph)) {
    if (fused) {  // the order of the inputs as it was
      auto& inputs = module.graphs[body.graph].inputs;
      auto at = std::find(node.inputs.begin(), node.inputs.end(), result) - node.inputs.begin();
      std::rotate(inputs.begin(), inputs.begin() + 1, inputs.begin() + at + 1);
    } else {
      module.graphs.resize(graphs);
      module.nodes.resize(nodes);
      module.values.resize(values);
    }
    return false;
  }
  const ir::Node old = module.node(producer);
  ir::NodeSpec spec{old.op, old.inputs, old.attrs, 1, old.origin};
  while (spec.inputs.size() < kOwnInputs) spec.inputs.push_back(ir::kNone);
  spec.attrs["epilogue"] = body.graph;
  spec.attrs["epilogue_inputs"] = static_cast<int64_t>(spec.inputs.size());
  spec.inputs.insert(spec.inputs.end(), body.operands.begin(), body.operands.end());
  for (const auto& name : node.origin)
    if (std::find(spec.origin.begin(), spec.origin.end(), name) == spec.origin.end()) spec.origin.push_back(name);
  ir::NodeId made = ir::add_node(module, node.graph, std::move(spec), reader);
  ir::ValueId value = module.node(made).outputs[0];
  module.value(value).type = module.value(node.outputs[0]).type;
  ir::replace_uses(module, node.outputs[0], value);
  if (module.value(value).name.empty()) module.value(value).name = module.value(node.outputs[0]).name;
  module.node(reader).attrs.erase("body");  // it lives on as the epilogue
  ir::erase_node(module, reader);
  ir::erase_node(module, producer);
  return true;
}

}  // namespace

Result<Changes> fuse_epilogue(ir::Module& module, const PassContext& context) {
  Changes changes = 0;
  if (!context.takes_epilogue) return changes;
  std::vector<bool> is_body(module.graphs.size());
  for (const auto& node : module.nodes)
    if (node.op == "tvc.Fused" || node.has("epilogue"))
      for (const auto& [key, graph] : ir::subgraphs(node)) is_body[graph] = true;
  const auto graph_count = static_cast<ir::GraphId>(is_body.size());
  for (ir::GraphId g = 0; g < graph_count; ++g) {
    if (is_body[g]) continue;
    const ir::Uses uses(module);
    const size_t values = module.values.size();
    const auto order = module.graphs[g].nodes;
    for (ir::NodeId reader : order) {
      if (!is_elementwise(module, reader)) continue;
      auto inputs = module.node(reader).inputs;
      // Values made by this pass are not in `uses`; their nodes have an epilogue already.
      std::erase_if(inputs, [&](ir::ValueId id) {
        return id == ir::kNone || id >= values || !is_producer(module, uses, reader, id);
      });
      for (auto it = inputs.rbegin(); it != inputs.rend(); ++it)
        if (fuse(module, context, reader, *it)) {
          ++changes;
          break;
        }
    }
  }
  return changes;
}

}  // namespace tvc::passes
