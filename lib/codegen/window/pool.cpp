// SPDX-License-Identifier: Apache-2.0
// Pooling in the blocked layout: windows (maximum, mean) by output rows, and the mean over whole planes.
#include "codegen/lower.h"
#include "ops/blocked.h"

namespace tvc::codegen {
namespace {

bool claims_window(const ir::Module& module, ir::NodeId id, const Target& target) {
  const ir::Node& node = module.node(id);
  return !target.isa_header.empty() && (node.op == "tvc.MaxPoolBlocked" || node.op == "tvc.AveragePoolBlocked") &&
         module.value(node.outputs[0]).type.dtype == ir::DType::kF32;
}

KernelText window_text(const ops::Window& w, bool maximum, bool include_pad, const Target& target) {
  std::string text = fmt::format(
      "typedef struct NAME_args {{\n  const float* x;\n  float* y;\n  int64_t H, W, OH, OW, top, left, bottom, "
      "right;\n}} NAME_args;\n"
      "static void NAME(const void* args_, int64_t begin, int64_t end, int32_t thread) {{\n  const NAME_args* const a "
      "= args_;\n  (void)thread;\n"
      "  for (int64_t task = begin; task < end; ++task) {{\n    const int64_t oh = task % a->OH, plane = task / a->OH, "
      "ih0 = oh * {0} - a->top;\n"
      "    const int64_t u0 = ih0 >= 0 ? 0 : ({1} - 1 - ih0) / {1}, u1 = tv_size_max(u0, tv_size_min({2}, "
      "tv_floordiv(a->H - 1 - "
      "ih0, {1}) + 1));\n"
      "    const float* const xb = a->x + plane * a->H * a->W * 16;\n    float* const y0 = a->y + (plane * a->OH + oh) "
      "* a->OW * 16;\n"
      "    for (int64_t ow = 0; ow < a->OW; ++ow) {{\n      const int64_t iw0 = ow * {3} - a->left;\n"
      "      const int64_t v0 = iw0 >= 0 ? 0 : ({4} - 1 - iw0) / {4}, v1 = tv_size_max(v0, tv_size_min({5}, "
      "tv_floordiv(a->W - 1 "
      "- iw0, {4}) + 1));\n"
      "      for (int c = 0; c < 16; c += TV_LANES) {{\n        tv_f32 acc = {6};\n        for (int64_t u = u0; u < "
      "u1; ++u)\n          for (int64_t v = v0; v < v1; ++v) {{\n"
      "            const tv_f32 t = tv_load(xb + ((ih0 + u * {1}) * a->W + iw0 + v * {4}) * 16 + c);\n            acc "
      "= {7};\n          }}\n",
      w.stride[0], w.dilation[0], w.kernel[0], w.stride[1], w.dilation[1], w.kernel[1],
      maximum ? "tv_set1(-INFINITY)" : "tv_zero()", maximum ? "tv_max(acc, t)" : "tv_add(acc, t)");
  if (!maximum) {
    // Taps that count: those inside, or also those in the padding that is said (not what ceil_mode adds beyond it).
    text += include_pad
                ? fmt::format(
                      "        const int64_t rows = tv_size_min({0}, tv_floordiv(a->H + a->bottom - 1 - ih0, {1}) + "
                      "1), columns = tv_size_min({2}, tv_floordiv(a->W + a->right - 1 - iw0, {3}) + 1);\n",
                      w.kernel[0], w.dilation[0], w.kernel[1], w.dilation[1])
                : std::string("        const int64_t rows = u1 - u0, columns = v1 - v0;\n");
    text += "        acc = tv_div(acc, tv_set1((float)(rows * columns)));\n";
  }
  text += "        tv_store(y0 + ow * 16 + c, acc);\n      }\n    }\n  }\n}\n";
  return {fmt::format("{}_pool_{}x{}", maximum ? "max" : "average", w.kernel[0], w.kernel[1]),
          std::move(text),
          {std::string(target.isa_header)}};
}

Result<void> lower_window(Lowering& lowering, ir::NodeId id) {
  const ir::Module& module = lowering.module();
  const ir::Node& node = module.node(id);
  ops::NodeView view(module, id);
  const ir::Shape in = ops::blocked_spatial_shape(view.shape(0));
  TVC_TRY(ops::Window w, ops::blocked_window(view));
  const ir::Shape& shape = module.value(node.outputs[0]).type.shape;
  std::vector<Arg> args = {{"", "x", lowering.in(node.inputs[0])}, {"", "y", lowering.out(node.outputs[0])}};
  const std::pair<const char*, ir::Dim> sizes[] = {{"H", in[0]},
                                                   {"W", in[1]},
                                                   {"OH", shape[2]},
                                                   {"OW", shape[3]},
                                                   {"top", w.pad_begin[0]},
                                                   {"left", w.pad_begin[1]},
                                                   {"bottom", w.pad_end[0]},
                                                   {"right", w.pad_end[1]}};
  for (const auto& [field, dim] : sizes) args.push_back({"", field, lowering.size(dim)});
  KernelText text =
      window_text(w, node.op == "tvc.MaxPoolBlocked", view.i("count_include_pad", 0) != 0, lowering.target());
  lowering.launch(text, args, shape[0] * shape[1] * shape[2],
                  ir::product(shape) * ir::Dim(w.kernel[0] * w.kernel[1] / 4 + 1));
  return {};
}

bool claims_global(const ir::Module& module, ir::NodeId id, const Target& target) {
  const ir::Node& node = module.node(id);
  return !target.isa_header.empty() && node.op == "tvc.GlobalAveragePoolBlocked" &&
         module.value(node.outputs[0]).type.dtype == ir::DType::kF32;
}

Result<void> lower_global(Lowering& lowering, ir::NodeId id) {
  const ir::Node& node = lowering.module().node(id);
  const ir::Shape& in = lowering.module().value(node.inputs[0]).type.shape;
  KernelText text{"global_average_pool",
                  "typedef struct NAME_args {\n  const float* x;\n  float* y;\n  int64_t pixels;\n} NAME_args;\n"
                  "static void NAME(const void* args_, int64_t begin, int64_t end, int32_t thread) {\n  const "
                  "NAME_args* const a = args_;\n  (void)thread;\n"
                  "  for (int64_t plane = begin; plane < end; ++plane)\n    for (int c = 0; c < 16; c += TV_LANES) {\n "
                  "     const float* x = a->x + plane * a->pixels * 16 + c;\n"
                  "      tv_f32 s0 = tv_zero(), s1 = s0, s2 = s0, s3 = s0;\n      int64_t p = 0;\n      for (; p + 4 "
                  "<= a->pixels; p += 4, x += 64) {\n"
                  "        s0 = tv_add(s0, tv_load(x));\n        s1 = tv_add(s1, tv_load(x + 16));\n        s2 = "
                  "tv_add(s2, tv_load(x + 32));\n        s3 = tv_add(s3, tv_load(x + 48));\n      }\n"
                  "      for (; p < a->pixels; ++p, x += 16) s0 = tv_add(s0, tv_load(x));\n"
                  "      tv_store(a->y + plane * 16 + c, tv_div(tv_add(tv_add(s0, s1), tv_add(s2, s3)), "
                  "tv_set1((float)a->pixels)));\n    }\n}\n",
                  {std::string(lowering.target().isa_header)}};
  std::vector<Arg> args = {{"", "x", lowering.in(node.inputs[0])},
                           {"", "y", lowering.out(node.outputs[0])},
                           {"", "pixels", lowering.size(in[2] * in[3])}};
  lowering.launch(text, args, in[0] * in[1], ir::product(in));
  return {};
}

}  // namespace

extern const Family kPoolFamily, kGlobalPoolFamily;
const Family kPoolFamily = {.name = "pool", .claims = claims_window, .lower = lower_window};
const Family kGlobalPoolFamily = {.name = "global_pool", .claims = claims_global, .lower = lower_global};

}  // namespace tvc::codegen
