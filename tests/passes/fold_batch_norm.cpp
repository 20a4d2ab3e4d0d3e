// SPDX-License-Identifier: Apache-2.0
#include "passes/run_module.h"

using namespace tvc;

namespace {

// %3 to %6: scale, bias, mean and variance of four channels.
const std::string kParameters = R"(
  %3: f32[4] = const {1, -2, 0.5, 3}
  %4: f32[4] = const {0.1, 0.2, -0.3, 0}
  %5: f32[4] = const {1, 0, -1, 0.5}
  %6: f32[4] = const {1, 0.25, 4, 2}
)";

std::string model(const std::string& body, const std::string& input = "f32[1, 4, 5, 6]") {
  return "graph 0 \"m\"(%0 \"x\": " + input + ") {" + kParameters + body + "}\n";
}

}  // namespace

TEST_CASE("batch normalisation goes into a convolution, grouped and asymmetric too") {
  for (const char* conv : {"Conv(%0, %1)", "Conv(%0, %1, %2)", "Conv(%0, %7) {group: 2, pads: [1, 0, 0, 1]}"}) {
    CAPTURE(conv);
    auto module = check_pass(passes::fold_batch_norm, model(std::string(R"(
      %1: f32[4, 4, 3, 3] = const random(1)
      %7: f32[4, 2, 3, 2] = const random(2)
      %2: f32[4] = const {1, 2, 3, 4}
      %8: f32[] = )") + conv + R"(
      %9 "y": f32[] = BatchNormalization(%8, %3, %4, %5, %6) {epsilon: 0.01}
      return %9
    )"),
                             1);
    CHECK(count_nodes(module, "BatchNormalization") == 0);
    CHECK(module.value(module.main().outputs[0]).name == "y");
  }
}

TEST_CASE("batch normalisation goes into a transposed convolution with groups, and into Gemm") {
  check_pass(passes::fold_batch_norm, model(R"(
    %1: f32[4, 2, 2, 2] = const random(1)
    %8: f32[] = ConvTranspose(%0, %1) {group: 2, strides: [2, 2]}
    %9 "y": f32[] = BatchNormalization(%8, %3, %4, %5, %6)
    return %9
  )"),
             1);
  check_pass(passes::fold_batch_norm,
             model(R"(
    %1: f32[4, 3] = const random(1)
    %8: f32[] = Gemm(%0, %1) {transB: 1}
    %9 "y": f32[] = BatchNormalization(%8, %3, %4, %5, %6)
    return %9
  )",
                   "f32[2, 3]"),
             1);
}

TEST_CASE("shared weights stay as they are for their other reader") {
  auto module = check_pass(passes::fold_batch_norm, model(R"(
    %1: f32[4, 4, 1, 1] = const random(1)
    %8: f32[] = Conv(%0, %1)
    %9 "y": f32[] = BatchNormalization(%8, %3, %4, %5, %6)
    %10 "z": f32[] = Conv(%0, %1)
    return %9, %10
  )"),
                           1);
  CHECK(count_nodes(module, "Conv") == 2);
}

TEST_CASE(
    "a convolution that is read elsewhere, is an output, or is captured by a body keeps its batch normalisation") {
  check_pass(passes::fold_batch_norm, model(R"(
    %1: f32[4, 4, 1, 1] = const random(1)
    %8: f32[] = Conv(%0, %1)
    %9 "y": f32[] = BatchNormalization(%8, %3, %4, %5, %6)
    %10 "z": f32[] = Relu(%8)
    return %9, %10
  )"),
             0);
  check_pass(passes::fold_batch_norm, model(R"(
    %1: f32[4, 4, 1, 1] = const random(1)
    %8 "c": f32[] = Conv(%0, %1)
    %9 "y": f32[] = BatchNormalization(%8, %3, %4, %5, %6)
    return %8, %9
  )"),
             0);
  ir::Module captured =
      parsed_module("graph 0 \"m\"(%0 \"x\": f32[1, 4, 2, 2], %20 \"c\": bool[]) {" + kParameters + R"(
    %1: f32[4, 4, 1, 1] = const random(1)
    %8: f32[] = Conv(%0, %1)
    %9 "y": f32[] = BatchNormalization(%8, %3, %4, %5, %6)
    %10 "z": f32[] = If(%20) {then_branch: graph 1, else_branch: graph 2}
    return %9, %10
  }
  graph 1 "t"() { %11: f32[] = Relu(%8) return %11 }
  graph 2 "e"() { %12: f32[] = Neg(%0) return %12 })");
  CHECK(run_pass(passes::fold_batch_norm, captured) == 0);
}
