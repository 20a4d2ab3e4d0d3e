// SPDX-License-Identifier: Apache-2.0
#include "codegen/contraction/conv.h"

#include "codegen/contraction/conv_call.h"
#include "ops/blocked.h"

namespace tvc::codegen::contraction {
namespace {

// [OC, IC / groups, kh, kw] -> [blocks][planes][kh][kw][pixel][16], zeros where there is no channel.
std::vector<float> pack(const ir::Tensor& weights, const ConvCall& c) {
  const int64_t out_channels = weights.dims[0], in_channels = weights.dims[1], taps = c.kernel[0] * c.kernel[1];
  std::vector<float> out(static_cast<size_t>(c.groups * c.blocks * c.planes * taps * c.pixel * kBlock));
  auto from = weights.as<float>();
  for (int64_t o = 0; o < out_channels; ++o)
    for (int64_t i = 0; i < in_channels; ++i)
      for (int64_t t = 0; t < taps; ++t) {
        int64_t row = ((o / kBlock * c.planes + i / c.pixel) * taps + t) * c.pixel + i % c.pixel;
        out[static_cast<size_t>(row * kBlock + o % kBlock)] =
            from[static_cast<size_t>((o * in_channels + i) * taps + t)];
      }
  return out;
}

}  // namespace

bool has_constant_weights(const ir::Module& module, ir::NodeId id) {
  const ir::Node& node = module.node(id);
  const ir::Tensor* weights = module.constant(node.input(1));
  return module.value(node.inputs[0]).type.dtype == ir::DType::kF32 && weights != nullptr &&
         weights->dtype == ir::DType::kF32 && (node.input(2) == ir::kNone || module.constant(node.input(2)) != nullptr);
}

bool has_vector_epilogue(const ir::Module& module, ir::NodeId id, const Target& target) {
  return !module.node(id).has("epilogue") || epilogue_of(module, id, target).ok();
}

bool claims_conv(const ir::Module& module, ir::NodeId id, const Target& target) {
  const ir::Node& node = module.node(id);
  if (node.op != "tvc.ConvBlocked" || target.isa_header.empty() || !has_constant_weights(module, id)) return false;
  const int64_t groups = node.i("group", 1), in = node.i("in_channels", 0), out = node.i("out_channels", 0);
  const bool whole_blocks = in / groups % kBlock == 0 && out / groups % kBlock == 0;
  return (groups == 1 || whole_blocks) && has_vector_epilogue(module, id, target);
}

Result<void> lower_conv(Lowering& lowering, ir::NodeId id) {
  const ir::Module& module = lowering.module();
  ops::NodeView view(module, id);
  TVC_TRY(ops::Window window, ops::blocked_window(view));
  const bool planar = view.s("in_layout", "blocked") == "planar";
  const int64_t out_channels = view.i("out_channels", 0), in_channels = view.i("in_channels", 0);
  ConvCall c;
  c.x = view.node().inputs[0];
  c.groups = view.i("group", 1);
  c.pixel = planar ? 1 : kBlock;
  c.planes = (in_channels / c.groups + c.pixel - 1) / c.pixel;
  c.blocks = (out_channels / c.groups + kBlock - 1) / kBlock;
  c.images = view.shape(0)[0];
  if (view.s("out_layout", "blocked") == "planar") c.y_channels = out_channels;
  for (size_t k = 0; k < 2; ++k) {
    c.in[k] = view.shape(0)[2 + k];
    c.out[k] = c.y_size[k] = view.out_type(0).shape[2 + k];
    c.before[k] = window.pad_begin[k];
    c.kernel[k] = window.kernel[k], c.stride[k] = window.stride[k], c.dilation[k] = window.dilation[k];
    auto first = window.pad_begin[k].as_constant(), last = window.pad_end[k].as_constant();
    c.padded |= !first || !last || *first > 0 || *last > 0;
  }
  c.weights = pack(*view.constant(1), c);
  c.bias = padded_bias(view.has_input(2) ? view.constant(2) : nullptr, out_channels);
  return lower_conv_call(lowering, id, c);
}

}  // namespace tvc::codegen::contraction
