// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax along the last axis, a row at a time: its maximum, then exponentials and their sum, then the
// division, while the row lies in the first cache. An epilogue before it is not taken: that is the producer's business.
#include "codegen/lower.h"
#include "ops/op_def.h"

namespace tvc::codegen {
namespace {

bool claims(const ir::Module& module, ir::NodeId id, const Target& target) {
  const ir::Node& node = module.node(id);
  if (target.isa_header.empty() || (node.op != "Softmax" && node.op != "LogSoftmax")) return false;
  const ir::Type& type = module.value(node.inputs[0]).type;
  const int64_t axis = node.i("axis", -1), rank = type.rank();
  return type.dtype == ir::DType::kF32 && rank > 0 && (axis == -1 || axis == rank - 1);
}

KernelText kernel_text(bool logarithm, const Target& target) {
  const std::string head =
      "typedef struct NAME_args {\n  const float* x;\n  float* y;\n  int64_t size;\n} NAME_args;\n"
      "static void NAME(const void* args_, int64_t begin, int64_t end, int32_t thread) {\n  const NAME_args* const a = "
      "args_;\n  (void)thread;\n"
      "  const int64_t n = a->size, whole = n - n % TV_LANES;\n"
      "  for (int64_t row = begin; row < end; ++row) {\n    const float* const x = a->x + row * n;\n    float* const y "
      "= a->y + row * n;\n"
      "    tv_f32 most = tv_set1(-INFINITY);\n    for (int64_t i = 0; i < whole; i += TV_LANES) most = tv_max(most, "
      "tv_load(x + i));\n"
      "    float highest = tv_max_lane(most);\n    for (int64_t i = whole; i < n; ++i) highest = x[i] > highest ? x[i] "
      ": highest;\n"
      "    const tv_f32 shift = tv_set1(highest);\n    tv_f32 sum = tv_zero();\n";
  const std::string soft =
      "    for (int64_t i = 0; i < whole; i += TV_LANES) {\n      const tv_f32 e = tv_exp(tv_sub(tv_load(x + i), "
      "shift));\n      tv_store(y + i, e);\n      sum = tv_add(sum, e);\n    }\n"
      "    float total = tv_sum(sum);\n    if (whole < n) {\n      const tv_f32 e = tv_exp(tv_sub(tv_load_n(x + whole, "
      "n - whole), shift));\n      tv_store_n(y + whole, n - whole, e);\n"
      "      for (int64_t i = whole; i < n; ++i) total += y[i];\n    }\n"
      "    const tv_f32 divisor = tv_set1(total);\n    for (int64_t i = 0; i < whole; i += TV_LANES) tv_store(y + "
      "i, tv_div(tv_load(y + i), divisor));\n"
      "    for (int64_t i = whole; i < n; ++i) y[i] /= total;\n  }\n}\n";
  const std::string log =
      "    for (int64_t i = 0; i < whole; i += TV_LANES) sum = tv_add(sum, tv_exp(tv_sub(tv_load(x + i), shift)));\n"
      "    float total = tv_sum(sum);\n    if (whole < n) {\n      float last[TV_LANES];\n      tv_store(last, "
      "tv_exp(tv_sub(tv_load_n(x + whole, n - whole), shift)));\n"
      "      for (int64_t i = 0; i < n - whole; ++i) total += last[i];\n    }\n"
      "    const float base = highest + tv_log_scalar(total);\n    for (int64_t i = 0; i < whole; i += TV_LANES) "
      "tv_store(y + i, tv_sub(tv_load(x + i), tv_set1(base)));\n"
      "    for (int64_t i = whole; i < n; ++i) y[i] = x[i] - base;\n  }\n}\n";
  std::string text = head + (logarithm ? log : soft);
  if (size_t at = text.find("tv_log_scalar(total)"); at != std::string::npos)
    text.replace(at, 20, "tv_max_lane(tv_log(tv_set1(total)))");
  return {logarithm ? "log_softmax" : "softmax", std::move(text), {std::string(target.isa_header), "isa/math.h"}};
}

Result<void> lower(Lowering& lowering, ir::NodeId id) {
  const ir::Node& node = lowering.module().node(id);
  const ir::Shape& shape = lowering.module().value(node.inputs[0]).type.shape;
  const ir::Shape outer(shape.begin(), shape.end() - 1);
  std::vector<Arg> args = {{"", "x", lowering.in(node.inputs[0])},
                           {"", "y", lowering.out(node.outputs[0])},
                           {"", "size", lowering.size(shape.back())}};
  lowering.launch(kernel_text(node.op == "LogSoftmax", lowering.target()), args, ir::product(outer),
                  ir::product(shape) * ir::Dim(16));
  return {};
}

int in_place(const ir::Module&, ir::NodeId) { return 0; }

}  // namespace

extern const Family kSoftmaxFamily;
const Family kSoftmaxFamily = {.name = "softmax", .claims = claims, .lower = lower, .in_place = in_place};

}  // namespace tvc::codegen
