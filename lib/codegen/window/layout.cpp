// SPDX-License-Identifier: Apache-2.0
// Copies between the planar layout [N, C, H, W] and the blocked one [N, C/16, H, W, 16]. A task is a piece of one
// block's plane.
#include "codegen/lower.h"

namespace tvc::codegen {
namespace {

constexpr int kPiece = 1024;  // pixels: the 16 planes' pieces and their block stay in the first cache

bool claims(const ir::Module& module, ir::NodeId id, const Target& target) {
  const ir::Node& node = module.node(id);
  return !target.isa_header.empty() && (node.op == "tvc.ToBlocked" || node.op == "tvc.FromBlocked") &&
         module.value(node.outputs[0]).type.dtype == ir::DType::kF32;
}

KernelText kernel_text(bool to_blocked, const Target& target) {
  const char* head =
      "typedef struct NAME_args {\n  const float* x;\n  float* y;\n  int64_t channels, blocks, pixels, pieces;\n} "
      "NAME_args;\n"
      "static void NAME(const void* args_, int64_t begin, int64_t end, int32_t thread) {\n  const NAME_args* const a = "
      "args_;\n  (void)thread;\n"
      "  for (int64_t task = begin; task < end; ++task) {\n    const int64_t piece = task % a->pieces, plane = task / "
      "a->pieces, image = plane / a->blocks, block = plane % a->blocks;\n"
      "    const int64_t channels = tv_size_min(16, a->channels - block * 16), first = piece * PIECE, count = "
      "tv_size_min(PIECE, "
      "a->pixels - first);\n";
  const char* to =
      "    const float* const x = a->x + (image * a->channels + block * 16) * a->pixels + first;\n    float* const y = "
      "a->y + (plane * a->pixels + first) * 16;\n"
      "    int64_t p = 0;\n    if (channels == 16)\n      for (; p + 8 <= count; p += 8)\n        for (int c = 0; c < "
      "16; c += 8) tv_transpose_8x8(x + c * a->pixels + p, a->pixels, y + p * 16 + c, 16);\n"
      "    for (; p < count; ++p) {\n      for (int64_t c = 0; c < channels; ++c) y[p * 16 + c] = x[c * a->pixels + "
      "p];\n      for (int64_t c = channels; c < 16; ++c) y[p * 16 + c] = 0;\n    }\n  }\n}\n";
  const char* from =
      "    const float* const x = a->x + (plane * a->pixels + first) * 16;\n    float* const y = a->y + (image * "
      "a->channels + block * 16) * a->pixels + first;\n"
      "    int64_t p = 0;\n    if (channels == 16)\n      for (; p + 8 <= count; p += 8)\n        for (int c = 0; c < "
      "16; c += 8) tv_transpose_8x8(x + p * 16 + c, 16, y + c * a->pixels + p, a->pixels);\n"
      "    for (int64_t c = 0; c < channels; ++c)\n      for (int64_t q = p; q < count; ++q) y[c * a->pixels + q] = "
      "x[q * 16 + c];\n  }\n}\n";
  std::string text = std::string(head) + (to_blocked ? to : from);
  for (size_t at; (at = text.find("PIECE")) != std::string::npos;) text.replace(at, 5, std::to_string(kPiece));
  return {
      to_blocked ? "to_blocked" : "from_blocked", std::move(text), {std::string(target.isa_header), "isa/transpose.h"}};
}

Result<void> lower(Lowering& lowering, ir::NodeId id) {
  const ir::Node& node = lowering.module().node(id);
  const bool to_blocked = node.op == "tvc.ToBlocked";
  const ir::Shape& planar = lowering.module().value(to_blocked ? node.inputs[0] : node.outputs[0]).type.shape;
  const ir::Dim blocks = ir::ceil_div(planar[1], 16), pixels = planar[2] * planar[3],
                pieces = ir::ceil_div(pixels, kPiece);
  std::vector<Arg> args = {{"", "x", lowering.in(node.inputs[0])},     {"", "y", lowering.out(node.outputs[0])},
                           {"", "channels", lowering.size(planar[1])}, {"", "blocks", lowering.size(blocks)},
                           {"", "pixels", lowering.size(pixels)},      {"", "pieces", lowering.size(pieces)}};
  lowering.launch(kernel_text(to_blocked, lowering.target()), args, planar[0] * blocks * pieces,
                  planar[0] * blocks * pixels * ir::Dim(16));
  return {};
}

}  // namespace

extern const Family kLayoutFamily;
const Family kLayoutFamily = {.name = "layout", .claims = claims, .lower = lower};

}  // namespace tvc::codegen
