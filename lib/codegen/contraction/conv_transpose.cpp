// SPDX-License-Identifier: Apache-2.0
// A transposed convolution as stride_h * stride_w plain ones: outputs p = s q + r with the same remainder r read the
// taps u = u0 + s j alone, u0 = (r + pad) mod s, at input q + (r + pad - u0) / s - j. With J taps, turned round, that
// is a convolution with padding J - 1 - (r + pad - u0) / s.
#include "codegen/contraction/conv.h"
#include "codegen/contraction/conv_call.h"
#include "ops/blocked.h"

namespace tvc::codegen::contraction {
namespace {

struct Phase {
  int64_t first = 0, taps = 0, padding = 0;
};

Phase phase_of(int64_t remainder, int64_t pad, int64_t stride, int64_t kernel) {
  Phase p;
  p.first = (remainder + pad) % stride;
  p.taps = p.first < kernel ? (kernel - p.first + stride - 1) / stride : 0;
  p.padding = p.taps - 1 - (remainder + pad - p.first) / stride;
  return p;
}

// [IC, OC, kh, kw] -> [blocks][planes][taps of the phase, turned round][16][16].
std::vector<float> pack(const ir::Tensor& weights, const ConvCall& c, const std::array<Phase, 2>& phase,
                        const ops::Window& w) {
  const int64_t in_channels = weights.dims[0], out_channels = weights.dims[1];
  std::vector<float> out(static_cast<size_t>(c.blocks * c.planes * c.kernel[0] * c.kernel[1] * kBlock * kBlock));
  auto from = weights.as<float>();
  for (int64_t i = 0; i < in_channels; ++i)
    for (int64_t o = 0; o < out_channels; ++o)
      for (int64_t y = 0; y < c.kernel[0]; ++y)
        for (int64_t x = 0; x < c.kernel[1]; ++x) {
          const int64_t u = phase[0].first + w.stride[0] * (c.kernel[0] - 1 - y);
          const int64_t v = phase[1].first + w.stride[1] * (c.kernel[1] - 1 - x);
          const int64_t tap = ((o / kBlock * c.planes + i / kBlock) * c.kernel[0] + y) * c.kernel[1] + x;
          out[static_cast<size_t>((tap * kBlock + i % kBlock) * kBlock + o % kBlock)] =
              from[static_cast<size_t>(((i * out_channels + o) * w.kernel[0] + u) * w.kernel[1] + v)];
        }
  return out;
}

bool has_plain_window(const ops::Window& w) {
  for (size_t k = 0; k < 2; ++k) {
    auto pad = w.pad_begin[k].as_constant();
    if (!pad || *pad < 0 || w.dilation[k] != 1 || w.stride[k] > 8) return false;
  }
  return true;
}

ir::Dim blocked_size(Lowering& lowering, const ir::Node& node, size_t axis) {
  return lowering.module().value(node.inputs[0]).type.shape[2 + axis];
}

// A kernel as large as its stride: each phase has one tap, and with few channels all phases share a block of outputs.
bool fits_one_block(Lowering& lowering, ir::NodeId id, const ops::Window& w, const ConvCall& c) {
  const ir::Node& node = lowering.module().node(id);
  const auto own = static_cast<int64_t>(node.inputs.size());
  if (node.has("epilogue") && node.i("epilogue_inputs", own) < own) return false;
  for (size_t k = 0; k < 2; ++k)
    if (w.kernel[k] != w.stride[k] || !w.pad_begin[k].is(0) || !w.pad_end[k].is(0) ||
        w.out[k] != blocked_size(lowering, node, k) * w.stride[k])
      return false;
  return c.y_channels > 0 && c.y_channels * w.stride[0] * w.stride[1] <= kBlock;
}

Result<void> lower_one_block(Lowering& lowering, ir::NodeId id, const ops::Window& w, ConvCall c) {
  ops::NodeView view(lowering.module(), id);
  const int64_t channels = c.y_channels, in_channels = view.i("in_channels", 0);
  const std::vector<float> bias = std::move(c.bias);
  c.y_phases = w.stride[0] * w.stride[1];
  c.bias.assign(kBlock, 0);
  c.weights.assign(static_cast<size_t>(c.planes * kBlock * kBlock), 0);
  for (size_t k = 0; k < 2; ++k) {
    c.in[k] = c.out[k] = blocked_size(lowering, view.node(), k);
    c.y_size[k] = w.out[k];
    c.y_step[k] = w.stride[k];
  }
  auto from = view.constant(1)->as<float>();
  for (int64_t phase = 0; phase < c.y_phases; ++phase)
    for (int64_t o = 0; o < channels; ++o) {
      const int64_t lane = phase * channels + o;
      c.bias[static_cast<size_t>(lane)] = bias[static_cast<size_t>(o)];
      for (int64_t i = 0; i < in_channels; ++i)
        c.weights[static_cast<size_t>(i * kBlock + lane)] =
            from[static_cast<size_t>((i * channels + o) * c.y_phases + phase)];
    }
  return lower_conv_call(lowering, id, c);
}

}  // namespace

bool claims_conv_transpose(const ir::Module& module, ir::NodeId id, const Target& target) {
  if (module.node(id).op != "tvc.ConvTransposeBlocked" || target.isa_header.empty() ||
      !has_constant_weights(module, id))
    return false;
  auto window = ops::blocked_transposed_window(ops::NodeView(module, id));
  return window.ok() && has_plain_window(*window) && has_vector_epilogue(module, id, target);
}

Result<void> lower_conv_transpose(Lowering& lowering, ir::NodeId id) {
  ops::NodeView view(lowering.module(), id);
  TVC_TRY(ops::Window window, ops::blocked_transposed_window(view));
  const int64_t out_channels = view.i("out_channels", 0), in_channels = view.i("in_channels", 0);
  ConvCall c;
  c.x = view.node().inputs[0];
  c.planes = (in_channels + kBlock - 1) / kBlock;
  c.blocks = (out_channels + kBlock - 1) / kBlock;
  c.images = view.shape(0)[0];
  if (view.s("out_layout", "blocked") == "planar") c.y_channels = out_channels;
  c.bias = padded_bias(view.has_input(2) ? view.constant(2) : nullptr, out_channels);
  if (fits_one_block(lowering, id, window, c)) return lower_one_block(lowering, id, window, std::move(c));
  for (c.y_offset[0] = 0; c.y_offset[0] < window.stride[0]; ++c.y_offset[0])
    for (c.y_offset[1] = 0; c.y_offset[1] < window.stride[1]; ++c.y_offset[1]) {
      std::array<Phase, 2> phase;
      c.padded = false;
      for (size_t k = 0; k < 2; ++k) {
        phase[k] = phase_of(c.y_offset[k], *window.pad_begin[k].as_constant(), window.stride[k], window.kernel[k]);
        c.in[k] = view.shape(0)[2 + k];
        c.y_size[k] = view.out_type(0).shape[2 + k];
        c.y_step[k] = window.stride[k];
        c.out[k] = ir::ceil_div(c.y_size[k] - c.y_offset[k], window.stride[k]);
        c.kernel[k] = phase[k].taps;
        c.before[k] = phase[k].padding;
        auto behind = (c.out[k] + (phase[k].taps - 1 - phase[k].padding) - c.in[k]).as_constant();
        c.padded |= phase[k].padding > 0 || !behind || *behind > 0;
      }
      if (c.kernel[0] == 0 || c.kernel[1] == 0) {  // no tap: the bias alone
        c.kernel = {0, 0};
        c.padded = false;
      }
      c.weights = pack(*view.constant(1), c, phase, window);
      if (c.weights.empty()) c.weights.resize(kBlock);
      TVC_CHECK_OK(lower_conv_call(lowering, id, c));
    }
  return {};
}

}  // namespace tvc::codegen::contraction
