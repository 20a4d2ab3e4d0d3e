// SPDX-License-Identifier: Apache-2.0
// Conv(x, w1, b1) + Conv(x, w2, b2) + BatchNormalization(x) + x = Conv(x, w1 + w2 + k I + I, b1 + b2 + shift): the
// branches of RepVGG and MobileOne as one convolution. A smaller kernel is placed inside the largest so that both see
// the same taps: with padding p and P, at offset P - p. Only for branches of one stride and group, dilation 1, that
// nobody else reads, over f32 constants; all branches give the same shape.
#include <optional>

#include "ops/op_def.h"
#include "passes/batch_norm.h"
#include "passes/pass.h"

namespace tvc::passes {
namespace {

// A branch as a 2-D convolution over [O, I, KH, KW].
struct Branch {
  std::vector<ir::NodeId> nodes;  // that it consists of
  std::vector<double> weights, bias;
  int64_t outputs = 0, inputs = 0, group = 1;
  std::vector<int64_t> kernel = {1, 1}, stride = {1, 1}, pads = {0, 0, 0, 0};
};

std::vector<int64_t> list_or(const ir::Node& node, std::string_view key, std::vector<int64_t> otherwise) {
  auto values = node.ints(key);
  return values.empty() ? otherwise : values;
}

std::optional<Branch> convolution_branch(const ir::Module& module, ir::NodeId id) {
  const ir::Node& node = module.node(id);
  const ir::Tensor *weights = module.constant(node.input(1)), *bias = module.constant(node.input(2));
  if (weights == nullptr || weights->dims.size() != 4 || weights->dtype != ir::DType::kF32) return std::nullopt;
  if ((node.input(2) != ir::kNone && bias == nullptr) || node.s("auto_pad", "NOTSET") != "NOTSET") return std::nullopt;
  if (list_or(node, "dilations", {1, 1}) != std::vector<int64_t>{1, 1}) return std::nullopt;
  Branch b;
  b.nodes = {id};
  b.weights = ir::to_f64(*weights);
  b.outputs = weights->dims[0];
  b.inputs = weights->dims[1];
  b.kernel = {weights->dims[2], weights->dims[3]};
  b.group = node.i("group", 1);
  b.stride = list_or(node, "strides", {1, 1});
  b.pads = list_or(node, "pads", {0, 0, 0, 0});
  b.bias = bias == nullptr ? std::vector<double>(static_cast<size_t>(b.outputs)) : ir::to_f64(*bias);
  return b;
}

// x itself, or its batch normalisation, for the channels and groups of `like`.
Branch identity_branch(const Branch& like, const std::vector<double>& factor, const std::vector<double>& shift) {
  Branch b;
  b.outputs = like.outputs;
  b.inputs = like.inputs;
  b.group = like.group;
  b.bias = shift;
  b.weights.assign(static_cast<size_t>(b.outputs * b.inputs), 0.0);
  for (int64_t o = 0; o < b.outputs; ++o)
    b.weights[static_cast<size_t>(o * b.inputs + o % b.inputs)] = factor[static_cast<size_t>(o)];
  return b;
}

std::optional<Branch> norm_branch(const ir::Module& module, ir::NodeId id, const Branch& like) {
  auto affine = affine_of(module, module.node(id));
  if (!affine || affine->factor.size() != static_cast<size_t>(like.outputs)) return std::nullopt;
  Branch b = identity_branch(like, affine->factor, affine->shift);
  b.nodes = {id};
  return b;
}

// The operands of a tree of additions, each addition inside read only by its parent.
void collect(const ir::Module& module, const ir::Uses& uses, ir::NodeId id, std::vector<ir::NodeId>& adds,
             std::vector<ir::ValueId>& leaves) {
  adds.push_back(id);
  for (ir::ValueId input : module.node(id).inputs) {
    const ir::NodeId producer = input == ir::kNone ? ir::kNone : module.value(input).producer;
    const bool inner =
        producer != ir::kNone && (module.node(producer).op == "Add" || module.node(producer).op == "Sum") &&
        uses.single(module, input) && module.value(input).type == module.value(module.node(id).outputs[0]).type;
    if (inner) collect(module, uses, producer, adds, leaves);
    else leaves.push_back(input);
  }
}

// Adds `small` into `big`; false where it does not fit.
bool add_into(Branch& big, const Branch& small) {
  if (small.outputs != big.outputs || small.inputs != big.inputs || small.group != big.group ||
      small.stride != big.stride)
    return false;
  for (size_t k = 0; k < 2; ++k) {
    const int64_t offset = big.pads[k] - small.pads[k];
    // The same taps at both ends: what the larger kernel adds before and behind is exactly what it pads more.
    if (offset < 0 || big.kernel[k] - small.kernel[k] - offset != big.pads[k + 2] - small.pads[k + 2] ||
        offset + small.kernel[k] > big.kernel[k])
      return false;
  }
  const int64_t top = big.pads[0] - small.pads[0], left = big.pads[1] - small.pads[1];
  for (int64_t c = 0; c < big.outputs * big.inputs; ++c)
    for (int64_t u = 0; u < small.kernel[0]; ++u)
      for (int64_t v = 0; v < small.kernel[1]; ++v)
        big.weights[static_cast<size_t>((c * big.kernel[0] + u + top) * big.kernel[1] + v + left)] +=
            small.weights[static_cast<size_t>((c * small.kernel[0] + u) * small.kernel[1] + v)];
  for (size_t c = 0; c < big.bias.size(); ++c) big.bias[c] += small.bias[c];
  big.nodes.insert(big.nodes.end(), small.nodes.begin(), small.nodes.end());
  return true;
}

struct Merge {
  std::vector<Branch> branches;
  ir::ValueId x = ir::kNone;
};

std::optional<Merge> branches_of(const ir::Module& module, const ir::Uses& uses,
                                 const std::vector<ir::ValueId>& leaves) {
  Merge merge;
  std::vector<ir::ValueId> others;
  for (ir::ValueId leaf : leaves) {
    const ir::NodeId producer = leaf == ir::kNone ? ir::kNone : module.value(leaf).producer;
    if (producer == ir::kNone || module.node(producer).op != "Conv" || !uses.single(module, leaf)) {
      others.push_back(leaf);
      continue;
    }
    auto branch = convolution_branch(module, producer);
    if (!branch || (merge.x != ir::kNone && merge.x != module.node(producer).inputs[0])) return std::nullopt;
    merge.x = module.node(producer).inputs[0];
    merge.branches.push_back(std::move(*branch));
  }
  if (merge.branches.empty() || leaves.size() < 2) return std::nullopt;
  const Branch like = merge.branches[0];
  for (ir::ValueId leaf : others) {
    const bool square = like.outputs == like.inputs * like.group;
    if (leaf == ir::kNone || !square) return std::nullopt;
    const ir::NodeId producer = module.value(leaf).producer;
    if (leaf == merge.x) {
      const auto channels = static_cast<size_t>(like.outputs);
      merge.branches.push_back(
          identity_branch(like, std::vector<double>(channels, 1.0), std::vector<double>(channels, 0.0)));
    } else if (producer != ir::kNone && module.node(producer).op == "BatchNormalization" &&
               module.node(producer).inputs[0] == merge.x && uses.single(module, leaf)) {
      auto branch = norm_branch(module, producer, like);
      if (!branch) return std::nullopt;
      merge.branches.push_back(std::move(*branch));
    } else {
      return std::nullopt;
    }
  }
  return merge;
}

bool merge_at(ir::Module& module, const ir::Uses& uses, ir::NodeId root) {
  std::vector<ir::NodeId> adds;
  std::vector<ir::ValueId> leaves;
  collect(module, uses, root, adds, leaves);
  auto merge = branches_of(module, uses, leaves);
  if (!merge) return false;
  for (ir::ValueId leaf : leaves)
    if (module.value(leaf).type != module.value(module.node(root).outputs[0]).type) return false;
  size_t largest = 0;
  for (size_t k = 1; k < merge->branches.size(); ++k)
    if (merge->branches[k].weights.size() > merge->branches[largest].weights.size()) largest = k;
  Branch whole = merge->branches[largest];
  for (size_t k = 0; k < merge->branches.size(); ++k)
    if (k != largest && !add_into(whole, merge->branches[k])) return false;
  const ir::GraphId graph = module.node(root).graph;
  ir::ValueId w = ir::add_constant(
      module, "",
      ir::from_f64(ir::DType::kF32, {whole.outputs, whole.inputs, whole.kernel[0], whole.kernel[1]}, whole.weights),
      graph);
  ir::ValueId b = ir::add_constant(module, "", ir::from_f64(ir::DType::kF32, {whole.outputs}, whole.bias), graph);
  std::vector<std::string> origin;
  for (ir::NodeId id : whole.nodes)
    origin.insert(origin.end(), module.node(id).origin.begin(), module.node(id).origin.end());
  ir::NodeSpec spec{
      "Conv",
      {merge->x, w, b},
      {{"group", whole.group}, {"kernel_shape", whole.kernel}, {"strides", whole.stride}, {"pads", whole.pads}},
      1,
      std::move(origin)};
  ir::ValueId y = module.node(ir::add_node(module, graph, std::move(spec), root)).outputs[0];
  ir::ValueId old = module.node(root).outputs[0];
  module.value(y).type = module.value(old).type;
  ir::replace_uses(module, old, y);
  if (module.value(y).name.empty()) module.value(y).name = module.value(old).name;
  for (ir::NodeId id : adds) ir::erase_node(module, id);
  for (ir::NodeId id : whole.nodes) ir::erase_node(module, id);
  return true;
}

}  // namespace

Result<Changes> merge_parallel_convolutions(ir::Module& module, const PassContext&) {
  Changes changes = 0;
  for (ir::GraphId g = 0; g < module.graphs.size(); ++g) {
    auto nodes = module.graphs[g].nodes;
    // From the last addition backwards, so that a tree is seen from its root.
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      const std::string& op = module.node(*it).op;
      if (op == "Add" || op == "Sum") changes += merge_at(module, ir::Uses(module), *it);
    }
  }
  return changes;
}

}  // namespace tvc::passes
