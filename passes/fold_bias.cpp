// SPDX-License-Identifier: Apache-2.0
// Conv(x, w, b) + c = Conv(x, w, b + c) for a constant c with one number an output channel (or one for all);
// ConvTranspose likewise. Only when nobody else reads the convolution.
#include "ops/op_def.h"
#include "passes/pass.h"

namespace tvc::passes {
namespace {

// c as one number a channel of a tensor of this rank; empty if it is anything else.
std::vector<double> per_channel(const ir::Tensor& c, int rank, int64_t channels) {
  if (c.dtype != ir::DType::kF32 || static_cast<int>(c.dims.size()) > rank) return {};
  auto values = ir::to_f64(c);
  if (values.size() == 1) return std::vector<double>(static_cast<size_t>(channels), values[0]);
  const size_t axis = c.dims.size() - static_cast<size_t>(rank - 1);  // of the channels; wraps where c has too few
  if (axis >= c.dims.size() || c.dims[axis] != channels || c.count() != channels) return {};
  return values;
}

bool fold(ir::Module& module, const ir::Uses& uses, ir::NodeId id, size_t slot) {
  const ir::Node add = module.node(id);
  const ir::ValueId sum = add.outputs[0], product = add.inputs[slot];
  const ir::Tensor* c = module.constant(add.inputs[1 - slot]);
  const ir::NodeId producer = module.value(product).producer;
  if (c == nullptr || producer == ir::kNone || !uses.single(module, product)) return false;
  const ir::Node& conv = module.node(producer);
  const ir::Type& type = module.value(product).type;
  if ((conv.op != "Conv" && conv.op != "ConvTranspose") || conv.has("epilogue") || type.dtype != ir::DType::kF32 ||
      type.rank() < 3 || !type.shape[1].is_constant() || module.value(sum).type != type)
    return false;
  auto bias = per_channel(*c, type.rank(), type.shape[1].constant());
  if (bias.empty()) return false;
  if (conv.input(2) != ir::kNone) {
    const ir::Tensor* own = module.constant(conv.inputs[2]);
    if (own == nullptr || own->count() != static_cast<int64_t>(bias.size())) return false;
    auto values = ir::to_f64(*own);
    for (size_t k = 0; k < bias.size(); ++k) bias[k] += values[k];
  }
  ir::ValueId folded = ir::add_constant(
      module, "", ir::from_f64(ir::DType::kF32, {static_cast<int64_t>(bias.size())}, bias), conv.graph);
  module.node(producer).inputs.resize(3, ir::kNone);
  module.node(producer).inputs[2] = folded;
  for (const auto& name : add.origin) module.node(producer).origin.push_back(name);
  ir::replace_uses(module, sum, product);
  if (module.value(product).name.empty()) module.value(product).name = module.value(sum).name;
  ir::erase_node(module, id);
  return true;
}

}  // namespace

Result<Changes> fold_bias(ir::Module& module, const PassContext&) {
  Changes changes = 0;
  for (ir::GraphId g = 0; g < module.graphs.size(); ++g) {
    const auto nodes = module.graphs[g].nodes;
    for (ir::NodeId id : nodes) {
      if (module.node(id).op != "Add") continue;
      const ir::Uses uses(module);
      if (fold(module, uses, id, 0) || fold(module, uses, id, 1)) ++changes;
    }
  }
  return changes;
}

}  // namespace tvc::passes
