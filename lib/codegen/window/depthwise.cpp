// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution in the blocked layout: tvc.ConvBlocked with as many groups as channels. A task is one output
// row of one block of 16 channels; a tile of pixels is held in registers while the taps' weights stream by, its
// epilogue included.
#include <cstring>

#include "codegen/window/window_text.h"
#include "ops/blocked.h"

namespace tvc::codegen {
namespace {

bool claims(const ir::Module& module, ir::NodeId id, const Target& target) {
  const ir::Node& node = module.node(id);
  if (node.op != "tvc.ConvBlocked" || target.isa_header.empty()) return false;
  const int64_t group = node.i("group", 1);
  if (group < 2 || node.i("in_channels", 0) != group || node.i("out_channels", 0) != group) return false;
  if (node.s("in_layout", "blocked") != "blocked" || module.constant(node.input(1)) == nullptr) return false;
  if (node.input(2) != ir::kNone && module.constant(node.input(2)) == nullptr) return false;
  return module.value(node.outputs[0]).type.dtype == ir::DType::kF32 && epilogue_of(module, id, target).ok();
}

// [C, 1, KH, KW] -> [C / 16][KH * KW][16], then the bias [C / 16][16]; padding channels are 0.
std::vector<std::byte> packed_weights(const ir::Tensor& weights, const ir::Tensor* bias) {
  const int64_t channels = weights.dims[0], taps = weights.dims[2] * weights.dims[3], blocks = (channels + 15) / 16;
  std::vector<float> packed(static_cast<size_t>(blocks * (taps + 1) * 16));
  const auto w = ir::to_f64(weights);
  const auto b = bias == nullptr ? std::vector<double>(static_cast<size_t>(channels)) : ir::to_f64(*bias);
  for (int64_t c = 0; c < channels; ++c) {
    float* block = packed.data() + c / 16 * (taps + 1) * 16 + c % 16;
    for (int64_t t = 0; t < taps; ++t) block[t * 16] = static_cast<float>(w[static_cast<size_t>(c * taps + t)]);
    block[taps * 16] = static_cast<float>(b[static_cast<size_t>(c)]);
  }
  std::vector<std::byte> bytes(packed.size() * sizeof(float));
  std::memcpy(bytes.data(), packed.data(), bytes.size());
  return bytes;
}

// The sum over taps for T pixels side by side, all of whose taps lie inside the row; rows outside are skipped.
std::string tile_text(int pixels, const ops::Window& w, const Epilogue& epilogue) {
  std::string out = "        {\n";
  for (int t = 0; t < pixels; ++t)
    out += fmt::format("          tv_f32 acc{} = tv_load(wb + {} + c);\n", t, w.kernel[0] * w.kernel[1] * 16);
  out += "          for (int64_t u = u0; u < u1; ++u) {\n";
  out +=
      fmt::format("            const float* const row = xb + ((ih0 + u * {}) * a->W + iw0) * 16 + c;\n", w.dilation[0]);
  out += fmt::format("            const float* const wr = wb + u * {} + c;\n", w.kernel[1] * 16);
  for (int64_t v = 0; v < w.kernel[1]; ++v) {
    out += fmt::format("            {{ const tv_f32 k = tv_load(wr + {});", v * 16);
    for (int t = 0; t < pixels; ++t)
      out += fmt::format(" acc{0} = tv_fma(tv_load(row + {1}), k, acc{0});", t,
                         (t * w.stride[1] + v * w.dilation[1]) * 16);
    out += " }\n";
  }
  out += "          }\n";
  for (int t = 0; t < pixels; ++t)
    out += store_text(epilogue, fmt::format("acc{}", t), fmt::format("y0 + (ow + {}) * 16 + c", t), "          ");
  return out + "        }\n";
}

std::string edge_text(const ops::Window& w, const Epilogue& epilogue) {
  std::string out = fmt::format(
      "        {{\n          tv_f32 sum = tv_load(wb + {0} + c);\n          for (int64_t u = u0; u < u1; ++u)\n        "
      "    for (int64_t v = 0; v < {1}; ++v) {{\n"
      "              const int64_t iw = iw0 + v * {2};\n              if (iw < 0 || iw >= a->W) continue;\n"
      "              sum = tv_fma(tv_load(xb + ((ih0 + u * {3}) * a->W + iw) * 16 + c), tv_load(wb + (u * {1} + v) * "
      "16 + c), sum);\n            }}\n",
      w.kernel[0] * w.kernel[1] * 16, w.kernel[1], w.dilation[1], w.dilation[0]);
  return out + store_text(epilogue, "sum", "y0 + ow * 16 + c", "          ") + "        }\n";
}

KernelText kernel_text(const ops::Window& w, const Epilogue& epilogue, const Target& target) {
  // Accumulators of two vectors' worth of latency each, within the registers.
  const int pixels = target.vector_registers >= 32 ? 12 : 6;
  std::string text = "typedef struct NAME_args {\n  const float *x, *w;\n  float* y;\n" + operand_fields(epilogue) +
                     "  int64_t blocks, H, W, OH, OW, top, left;\n} NAME_args;\n"
                     "static void NAME(const void* args_, int64_t begin, int64_t end, int32_t thread) {\n  const "
                     "NAME_args* const a = args_;\n  (void)thread;\n";
  text += fmt::format(
      "  /* pixels whose taps all lie inside the row */\n  const int64_t first = tv_size_max(0, tv_size_min(a->OW, "
      "tv_floordiv(a->left + {0}, {1})));\n"
      "  const int64_t last = tv_size_max(first, tv_size_min(a->OW, tv_floordiv(a->W - {2} + a->left, {1}) + 1));\n",
      w.stride[1] - 1, w.stride[1], w.extent(1));
  text += fmt::format(
      "  for (int64_t task = begin; task < end; ++task) {{\n    const int64_t oh = task % a->OH, plane = task / a->OH, "
      "block = plane % a->blocks;\n"
      "    const float* const xb = a->x + plane * a->H * a->W * 16;\n    const float* const wb = a->w + block * {0};\n"
      "    float* const y0 = a->y + (plane * a->OH + oh) * a->OW * 16;\n    const int64_t ih0 = oh * {1} - a->top;\n"
      "    const int64_t u0 = ih0 >= 0 ? 0 : ({2} - 1 - ih0) / {2};\n    const int64_t u1 = tv_size_max(u0, "
      "tv_size_min({3}, "
      "tv_floordiv(a->H - 1 - ih0, {2}) + 1));\n"
      "    (void)block;\n    for (int c = 0; c < 16; c += TV_LANES) {{\n      int64_t ow = 0;\n",
      (w.kernel[0] * w.kernel[1] + 1) * 16, w.stride[0], w.dilation[0], w.kernel[0]);
  auto loop = [&](const std::string& condition, int step, const std::string& body) {
    text += fmt::format("      for (; {}; ow += {}) {{\n        const int64_t iw0 = ow * {} - a->left;\n{}      }}\n",
                        condition, step, w.stride[1], body);
  };
  loop("ow < first", 1, edge_text(w, epilogue));
  loop(fmt::format("ow + {} <= last", pixels), pixels, tile_text(pixels, w, epilogue));
  loop("ow + 4 <= last", 4, tile_text(4, w, epilogue));
  loop("ow < last", 1, tile_text(1, w, epilogue));
  loop("ow < a->OW", 1, edge_text(w, epilogue));
  text += "    }\n  }\n}\n";
  return {fmt::format("depthwise_{}x{}s{}", w.kernel[0], w.kernel[1], w.stride[0]),
          std::move(text),
          {std::string(target.isa_header), "isa/math.h"}};
}

Result<void> lower(Lowering& lowering, ir::NodeId id) {
  const ir::Module& module = lowering.module();
  const ir::Node& node = module.node(id);
  ops::NodeView view(module, id);
  const ir::Shape in = ops::blocked_spatial_shape(view.shape(0));
  TVC_TRY(ops::Window w, ops::blocked_window(view));
  TVC_TRY(Epilogue epilogue, epilogue_of(module, id, lowering.target()));
  const ir::Shape& shape = module.value(node.outputs[0]).type.shape;
  std::string weights =
      lowering.weight(packed_weights(*module.constant(node.inputs[1]), module.constant(node.input(2))));
  std::vector<Arg> args = {{"", "x", lowering.in(node.inputs[0])},
                           {"", "w", "(const float*)" + weights},
                           {"", "y", lowering.out(node.outputs[0])}};
  add_operands(lowering, epilogue, args);
  const std::pair<const char*, ir::Dim> sizes[] = {{"blocks", shape[1]},    {"H", in[0]},     {"W", in[1]},
                                                   {"OH", shape[2]},        {"OW", shape[3]}, {"top", w.pad_begin[0]},
                                                   {"left", w.pad_begin[1]}};
  for (const auto& [field, dim] : sizes) args.push_back({"", field, lowering.size(dim)});
  lowering.launch(kernel_text(w, epilogue, lowering.target()), args, shape[0] * shape[1] * shape[2],
                  ir::product(shape) * ir::Dim(w.kernel[0] * w.kernel[1] / 4 + 1));
  return {};
}

}  // namespace

extern const Family kDepthwiseFamily;
const Family kDepthwiseFamily = {.name = "depthwise", .claims = claims, .lower = lower, .epilogue = true};

}  // namespace tvc::codegen
