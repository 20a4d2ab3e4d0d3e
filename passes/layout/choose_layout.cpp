// SPDX-License-Identifier: Apache-2.0
// Conv(x) = FromBlocked(ConvBlocked(ToBlocked(x))), and FromBlocked moves behind every operator that has a blocked
// form, so that copies stay at the edges of what convolutions compute. Channels that do not fill the last block of 16
// leave padding there, which no kernel reads as a channel. Values keep their planar form for readers that need it:
// other operators, graph outputs, bodies that capture them.
#include "passes/layout/rules.h"
#include "passes/pass.h"

namespace tvc::passes {
namespace layout {

Rule rule_of(const ir::Module& module, ir::NodeId id) {
  const std::string& op = module.node(id).op;
  if (op == "Conv") return block_convolution;
  if (op == "ConvTranspose") return block_transposed_convolution;
  if (op == "MaxPool" || op == "AveragePool") return block_pool;
  if (op == "GlobalAveragePool") return block_global_pool;
  if (op == "Concat") return block_concat;
  if (op == "Split") return block_split;
  if (op == "Slice") return block_slice;
  if (op == "Resize") return block_resize;
  const ops::OpDef* def = ops::find(op);
  return def != nullptr && def->elementwise && !def->random && ir::subgraphs(module.node(id)).empty()
             ? block_elementwise
             : nullptr;
}

}  // namespace layout

Result<Changes> choose_layout(ir::Module& module, const PassContext&) {
  Changes changes = 0;
  for (ir::GraphId g = 0; g < module.graphs.size(); ++g) {
    layout::Twins twins(module);
    auto nodes = module.graphs[g].nodes;
    for (ir::NodeId id : nodes) {
      layout::Rule rule = layout::rule_of(module, id);
      if (rule == nullptr) continue;
      auto done = rule(twins, id);
      if (!done.ok())
        return std::move(done).error().at(fmt::format("{} {}", module.node(id).op, module.node(id).label()));
      if (!*done) continue;
      ir::erase_node(module, id);
      ++changes;
    }
  }
  return changes;
}

}  // namespace tvc::passes
