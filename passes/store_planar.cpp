// SPDX-License-Identifier: Apache-2.0
// FromBlocked(f(x)) = f(x){out_layout: planar} for a convolution f of few channels, whose blocks would be mostly
// padding. Only when FromBlocked is the sole reader of f's result, and no operand of f's epilogue has the result's
// shape.
#include "ops/op_def.h"
#include "passes/pass.h"

namespace tvc::passes {
namespace {

constexpr int64_t kFewChannels = 8;

bool can_store_planar(const ir::Module& module, const ir::Uses& uses, const PassContext& context, ir::ValueId result) {
  const ir::Value& value = module.value(result);
  if (value.producer == ir::kNone || !uses.single(module, result) || !context.has_kernel) return false;
  const ir::Node& node = module.node(value.producer);
  if ((node.op != "tvc.ConvBlocked" && node.op != "tvc.ConvTransposeBlocked") || node.i("group", 1) != 1 ||
      node.i("out_channels", 0) > kFewChannels || node.has("out_layout"))
    return false;
  if (node.has("epilogue"))
    for (auto k = static_cast<size_t>(node.i("epilogue_inputs", 0)); k < node.inputs.size(); ++k)
      if (module.value(node.inputs[k]).type.shape == value.type.shape) return false;
  return context.has_kernel(module, value.producer);
}

}  // namespace

Result<Changes> store_planar(ir::Module& module, const PassContext& context) {
  Changes changes = 0;
  for (ir::GraphId g = 0; g < module.graphs.size(); ++g) {
    const ir::Uses uses(module);
    const auto nodes = module.graphs[g].nodes;
    for (ir::NodeId id : nodes) {
      if (module.node(id).op != "tvc.FromBlocked") continue;
      const ir::ValueId blocked = module.node(id).inputs[0], planar = module.node(id).outputs[0];
      if (!can_store_planar(module, uses, context, blocked)) continue;
      module.node(module.value(blocked).producer).attrs["out_layout"] = std::string("planar");
      module.value(blocked).type = module.value(planar).type;
      ir::replace_uses(module, planar, blocked);
      if (module.value(blocked).name.empty()) module.value(blocked).name = module.value(planar).name;
      ir::erase_node(module, id);
      ++changes;
    }
  }
  return changes;
}

}  // namespace tvc::passes
