// SPDX-License-Identifier: Apache-2.0
// Identity(x) = x; Dropout(x) = x where it drops nothing and nobody reads its mask.
// Where the result is an output of a graph, only if x is made by a node of that graph and is no output itself: an
// output needs a value of its own.
#include "ops/dropout.h"
#include "passes/pass.h"

namespace tvc::passes {
namespace {

bool passes_on(const ir::Module& module, const ir::Uses& uses, ir::NodeId id) {
  const ir::Node& node = module.node(id);
  if (node.op == "Identity") return node.outputs.size() == 1;
  if (node.op != "Dropout" || !ops::drops_nothing(ops::NodeView(module, id))) return false;
  return node.output(1) == ir::kNone || uses.of(node.output(1)).empty();
}

bool can_stand_for(const ir::Module& module, const ir::Uses& uses, ir::ValueId x, ir::ValueId y) {
  if (!uses.is_graph_output(y)) return true;
  const ir::Value& value = module.value(x);
  return value.producer != ir::kNone && !value.constant && value.graph == module.value(y).graph &&
         !uses.is_graph_output(x);
}

}  // namespace

Result<Changes> remove_identities(ir::Module& module, const PassContext&) {
  Changes changes = 0;
  for (ir::GraphId g = 0; g < module.graphs.size(); ++g) {
    const auto nodes = module.graphs[g].nodes;
    for (ir::NodeId id : nodes) {
      if (module.node(id).op != "Identity" && module.node(id).op != "Dropout") continue;
      const ir::Uses uses(module);
      const ir::ValueId x = module.node(id).input(0), y = module.node(id).output(0);
      if (x == ir::kNone || y == ir::kNone || !passes_on(module, uses, id) || !can_stand_for(module, uses, x, y))
        continue;
      ir::replace_uses(module, y, x);
      ir::erase_node(module, id);
      ++changes;
    }
  }
  return changes;
}

}  // namespace tvc::passes
