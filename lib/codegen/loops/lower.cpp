// SPDX-License-Identifier: Apache-2.0
// The family of last resort: whatever has a tensor expression becomes loops.
#include <algorithm>

#include "codegen/host/program.h"
#include "codegen/loops/emit.h"
#include "codegen/loops/scalar_text.h"
#include "ops/op_def.h"

namespace tvc::codegen {
namespace {

using loops::Operands;

std::string literal_of(const ir::Tensor* constant) {
  if (!constant || constant->count() != 1 || constant->dtype == ir::DType::kString) return "";
  auto compute = ir::compute_type(constant->dtype);
  if (ir::is_float(compute)) return loops::literal_text(compute, ir::to_f64(*constant)[0], 0);
  if (ir::bit_width(compute) == 0 || constant->dtype == ir::DType::kC64 || constant->dtype == ir::DType::kC128)
    return "";
  return loops::literal_text(compute, 0, ir::to_i64(*constant)[0]);
}

Operands operands_of(const ir::Module& module, const ir::Node& node) {
  Operands o;
  for (auto id : node.inputs) {
    o.shapes.push_back(id == ir::kNone ? ir::Shape{} : module.value(id).type.shape);
    o.dtypes.push_back(id == ir::kNone ? ir::DType::kF32 : module.value(id).type.dtype);
    o.literals.push_back(literal_of(module.constant(id)));
  }
  return o;
}

bool claims(const ir::Module& module, ir::NodeId id, const Target&) {
  const auto* def = ops::find(module.node(id).op);
  if (!def || !def->express || def->view) return false;
  // A definition that has both means the routine for strings.
  const auto& node = module.node(id);
  return !def->routine || std::none_of(node.inputs.begin(), node.inputs.end(), [&](ir::ValueId v) {
    return v != ir::kNone && module.value(v).type.dtype == ir::DType::kString;
  });
}

Result<void> lower(Lowering& lowering, ir::NodeId id) {
  const auto& module = lowering.module();
  const auto& node = module.node(id);
  TVC_TRY(auto expressions, ops::find(node.op)->express(ops::NodeView(module, id)));
  Operands operands = operands_of(module, node);
  for (size_t k = 0; k < expressions.size(); ++k) {
    if (node.output(k) == ir::kNone || !expressions[k].body) continue;
    auto kernel = loops::emit_loops(expressions[k], operands, node.op);
    std::vector<Arg> args;
    for (int x : kernel.operands) {
      auto value = node.inputs[static_cast<size_t>(x)];
      args.push_back({"", fmt::format("x{}", x), lowering.in(value)});
    }
    args.push_back({"", "y", lowering.out(node.outputs[k])});
    for (size_t n = 0; n < kernel.sizes.size(); ++n)
      args.push_back({"", fmt::format("n{}", n), lowering.size(kernel.sizes[n])});
    lowering.launch(kernel.text, args, kernel.tasks, kernel.work);
  }
  return {};
}

// Element-wise: each element is read before its own place is written, if the operand has the output's shape and width.
int in_place(const ir::Module& module, ir::NodeId id) {
  const auto& node = module.node(id);
  const auto* def = ops::find(node.op);
  if (!def->elementwise || node.outputs.size() != 1) return -1;
  const auto& out = module.value(node.outputs[0]).type;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (node.inputs[k] == ir::kNone || module.constant(node.inputs[k])) continue;
    const auto& type = module.value(node.inputs[k]).type;
    if (type.shape == out.shape && ir::bit_width(type.dtype) == ir::bit_width(out.dtype) &&
        ir::bit_width(out.dtype) >= 8)
      return static_cast<int>(k);
  }
  return -1;
}

}  // namespace

extern const Family kLoopsFamily;
const Family kLoopsFamily = {.name = "loops", .claims = claims, .lower = lower, .in_place = in_place};

}  // namespace tvc::codegen
