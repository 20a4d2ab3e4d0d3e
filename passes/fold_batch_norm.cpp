// SPDX-License-Identifier: Apache-2.0
// BatchNormalization(Conv(x, w, b)) = Conv(x, k w, k (b - mean) + B), k = scale / sqrt(var + epsilon) for each output
// channel; ConvTranspose and Gemm likewise. Only when nobody else reads the convolution, and all parameters are
// constants. New weights are computed as doubles. Shared weights stay as they are for their other readers.
#include "ops/op_def.h"
#include "passes/batch_norm.h"
#include "passes/pass.h"

namespace tvc::passes {
namespace {

// Which output channel each weight belongs to.
std::optional<std::vector<size_t>> channel_of_weights(const ir::Node& node, const ir::Tensor& weights,
                                                      size_t channels) {
  const auto count = static_cast<size_t>(weights.count());
  std::vector<size_t> out(count);
  if (node.op == "Conv") {
    if (weights.dims.empty() || weights.dims[0] != static_cast<int64_t>(channels)) return std::nullopt;
    for (size_t k = 0; k < count; ++k) out[k] = k / (count / channels);
  } else if (node.op == "ConvTranspose") {  // [C in, C out / group, ...]
    if (weights.dims.size() < 3) return std::nullopt;
    const auto group = static_cast<size_t>(node.i("group", 1)), per_group = static_cast<size_t>(weights.dims[1]),
               inputs = static_cast<size_t>(weights.dims[0]);
    if (per_group * group != channels || inputs % group != 0) return std::nullopt;
    const size_t taps = count / (inputs * per_group);
    for (size_t k = 0; k < count; ++k)
      out[k] = k / (per_group * taps) / (inputs / group) * per_group + k / taps % per_group;
  } else {  // Gemm
    if (weights.dims.size() != 2 || node.f("alpha", 1) != 1 || node.f("beta", 1) != 1) return std::nullopt;
    const bool transposed = node.i("transB", 0) != 0;
    const auto n = static_cast<size_t>(weights.dims[transposed ? 0 : 1]),
               inner = static_cast<size_t>(weights.dims[transposed ? 1 : 0]);
    if (n != channels) return std::nullopt;
    for (size_t k = 0; k < count; ++k) out[k] = transposed ? k / inner : k % n;
  }
  return out;
}

bool fold(ir::Module& module, const ir::Uses& uses, ir::NodeId norm_id) {
  const ir::Node norm = module.node(norm_id);
  ir::ValueId x = norm.input(0);
  const ir::NodeId producer = x == ir::kNone ? ir::kNone : module.value(x).producer;
  if (producer == ir::kNone || module.node(producer).graph != norm.graph || !uses.single(module, x)) return false;
  for (size_t k = 1; k < norm.outputs.size(); ++k)
    if (norm.outputs[k] != ir::kNone) return false;
  const ir::Node node = module.node(producer);
  if ((node.op != "Conv" && node.op != "ConvTranspose" && node.op != "Gemm") || !ir::subgraphs(node).empty())
    return false;
  const ir::Tensor* weights = module.constant(node.input(1));
  const ir::Tensor* bias = module.constant(node.input(2));
  auto affine = affine_of(module, norm);
  if (weights == nullptr || !affine || (node.input(2) != ir::kNone && (bias == nullptr || bias->dims.size() != 1)))
    return false;
  const size_t channels = affine->factor.size();
  if (bias != nullptr && bias->count() != static_cast<int64_t>(channels)) return false;
  auto channel = channel_of_weights(node, *weights, channels);
  if (!channel) return false;
  auto w = ir::to_f64(*weights);
  for (size_t k = 0; k < w.size(); ++k) w[k] *= affine->factor[(*channel)[k]];
  auto b = bias == nullptr ? std::vector<double>(channels) : ir::to_f64(*bias);
  for (size_t c = 0; c < channels; ++c) b[c] = b[c] * affine->factor[c] + affine->shift[c];
  auto inputs = node.inputs;
  inputs.resize(3, ir::kNone);
  inputs[1] = ir::add_constant(module, module.value(node.inputs[1]).name,
                               ir::from_f64(weights->dtype, weights->dims, w), node.graph);
  inputs[2] =
      ir::add_constant(module, "", ir::from_f64(weights->dtype, {static_cast<int64_t>(channels)}, b), node.graph);
  auto origin = node.origin;
  origin.insert(origin.end(), norm.origin.begin(), norm.origin.end());
  ir::NodeId made =
      ir::add_node(module, node.graph, {node.op, std::move(inputs), node.attrs, 1, std::move(origin)}, producer);
  ir::ValueId y = module.node(made).outputs[0];
  module.value(y).type = module.value(norm.outputs[0]).type;
  ir::replace_uses(module, norm.outputs[0], y);
  if (module.value(y).name.empty()) module.value(y).name = module.value(norm.outputs[0]).name;
  ir::erase_node(module, norm_id);
  ir::erase_node(module, producer);
  return true;
}

}  // namespace

Result<Changes> fold_batch_norm(ir::Module& module, const PassContext&) {
  Changes changes = 0;
  for (ir::GraphId g = 0; g < module.graphs.size(); ++g) {
    const ir::Uses uses(module);  // folding moves no reader of another convolution
    auto nodes = module.graphs[g].nodes;
    for (ir::NodeId id : nodes)
      if (module.node(id).op == "BatchNormalization") changes += fold(module, uses, id);
  }
  return changes;
}

}  // namespace tvc::passes
