// SPDX-License-Identifier: Apache-2.0
// Who reads what.
#include <algorithm>
#include <set>

#include "ir/ir.h"

namespace tvc::ir {

Uses::Uses(const Module& module) : readers_(module.values.size()) {
  for (GraphId g = 0; g < module.graphs.size(); ++g) {
    for (NodeId id : module.graphs[g].nodes) {
      const auto& inputs = module.node(id).inputs;
      for (uint32_t slot = 0; slot < inputs.size(); ++slot)
        if (inputs[slot] != kNone) readers_[inputs[slot]].push_back({id, slot, g});
    }
    const auto& outputs = module.graphs[g].outputs;
    for (uint32_t slot = 0; slot < outputs.size(); ++slot)
      if (outputs[slot] != kNone) readers_[outputs[slot]].push_back({kNone, slot, g});
  }
}

bool Uses::single(const Module& module, ValueId id) const {
  const auto& uses = of(id);
  return uses.size() == 1 && uses[0].node != kNone && uses[0].graph == module.value(id).graph;
}

bool Uses::is_graph_output(ValueId id) const {
  const auto& uses = of(id);
  return std::any_of(uses.begin(), uses.end(), [](const Use& use) { return use.node == kNone; });
}

std::vector<std::pair<std::string, GraphId>> subgraphs(const Node& node) {
  std::vector<std::pair<std::string, GraphId>> out;
  for (const auto& [key, attr] : node.attrs)
    if (const auto* graph = std::get_if<GraphId>(&attr)) out.emplace_back(key, *graph);
  return out;
}

static void collect_captures(const Module& module, GraphId graph, std::set<GraphId>& inside,
                             std::vector<ValueId>& out) {
  inside.insert(graph);
  auto read = [&](ValueId id) {
    if (id == kNone || inside.count(module.value(id).graph) > 0) return;
    if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
  };
  for (NodeId id : module.graphs[graph].nodes) {
    for (ValueId input : module.node(id).inputs) read(input);
    for (const auto& [key, body] : subgraphs(module.node(id))) collect_captures(module, body, inside, out);
  }
  for (ValueId output : module.graphs[graph].outputs) read(output);
}

std::vector<ValueId> captures(const Module& module, GraphId graph) {
  std::set<GraphId> inside;
  std::vector<ValueId> out;
  collect_captures(module, graph, inside, out);
  return out;
}

}  // namespace tvc::ir
