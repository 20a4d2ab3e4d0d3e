// SPDX-License-Identifier: Apache-2.0
// f(c1, c2, ...) = c, for nodes all of whose operands are constants; a value whose known elements are all numbers is
// that constant whatever computes it. If with a constant condition is its branch's business, not this pass's. Not
// folded: random operators, nodes with bodies, and results much larger than their operands (ConstantOfShape of a mask
// is cheaper to compute than to store).
#include <algorithm>

#include "ops/op_def.h"
#include "passes/pass.h"

namespace tvc::passes {
namespace {

constexpr int64_t kFreeBytes = 64 << 10;  // results up to this size are folded whatever the operands' size

int64_t bytes_of(const ir::Type& type) {
  int64_t bytes = ir::bit_width(type.dtype);
  for (const ir::Dim& d : type.shape) {
    if (!d.is_constant() || __builtin_mul_overflow(bytes, d.constant(), &bytes)) return INT64_MAX;
  }
  return bytes / 8;
}

bool is_foldable(const ir::Module& module, const ir::Node& node) {
  const ops::OpDef* def = ops::find(node.op);
  if (def == nullptr || def->random || def->control || !ir::subgraphs(node).empty()) return false;
  int64_t before = 0, after = 0;
  for (ir::ValueId id : node.inputs) {
    if (id == ir::kNone) continue;
    const ir::Value& value = module.value(id);
    if (!value.constant || value.type.dtype == ir::DType::kString) return false;
    before = std::max(before, static_cast<int64_t>(value.constant->bytes.size()));
  }
  for (ir::ValueId id : node.outputs) {
    if (id == ir::kNone) continue;
    const ir::Type& type = module.value(id).type;
    if (type.kind != ir::Kind::kTensor || type.dtype == ir::DType::kString) return false;
    int64_t bytes = bytes_of(type);
    if (bytes == INT64_MAX) bytes = 0;  // a data-dependent size: known once evaluated
    after += bytes;
  }
  return after <= std::max(kFreeBytes, 2 * before);
}

// The value is no longer the node's: a constant of the same name and readers takes its place.
void become_constant(ir::Module& module, ir::ValueId value, ir::Tensor tensor) {
  ir::ValueId constant = ir::add_constant(module, "", std::move(tensor), module.value(value).graph);
  ir::replace_uses(module, value, constant);
}

std::optional<ir::Tensor> known_constant(const ir::Value& value) {
  if (value.constant || value.known.empty() || value.producer == ir::kNone) return std::nullopt;
  if (!ir::is_int(value.type.dtype) && value.type.dtype != ir::DType::kBool) return std::nullopt;
  std::vector<int64_t> elements, dims;
  for (const ir::Dim& d : value.known) {
    if (!d.is_constant()) return std::nullopt;
    elements.push_back(d.constant());
  }
  for (const ir::Dim& d : value.type.shape) {
    if (!d.is_constant()) return std::nullopt;
    dims.push_back(d.constant());
  }
  return ir::from_i64(value.type.dtype, std::move(dims), elements);
}

Result<Changes> fold_node(ir::Module& module, ir::NodeId id, const PassContext& context) {
  Changes changes = 0;
  auto outputs = module.node(id).outputs;
  for (ir::ValueId out : outputs) {
    if (out == ir::kNone) continue;
    if (auto tensor = known_constant(module.value(out))) {
      become_constant(module, out, std::move(*tensor));
      ++changes;
    }
  }
  if (changes > 0 || !is_foldable(module, module.node(id))) return changes;
  std::vector<const ir::Tensor*> inputs;
  for (ir::ValueId input : module.node(id).inputs) inputs.push_back(module.constant(input));
  auto results = ops::evaluate(module, id, inputs);
  if (!results.ok()) {
    if (results.error().code == ErrorCode::kBadInput) return results.error().at(module.node(id).label());
    context.diagnostics.info(
        fmt::format("{} is computed at run time: {}", module.node(id).label(), results.error().text()));
    return 0;
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k] == ir::kNone) continue;
    become_constant(module, outputs[k], std::move((*results)[k]));
    ++changes;
  }
  return changes;
}

}  // namespace

Result<Changes> fold_constants(ir::Module& module, const PassContext& context) {
  Changes changes = 0;
  for (ir::GraphId g = 0; g < module.graphs.size(); ++g) {
    auto nodes = module.graphs[g].nodes;
    for (ir::NodeId id : nodes) {
      TVC_TRY(Changes n, fold_node(module, id, context));
      changes += n;
    }
  }
  return changes;
}

Result<Changes> fold_decomposed(ir::Module& module, const PassContext& context) {
  return fold_constants(module, context);
}

}  // namespace tvc::passes
