// SPDX-License-Identifier: Apache-2.0
// LayerNormalization and RMSNormalization over the last axes in f32, a row at a time while it lies in the first cache:
// the mean, then the mean square of the differences (not E[x^2] - E[x]^2, which cancels), then the result.
#include "codegen/contraction/tasks.h"
#include "codegen/lower.h"

namespace tvc::codegen {
namespace {

size_t first_axis(const ir::Module& module, const ir::Node& node) {
  const int64_t rank = module.value(node.inputs[0]).type.rank(), axis = node.i("axis", -1);
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

// One number for each place of the normalised axes.
bool is_row(const ir::Module& module, ir::ValueId value, const ir::Shape& x, size_t axis) {
  const ir::Type& type = module.value(value).type;
  return type.dtype == ir::DType::kF32 && type.shape == ir::Shape(x.begin() + static_cast<ptrdiff_t>(axis), x.end());
}

bool claims(const ir::Module& module, ir::NodeId id, const Target& target) {
  const ir::Node& node = module.node(id);
  if (target.isa_header.empty() || (node.op != "LayerNormalization" && node.op != "RMSNormalization")) return false;
  const ir::Type& x = module.value(node.inputs[0]).type;
  if (x.dtype != ir::DType::kF32 || x.rank() == 0 || node.output(1) != ir::kNone || node.output(2) != ir::kNone)
    return false;
  const size_t axis = first_axis(module, node);
  if (!is_row(module, node.inputs[1], x.shape, axis)) return false;
  return node.input(2) == ir::kNone || is_row(module, node.inputs[2], x.shape, axis);
}

// Statements over a row, `body` for whole vectors and for the rest: LOAD(p) and STORE(p, v) of the place i.
std::string over_row(std::string_view body, bool rest_in_vector = true) {
  auto with = [&](std::string_view load, std::string_view store) {
    std::string out(body);
    for (auto [from, to] : {std::pair("LOAD(", load), std::pair("STORE(", store)})
      for (size_t at = 0; (at = out.find(from, at)) != std::string::npos; at += to.size())
        out.replace(at, std::string_view(from).size(), to);
    return out;
  };
  std::string text =
      fmt::format("    for (int64_t i = 0; i < whole; i += TV_LANES) {{\n{}    }}\n", with("tv_load(", "tv_store("));
  if (rest_in_vector)
    text +=
        fmt::format("    if (whole < n) {{\n      const int64_t i = whole;\n{}    }}\n", with("LOAD_N(", "STORE_N("));
  return text;
}

KernelText kernel_text(bool centred, bool biased, const Target& target) {
  std::string text = "typedef struct NAME_args {\n  const float* x;\n  const float* scale;\n";
  if (biased) text += "  const float* bias;\n";
  text +=
      "  float* y;\n  int64_t size;\n  float epsilon;\n} NAME_args;\n"
      "#define LOAD_N(p) tv_load_n(p, n - whole)\n#define STORE_N(p, v) tv_store_n(p, n - whole, v)\n"
      "static void NAME(const void* args_, int64_t begin, int64_t end, int32_t thread) {\n"
      "  const NAME_args* const a = args_;\n  (void)thread;\n"
      "  const int64_t n = a->size, whole = n - n % TV_LANES;\n"
      "  for (int64_t row = begin; row < end; ++row) {\n"
      "    const float* const x = a->x + row * n;\n    float* const y = a->y + row * n;\n"
      "    tv_f32 squares = tv_zero();\n";
  if (centred) {
    text += "    tv_f32 sum = tv_zero();\n" + over_row("      sum = tv_add(sum, LOAD(x + i));\n");
    // Behind the row's end the difference must count as 0, so the rest is summed apart.
    text +=
        "    const tv_f32 mean = tv_set1(tv_sum(sum) / (float)n);\n" +
        over_row("      const tv_f32 d = tv_sub(LOAD(x + i), mean);\n      squares = tv_fma(d, d, squares);\n", false) +
        "    float rest = 0;\n    for (int64_t i = whole; i < n; ++i) rest += (x[i] - tv_max_lane(mean)) * (x[i] - "
        "tv_max_lane(mean));\n";
  } else {
    text += "    const float rest = 0;\n" +
            over_row("      const tv_f32 v = LOAD(x + i);\n      squares = tv_fma(v, v, squares);\n");
  }
  text += "    const tv_f32 factor = tv_set1(1.0f / sqrtf((tv_sum(squares) + rest) / (float)n + a->epsilon));\n";
  std::string body = centred ? "      tv_f32 v = tv_mul(tv_sub(LOAD(x + i), mean), factor);\n"
                             : "      tv_f32 v = tv_mul(LOAD(x + i), factor);\n";
  body += biased ? "      v = tv_fma(v, LOAD(a->scale + i), LOAD(a->bias + i));\n"
                 : "      v = tv_mul(v, LOAD(a->scale + i));\n";
  text += over_row(body + "      STORE(y + i, v);\n") + "  }\n}\n#undef LOAD_N\n#undef STORE_N\n";
  return {centred ? "layer_norm" : "rms_norm", std::move(text), {std::string(target.isa_header), "isa/math.h"}};
}

Result<void> lower(Lowering& lowering, ir::NodeId id) {
  const ir::Module& module = lowering.module();
  const ir::Node& node = module.node(id);
  const ir::Shape& shape = module.value(node.inputs[0]).type.shape;
  const auto axis = shape.begin() + static_cast<ptrdiff_t>(first_axis(module, node));
  const bool centred = node.op == "LayerNormalization", biased = node.input(2) != ir::kNone;
  std::vector<Arg> args = {{"", "x", lowering.in(node.inputs[0])},
                           {"", "scale", lowering.in(node.inputs[1])},
                           {"", "y", lowering.out(node.outputs[0])},
                           {"", "size", lowering.size(ir::product(ir::Shape(axis, shape.end())))},
                           {"", "epsilon", contraction::float_text(node.f("epsilon", 1e-5))}};
  if (biased) args.push_back({"", "bias", lowering.in(node.inputs[2])});
  lowering.launch(kernel_text(centred, biased, lowering.target()), args, ir::product(ir::Shape(shape.begin(), axis)),
                  ir::product(shape) * ir::Dim(4));
  return {};
}

// A row is read before its places are written, and scale and bias are not among them.
int in_place(const ir::Module&, ir::NodeId) { return 0; }

}  // namespace

extern const Family kNormalizationFamily;
const Family kNormalizationFamily = {.name = "normalization", .claims = claims, .lower = lower, .in_place = in_place};

}  // namespace tvc::codegen
