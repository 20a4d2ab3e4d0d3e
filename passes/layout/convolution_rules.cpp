// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools in the blocked layout.
#include "passes/layout/rules.h"

namespace tvc::passes::layout {
namespace {

constexpr int64_t kPlanarChannels = 4;  // a first layer with so few channels reads its planar input directly

using Attrs = std::map<std::string, ir::Attr, std::less<>>;

// Window attributes of a 1-D or 2-D node as 2-D ones.
Attrs window_attributes(const ir::Node& node, int rank) {
  Attrs out;
  for (const auto& [key, value] : node.attrs) {
    const auto* list = std::get_if<std::vector<int64_t>>(&value);
    if (rank == 3 && list != nullptr) {
      auto lifted = *list;
      int64_t neutral = key == "pads" || key == "output_padding" ? 0 : 1;
      if (key == "pads" && lifted.size() == 2) lifted = {0, lifted[0], 0, lifted[1]};
      else lifted.insert(lifted.begin(), neutral);
      out.emplace(key, std::move(lifted));
    } else {
      out.emplace(key, value);
    }
  }
  return out;
}

// The weights with a dimension of height 1, for 1-D convolutions.
ir::ValueId lifted_weights(ir::Module& module, ir::ValueId weights, ir::GraphId graph) {
  ir::Tensor tensor = *module.constant(weights);
  if (tensor.dims.size() == 4) return weights;
  tensor.dims.insert(tensor.dims.begin() + 2, 1);
  return ir::add_constant(module, module.value(weights).name, std::move(tensor), graph);
}

bool is_convolution_with_constants(const ops::NodeView& view) {
  if (!has_planar_form(view.type(0)) || !has_planar_form(view.out_type(0))) return false;
  const ir::Tensor* weights = view.constant(1);
  return weights != nullptr && weights->dtype == ir::DType::kF32 && (!view.has_input(2) || view.constant(2) != nullptr);
}

}  // namespace

Result<bool> block_convolution(Twins& twins, ir::NodeId id) {
  ir::Module& module = twins.module();
  ops::NodeView view(module, id);
  if (!is_convolution_with_constants(view)) return false;
  const int64_t group = view.i("group", 1), in_channels = channels_of(view.type(0)),
                out_channels = channels_of(view.out_type(0));
  const bool depthwise = group == in_channels && out_channels == in_channels;
  if (group != 1 && !depthwise && (in_channels / group % kBlock != 0 || out_channels / group % kBlock != 0))
    return false;
  ir::ValueId x = view.node().inputs[0];
  const bool planar = group == 1 && in_channels <= kPlanarChannels && twins.find(x) == ir::kNone && view.rank(0) == 4;
  Attrs attrs = window_attributes(view.node(), view.rank(0));
  const ir::Tensor& weights = *view.constant(1);
  std::vector<int64_t> kernel(weights.dims.begin() + 2, weights.dims.end());
  if (kernel.size() == 1) kernel.insert(kernel.begin(), 1);
  attrs["kernel_shape"] = kernel;
  attrs["group"] = group;
  attrs["in_channels"] = in_channels;
  attrs["out_channels"] = out_channels;
  attrs["in_layout"] = std::string(planar ? "planar" : "blocked");
  ir::ValueId bias = view.has_input(2) ? view.node().inputs[2] : ir::kNone;
  if (!planar) {
    TVC_TRY(x, twins.get(x, id));
  }
  std::vector<ir::ValueId> inputs = {x, lifted_weights(module, module.node(id).inputs[1], module.node(id).graph), bias};
  TVC_TRY(ir::ValueId y, ops::DecomposeContext(module, id).add("tvc.ConvBlocked", std::move(inputs), std::move(attrs)));
  TVC_CHECK_OK(twins.replace(id, 0, y));
  return true;
}

Result<bool> block_transposed_convolution(Twins& twins, ir::NodeId id) {
  ir::Module& module = twins.module();
  ops::NodeView view(module, id);
  if (!is_convolution_with_constants(view) || view.i("group", 1) != 1) return false;
  Attrs attrs = window_attributes(view.node(), view.rank(0));
  attrs["in_channels"] = channels_of(view.type(0));
  attrs["out_channels"] = channels_of(view.out_type(0));
  ir::ValueId bias = view.has_input(2) ? view.node().inputs[2] : ir::kNone;
  TVC_TRY(ir::ValueId x, twins.get(view.node().inputs[0], id));
  std::vector<ir::ValueId> inputs = {x, lifted_weights(module, module.node(id).inputs[1], module.node(id).graph), bias};
  TVC_TRY(ir::ValueId y,
          ops::DecomposeContext(module, id).add("tvc.ConvTransposeBlocked", std::move(inputs), std::move(attrs)));
  TVC_CHECK_OK(twins.replace(id, 0, y));
  return true;
}

Result<bool> block_pool(Twins& twins, ir::NodeId id) {
  ir::Module& module = twins.module();
  ops::NodeView view(module, id);
  ir::ValueId x = twins.find(view.node().inputs[0]);
  if (x == ir::kNone || view.output_count() > 1 || !has_planar_form(view.out_type(0))) return false;
  std::string op = "tvc." + view.node().op + "Blocked";
  TVC_TRY(ir::ValueId y, ops::DecomposeContext(module, id).add(op, {x}, window_attributes(view.node(), view.rank(0))));
  TVC_CHECK_OK(twins.replace(id, 0, y));
  return true;
}

Result<bool> block_global_pool(Twins& twins, ir::NodeId id) {
  ir::Module& module = twins.module();
  ops::NodeView view(module, id);
  ir::ValueId x = twins.find(view.node().inputs[0]);
  if (x == ir::kNone || !has_planar_form(view.out_type(0)) || view.rank(0) != 4) return false;
  TVC_TRY(ir::ValueId y, ops::DecomposeContext(module, id).add("tvc.GlobalAveragePoolBlocked", {x}));
  TVC_CHECK_OK(twins.replace(id, 0, y));
  return true;
}

}  // namespace tvc::passes::layout
