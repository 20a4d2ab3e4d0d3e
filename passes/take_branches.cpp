// SPDX-License-Identifier: Apache-2.0
// If(true, then, else) = then. Where the branches' ranks differ and the condition is that a size has some value:
// If(c, then, else) = Guard(then, c), which ends the run where the condition does not hold.
// A body that moves out runs whenever the If would; nothing else reads it. An output of the model that would become an
// input, a constant or another output keeps a node of its own.
#include <algorithm>

#include "ops/branches.h"
#include "passes/pass.h"

namespace tvc::passes {
namespace {

void move_nodes(ir::Module& module, ir::GraphId body, ir::NodeId before) {
  const ir::GraphId graph = module.node(before).graph;
  auto& order = module.graphs[graph].nodes;
  auto at = std::find(order.begin(), order.end(), before);
  order.insert(at, module.graphs[body].nodes.begin(), module.graphs[body].nodes.end());
  for (ir::NodeId id : module.graphs[body].nodes) module.node(id).graph = graph;
  for (auto& value : module.values)
    if (value.graph == body) value.graph = graph;
  module.graphs[body].nodes.clear();
}

ir::ValueId added(ir::Module& module, ir::NodeId before, std::string op, std::vector<ir::ValueId> inputs) {
  const ir::Node& node = module.node(before);
  ir::NodeSpec spec{std::move(op), std::move(inputs), {}, 1, node.origin};
  return module.node(ir::add_node(module, node.graph, std::move(spec), before)).outputs[0];
}

Result<void> take(ir::Module& module, ir::NodeId id, const ops::TakenBranch& taken) {
  auto body = module.node(id).subgraph(taken.then_branch ? "then_branch" : "else_branch");
  if (!body) return bad_input("it has no such branch").at(module.node(id).label());
  const auto results = module.graphs[*body].outputs;
  const auto outputs = module.node(id).outputs;
  ir::ValueId condition = module.node(id).inputs[0];
  move_nodes(module, *body, id);
  if (taken.guarded && !taken.then_branch) condition = added(module, id, "Not", {condition});
  for (size_t k = 0; k < outputs.size() && k < results.size(); ++k) {
    if (outputs[k] == ir::kNone) continue;
    ir::ValueId with = results[k];
    const auto& main = module.main().outputs;
    const bool is_output = std::find(main.begin(), main.end(), outputs[k]) != main.end();
    if (taken.guarded) with = added(module, id, "tvc.Guard", {with, condition});
    else if (is_output) with = added(module, id, "Identity", {with});
    ir::replace_uses(module, outputs[k], with);
  }
  ir::erase_node(module, id);
  return {};
}

}  // namespace

Result<Changes> take_branches(ir::Module& module, const PassContext&) {
  Changes changes = 0;
  for (ir::GraphId graph = 0; graph < module.graphs.size(); ++graph) {
    auto nodes = module.graphs[graph].nodes;
    for (size_t k = 0; k < nodes.size(); ++k) {
      if (module.node(nodes[k]).op != "If") continue;
      auto taken = ops::taken_branch(module, nodes[k]);
      if (!taken) continue;
      const ir::NodeId id = nodes[k];
      TVC_CHECK_OK(take(module, id, *taken));
      ++changes;
      nodes = module.graphs[graph].nodes;  // what moved out may hold decided ones in turn
      k = static_cast<size_t>(-1);
    }
  }
  return changes;
}

}  // namespace tvc::passes
