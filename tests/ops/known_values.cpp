// SPDX-License-Identifier: Apache-2.0
// Operators on numbers whose results ONNX Runtime (or, where it has no such kernel, ONNX's reference) gave.
#include <doctest/doctest.h>

#include <cmath>

#include "ops/op_def.h"
#include "ops/sample.h"

using namespace tvc;
using namespace tvc::tests;

namespace {

struct Row {
  const char *op, *sample, *result;
};

constexpr Row kRows[] = {
    {"Abs", "i32[3]{-5, 0, 7}", "i32[3]{5, 0, 7}"},
    {"Acosh", "f32[2]{1, 2}", "f32[2]{0, 1.316958}"},
    {"Asin", "f32[2]{-1, 0.5}", "f32[2]{-1.5707964, 0.52359879}"},
    {"Atan", "f32[2]{-1, 0.5}", "f32[2]{-0.78539819, 0.4636476}"},
    {"Atanh", "f32[2]{-0.5, 0.25}", "f32[2]{-0.54930615, 0.25541282}"},
    {"Erf", "f32[4]{-3, -0.5, 0, 0.7}", "f32[4]{-0.99997789, -0.52049989, 0, 0.67780119}"},
    {"Exp", "f32[4]{-100, -1, 0, 5}", "f32[4]{3.7835059e-44, 0.36787945, 1, 148.41316}"},
    {"Log", "f32[3]{0, 1, 10}", "f32[3]{-inf, 0, 2.3025851}"},
    {"Round", "f32[5]{-1.5, -0.5, 0.5, 1.5, 2.3}", "f32[5]{-2, -0, 0, 2, 2}"},
    {"Sign", "f32[3]{-2, 0, 3}", "f32[3]{-1, 0, 1}"},
    {"Sigmoid", "f32[4]{-90, -1, 0, 30}", "f32[4]{0, 0.26894143, 0.5, 1}"},
    {"Tanh", "f32[4]{-20, -0.3, 0, 1}", "f32[4]{-1, -0.29131261, 0, 0.76159418}"},
    {"IsInf", "f32[4]{-inf, 1, inf, nan} | detect_negative=0", "bool[4]{0, 0, 1, 0}"},
    {"IsNaN", "f32[3]{-inf, 1, nan}", "bool[3]{0, 0, 1}"},
    {"Not", "bool[2]{0, 1}", "bool[2]{1, 0}"},
    {"BitwiseNot", "u8[2]{0, 5}", "u8[2]{255, 250}"},
    {"Elu", "f32[3]{-1, 0, 2} | alpha=0.5", "f32[3]{-0.31606027, 0, 2}"},
    {"Selu", "f32[3]{-1, 0, 2}", "f32[3]{-1.1113307, 0, 2.101402}"},
    {"Celu", "f32[3]{-1, 0, 2} | alpha=2.0", "f32[3]{-0.78693867, 0, 2}"},
    {"HardSigmoid", "f32[3]{-3, 0.5, 4}", "f32[3]{0, 0.60000002, 1}"},
    {"HardSwish", "f32[3]{-4, 1, 4}", "f32[3]{-0, 0.66666669, 4}"},
    {"Mish", "f32[3]{-1, 0, 2}", "f32[3]{-0.30340144, 0, 1.943959}"},
    {"Softplus", "f32[4]{-200, -1, 0, 200}", "f32[4]{0, 0.31326169, 0.69314718, 200}"},
    {"Softsign", "f32[3]{-1, 0, 3}", "f32[3]{-0.5, 0, 0.75}"},
    {"Gelu", "f32[3]{-1, 0.5, 3}", "f32[3]{-0.15865526, 0.34573123, 2.9959502}"},
    {"Gelu", "f32[3]{-1, 0.5, 3} | approximate=\"tanh\"", "f32[3]{-0.15880796, 0.345714, 2.9963627}"},
    {"com.microsoft.QuickGelu", "f32[3]{-1, 0.5, 3}", "f32[3]{-0.15420422, 0.35038841, 2.9819288}"},
    {"Shrink", "f32[5]{-2, -1, 0, 1, 2} | lambd=1.5 bias=1.0", "f32[5]{-1, 0, 0, 0, 1}"},
    {"LeakyRelu", "f32[2]{-10, 10}", "f32[2]{-0.099999994, 10}"},
    {"ThresholdedRelu", "f32[3]{0.5, 1, 2}", "f32[3]{0, 0, 2}"},
    {"PRelu", "f32[2,2]{-1, -2, -3, 4}, f32[2]{0.5, 0.1}", "f32[2, 2]{-0.5, -0.2, -1.5, 4}"},
    {"Clip", "f32[3]{-1, 0.5, 2}, _, f32[]{1}", "f32[3]{-1, 0.5, 1}"},
    {"Clip", "i64[3]{-1, 5, 20}, i64[]{0}, i64[]{10}", "i64[3]{0, 5, 10}"},
    {"Add", "f32[2,1]{1, 2}, f32[3]{10, 20, 30}", "f32[2, 3]{11, 21, 31, 12, 22, 32}"},
    {"Sub", "u8[2]{3, 1}, u8[2]{1, 2}", "u8[2]{2, 255}"},
    {"Div", "i32[4]{7, -7, 7, -7}, i32[4]{2, 2, -2, -2}", "i32[4]{3, -3, -3, 3}"},
    {"Mod", "i32[4]{7, -7, 7, -7}, i32[4]{3, 3, -3, -3}", "i32[4]{1, 2, -2, -1}"},
    {"Mod", "f32[2]{-5.3, 5.3}, f32[2]{2, -2} | fmod=1", "f32[2]{-1.3000002, 1.3000002}"},
    {"Pow", "f32[3]{2, 3, 4}, i64[3]{3, 2, -1}", "f32[3]{8, 9, 0.25}"},
    {"Pow", "i32[3]{2, -3, 4}, i32[3]{10, 3, 0}", "i32[3]{1024, -27, 1}"},
    {"Min", "f32[3]{1, nan, 3}, f32[3]{2, 2, 2}", "f32[3]{1, nan, 2}"},
    {"Mean", "f32[2]{1, 2}, f32[2]{3, 4}, f32[1]{8}", "f32[2]{4, 4.666667}"},
    {"BitShift", "u8[3]{16, 4, 1}, u8[3]{1, 2, 3} | direction=\"RIGHT\"", "u8[3]{8, 1, 0}"},
    {"Where", "bool[2,1]{1, 0}, i64[2]{1, 2}, i64[2]{3, 4}", "i64[2, 2]{1, 2, 3, 4}"},
    {"Cast", "f32[4]{-1.7, 1.7, 255.9, 3} | to=6", "i32[4]{-1, 1, 255, 3}"},
    {"Cast", "i32[3]{200, -1, 70000} | to=3", "i8[3]{-56, -1, 112}"},
    {"Cast", "f32[2]{65520, 1e-8} | to=10", "f16[2]{inf, 0}"},
    {"Cast", "f32[3]{0, -0.1, 2} | to=9", "bool[3]{0, 1, 1}"},
    {"QuantizeLinear", "f32[6]{0, 2, 3, 1000, -254, -1000}, f32[]{2}, u8[]{128}", "u8[6]{128, 129, 130, 255, 1, 0}"},
    {"QuantizeLinear", "f32[2,2]{1, 5, -4, 2.5}, f32[2]{2, 1}, i8[2]{0, 1} | axis=0", "i8[2, 2]{0, 2, -3, 3}"},
    {"DequantizeLinear", "u8[4]{0, 3, 128, 255}, f32[]{2}, u8[]{128}", "f32[4]{-256, -250, 0, 254}"},
    {"DequantizeLinear", "i8[2,2]{1, 2, 3, 4}, f32[2]{0.5, 4} | axis=1", "f32[2, 2]{0.5, 8, 1.5, 16}"},
    {"Slice", "f32[3]{1, 2, 3}, i64[1]{-1}, i64[1]{9.2e18}, i64[1]{0}, i64[1]{-1}", "f32[0]{}"},
    {"Slice", "f32[3]{1, 2, 3}, i64[1]{9e18}, i64[1]{-9e18}, i64[1]{0}, i64[1]{-2}", "f32[2]{3, 1}"},
    {"Slice", "f32[3]{1, 2, 3}, i64[1]{-9}, i64[1]{-9}, i64[1]{0}, i64[1]{-1}", "f32[1]{1}"},
    {"Resize",
     "f32[10]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, _, _, i64[1]{6} | nearest_mode=\"round_prefer_ceil\"",
     "f32[6]{0, 2, 4, 5, 7, 9}"},
    {"Resize",
     "f32[14]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, _, _, i64[1]{1} | nearest_mode=\"round_prefer_ceil\"",
     "f32[1]{7}"},
    {"Resize", "f32[5]{0, 10, 20, 30, 40}, _, f32[1]{0.6} | mode=\"linear\" antialias=1", "f32[3]{3.75, 20, 36.25}"},
    {"DynamicQuantizeLinear", "f32[6]{0, 2, -3, -2.5, 1.34, 0.5}", "u8[6]{153, 255, 0, 26, 221, 179}"},
    {"QLinearMatMul",
     "u8[2,4]{208, 236, 0, 238, 3, 214, 255, 29}, f32[]{0.0066}, u8[]{113}, u8[4,2]{152, 51, 60, 26, 0, 127, 127, 254}, "
     "f32[2]{0.00705, 0.01}, u8[2]{114, 100}, f32[]{0.0107}, u8[]{118}",
     "u8[2,2]{168, 133, 1, 49}"},
    {"QLinearConv",
     "u8[1,1,3,3]{20, 40, 60, 80, 100, 120, 140, 160, 180}, f32[]{0.5}, u8[]{60}, "
     "u8[2,1,2,2]{1, 255, 30, 4, 100, 60, 90, 7}, f32[2]{0.1, 0.02}, u8[2]{50, 50}, f32[]{13.7}, u8[]{100}, "
     "i32[2]{10, -2000} | pads=[1,0,0,1]",
     "u8[1,2,3,3]{106, 101, 100, 84, 91, 96, 104, 110, 81, 98, 98, 99, 96, 97, 100, 99, 100, 104}"},
    {"ReduceSum", "f32[2,3]{1, 2, 3, 4, 5, 6}, i64[1]{-1} | keepdims=0", "f32[2]{6, 15}"},
    {"ReduceMean", "f32[2,3]{1, 2, 3, 4, 5, 6}, i64[1]{0}", "f32[1, 3]{2.5, 3.5, 4.5}"},
    {"ReduceMax", "i32[2,2]{-5, -2, 3, 1}, i64[1]{1}", "i32[2, 1]{-2, 3}"},
    {"ReduceProd", "f32[4]{1, 2, 3, 4}", "f32[1]{24}"},
    {"ReduceL1", "f32[2,2]{-1, 2, -3, 4}, i64[1]{1}", "f32[2, 1]{3, 7}"},
    {"ReduceL2", "f32[2,2]{3, 4, 5, 12}, i64[1]{1}", "f32[2, 1]{5, 13}"},
    {"ReduceLogSumExp", "f32[3]{1000, 1000, -1000}", "f32[1]{1000.6932}"},
    {"ReduceSumSquare", "i32[3]{1, 2, 3}", "i32[1]{14}"},
    {"ReduceMax", "f32[0,2]{}, i64[1]{0}", "f32[1, 2]{-inf, -inf}"},
    {"ReduceSum", "f32[2]{1, 2}, i64[0]{} | noop_with_empty_axes=1", "f32[2]{1, 2}"},
    {"ArgMax", "f32[2,3]{1, 3, 3, 2, 0, 1} | axis=1 keepdims=0", "i64[2]{1, 0}"},
    {"ArgMax", "f32[2,3]{1, 3, 3, 2, 0, 1} | axis=1 keepdims=0 select_last_index=1", "i64[2]{2, 0}"},
    {"ArgMin", "i32[3]{4, -1, -1}", "i64[1]{1}"},
    {"CumSum", "f32[4]{1, 2, 3, 4}, i64[]{0} | exclusive=1", "f32[4]{0, 1, 3, 6}"},
    {"CumSum", "i32[2,2]{1, 2, 3, 4}, i64[]{-1} | reverse=1", "i32[2, 2]{3, 2, 7, 4}"},
    {"Softmax", "f32[2,3]{1, 2, 3, 1000, 1000, 0}", "f32[2, 3]{0.090030573, 0.24472848, 0.66524094, 0.5, 0.5, 0}"},
    {"Softmax", "f32[2,2]{1, 2, 3, 5} | axis=0", "f32[2, 2]{0.11920291, 0.047425874, 0.88079703, 0.95257413}"},
    {"LogSoftmax", "f32[3]{0, 1, -1000}", "f32[3]{-1.3132616, -0.31326166, -1001.3132}"},
    {"Hardmax", "f32[2,3]{1, 3, 3, 2, 0, 1}", "f32[2, 3]{0, 1, 0, 1, 0, 0}"},
    {"LpNormalization", "f32[2,2]{3, 4, 0, 0} | p=2", "f32[2, 2]{0.60000002, 0.80000001, 0, 0}"},
    {"LayerNormalization", "f32[2,2]{1, 3, 10, 30}, f32[2]{1, 2}, f32[2]{0, 1}",
     "f32[2, 2]{-0.99999499, 2.99999, -1, 3}"},
    {"RMSNormalization", "f32[1,2]{3, 4}, f32[2]{1, 2}", "f32[1, 2]{0.84852779, 2.2627409}"},
    {"InstanceNormalization", "f32[1,2,2]{1, 3, 10, 30}, f32[2]{1, 2}, f32[2]{0, 1}",
     "f32[1, 2, 2]{-0.99999499, 0.99999499, -1, 3}"},
    {"GroupNormalization", "f32[1,2,2]{1, 3, 10, 30}, f32[2]{1, 2}, f32[2]{0, 1} | num_groups=1",
     "f32[1, 2, 2]{-0.8720414, -0.69763315, 0.82559168, 4.3137574}"},
    {"BatchNormalization", "f32[1,2,2]{1, 3, 10, 30}, f32[2]{1, 2}, f32[2]{0, 1}, f32[2]{2, 10}, f32[2]{4, 100}",
     "f32[1, 2, 2]{-0.4999994, 0.4999994, 1, 5}"},
    {"LRN", "f32[1,3,1,1]{1, 2, 3} | size=3 alpha=1.0", "f32[1, 3, 1, 1]{0.47920731, 0.54454559, 0.85481513}"},
};

}  // namespace

TEST_CASE("known values") {
  for (const Row& row : kRows) {
    CAPTURE(row.op);
    CAPTURE(row.sample);
    auto sample = read_sample(row.sample, Seeded(1));
    auto wanted = read_sample(row.result, Seeded(1));
    REQUIRE_MESSAGE(sample.ok(), sample.error().text());
    REQUIRE_MESSAGE(wanted.ok(), wanted.error().text());
    ir::Module module;
    ir::NodeId id = add_sample(module, row.op, *sample, 1,
                               [&](const ir::Tensor& tensor) { return ir::add_constant(module, "", tensor); });
    std::vector<const ir::Tensor*> inputs;
    for (const auto& tensor : sample->operands) inputs.push_back(tensor ? &*tensor : nullptr);
    auto results = ops::evaluate(module, id, inputs);
    REQUIRE_MESSAGE(results.ok(), results.error().text());
    const ir::Tensor &got = results->at(0), &want = *wanted->operands[0];
    CHECK(got.dtype == want.dtype);
    REQUIRE(got.dims == want.dims);
    auto a = ir::to_f64(got), b = ir::to_f64(want);
    for (size_t k = 0; k < a.size(); ++k) {
      const bool same = a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k])) ||
                        std::abs(a[k] - b[k]) <= 1e-6 + 2e-6 * std::abs(b[k]);
      CHECK_MESSAGE(same, k, ": ", a[k], " instead of ", b[k]);
    }
  }
}

TEST_CASE("too large results, wrong axes and random numbers are refused") {
  auto evaluate = [](const char* op, std::string_view text) {
    auto sample = read_sample(text, Seeded(1));
    REQUIRE(sample.ok());
    ir::Module module;
    ir::NodeId id = add_sample(module, op, *sample, 1,
                               [&](const ir::Tensor& tensor) { return ir::add_constant(module, "", tensor); });
    std::vector<const ir::Tensor*> inputs;
    for (const auto& tensor : sample->operands) inputs.push_back(&*tensor);
    return ops::evaluate(module, id, inputs);
  };
  auto large = evaluate("Expand", "f32[1]{0}, i64[2]{100000, 100000}");
  REQUIRE_FALSE(large.ok());
  CHECK(large.error().code == ErrorCode::kUnsupported);
  auto axis = evaluate("ReduceSum", "f32[2]{1, 2}, i64[1]{1}");
  REQUIRE_FALSE(axis.ok());
  CHECK(axis.error().code == ErrorCode::kBadInput);
  auto random = evaluate("Bernoulli", "f32[2]{0.5, 0.5}");
  REQUIRE_FALSE(random.ok());
  CHECK(random.error().code == ErrorCode::kUnsupported);
}
