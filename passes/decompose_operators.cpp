// SPDX-License-Identifier: Apache-2.0
// An operator whose definition is a decomposition becomes the nodes that it stands for, unless a kernel computes it
// whole. Replacements are decomposed in turn.
#include "ops/op_def.h"
#include "passes/pass.h"

namespace tvc::passes {
namespace {

constexpr int kMaxRounds = 16;  // a definition that leads back to itself must not hang the tool

Result<bool> decompose(ir::Module& module, ir::NodeId id, const PassContext& context) {
  const ops::OpDef* def = ops::find(module.node(id).op);
  if (def == nullptr || def->decompose == nullptr || (context.has_kernel && context.has_kernel(module, id)))
    return false;
  ops::DecomposeContext builder(module, id);
  auto replacements = def->decompose(builder);
  if (!replacements.ok())
    return std::move(replacements).error().at(fmt::format("{} {}", module.node(id).op, module.node(id).label()));
  if (replacements->empty() && def->express != nullptr) return false;
  auto outputs = module.node(id).outputs;
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k] == ir::kNone) continue;
    ir::ValueId with = k < replacements->size() ? (*replacements)[k] : ir::kNone;
    if (with == ir::kNone) return internal("decomposition gives no output {}", k).at(module.node(id).op);
    // A graph output keeps its name and its place: an operand that passes through unchanged gets a node of its own.
    bool fresh = module.value(with).producer != ir::kNone && module.value(with).name.empty();
    if (!fresh) {
      TVC_TRY(with, builder.add("Identity", {with}));
    }
    ir::replace_uses(module, outputs[k], with);
    if (module.value(with).name.empty()) module.value(with).name = module.value(outputs[k]).name;
  }
  ir::erase_node(module, id);
  return true;
}

}  // namespace

Result<Changes> decompose_operators(ir::Module& module, const PassContext& context) {
  Changes changes = 0;
  for (int round = 0; round < kMaxRounds; ++round) {
    Changes before = changes;
    for (ir::GraphId g = 0; g < module.graphs.size(); ++g) {
      auto nodes = module.graphs[g].nodes;
      for (ir::NodeId id : nodes) {
        TVC_TRY(bool done, decompose(module, id, context));
        changes += done;
      }
    }
    if (changes == before) return changes;
  }
  return internal("decompositions do not end");
}

}  // namespace tvc::passes
