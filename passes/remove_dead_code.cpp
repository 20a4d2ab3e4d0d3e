// SPDX-License-Identifier: Apache-2.0
// A node none of whose outputs is read is removed; an output of a living node that nobody reads is marked as not
// wanted. Safe for every node: none has an effect beside its outputs.
#include <algorithm>

#include "passes/pass.h"

namespace tvc::passes {
namespace {

// Marks what is wanted, from the outputs backwards. A node of a body lives if its outer node does and its values are
// read.
class Liveness {
 public:
  explicit Liveness(const ir::Module& module)
      : value(module.values.size()), node(module.nodes.size()), module_(module) {
    for (ir::ValueId id : module.main().outputs) want(id);
    while (!work_.empty()) {
      ir::ValueId id = work_.back();
      work_.pop_back();
      ir::NodeId producer = module.value(id).producer;
      if (producer != ir::kNone && !node[producer]) visit(producer);
    }
  }

  std::vector<bool> value, node;

 private:
  void want(ir::ValueId id) {
    if (id == ir::kNone || value[id]) return;
    value[id] = true;
    work_.push_back(id);
  }

  void visit(ir::NodeId id) {
    node[id] = true;
    for (ir::ValueId input : module_.node(id).inputs) want(input);
    for (const auto& [key, graph] : ir::subgraphs(module_.node(id)))
      for (ir::ValueId output : module_.graphs[graph].outputs) want(output);
  }

  const ir::Module& module_;
  std::vector<ir::ValueId> work_;
};

}  // namespace

Result<Changes> remove_dead_code(ir::Module& module, const PassContext&) {
  Liveness live(module);
  Changes changes = 0;
  for (ir::GraphId g = 0; g < module.graphs.size(); ++g) {
    auto nodes = module.graphs[g].nodes;
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      if (!live.node[*it]) {
        ir::erase_node(module, *it);
        ++changes;
        continue;
      }
      for (ir::ValueId& out : module.node(*it).outputs) {
        if (out == ir::kNone || live.value[out] || !ir::subgraphs(module.node(*it)).empty()) continue;
        module.value(out).producer = ir::kNone;
        out = ir::kNone;
        ++changes;
      }
    }
  }
  return changes;
}

Result<Changes> remove_leftovers(ir::Module& module, const PassContext& context) {
  return remove_dead_code(module, context);
}

}  // namespace tvc::passes
