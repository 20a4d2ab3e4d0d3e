// SPDX-License-Identifier: Apache-2.0
#include "passes/run_module.h"

using namespace tvc;

TEST_CASE("RepVGG's three branches become one convolution") {
  auto module = check_pass(passes::merge_parallel_convolutions, R"(graph 0 "m"(%0 "x": f32[1, 4, 5, 6]) {
    %1: f32[4, 4, 3, 3] = const random(1)
    %2: f32[4, 4, 1, 1] = const random(2)
    %3: f32[4] = const {1, 2, 0.5, 3}
    %4: f32[4] = const {0.1, 0.2, -0.3, 0}
    %5: f32[4] = const {1, 0, -1, 0.5}
    %6: f32[4] = const {1, 0.25, 4, 2}
    %7: f32[] = Conv(%0, %1, %4) {pads: [1, 1, 1, 1]}
    %8: f32[] = Conv(%0, %2)
    %9: f32[] = BatchNormalization(%0, %3, %4, %5, %6)
    %10: f32[] = Add(%7, %8)
    %11: f32[] = Add(%10, %9)
    %12 "y": f32[] = Relu(%11)
    return %12
  })",
                           1);
  CHECK(count_nodes(module, "Conv") == 1);
  CHECK(module.main().nodes.size() == 2);
}

TEST_CASE("the input itself is a branch, in groups too; asymmetric kernels are placed where their padding says") {
  check_pass(passes::merge_parallel_convolutions, R"(graph 0 "m"(%0 "x": f32[1, 4, 5, 6]) {
    %1: f32[4, 2, 3, 3] = const random(1)
    %7: f32[] = Conv(%0, %1) {group: 2, pads: [1, 1, 1, 1]}
    %8 "y": f32[] = Add(%0, %7)
    return %8
  })",
             1);
  check_pass(passes::merge_parallel_convolutions, R"(graph 0 "m"(%0 "x": f32[1, 3, 5, 6]) {
    %1: f32[4, 3, 3, 3] = const random(1)
    %2: f32[4, 3, 1, 3] = const random(2)
    %3: f32[4, 3, 3, 1] = const random(3)
    %7: f32[] = Conv(%0, %1) {pads: [1, 1, 1, 1], strides: [2, 2]}
    %8: f32[] = Conv(%0, %2) {pads: [0, 1, 0, 1], strides: [2, 2]}
    %9: f32[] = Conv(%0, %3) {pads: [1, 0, 1, 0], strides: [2, 2]}
    %10 "y": f32[] = Sum(%7, %8, %9)
    return %10
  })",
             1);
}

TEST_CASE("branches over other inputs, of other strides, or with another reader stay apart") {
  for (const char* branch : {"Conv(%5, %2)", "Conv(%0, %3) {strides: [2, 2], pads: [2, 2, 3, 3]}"}) {
    CAPTURE(branch);
    check_pass(passes::merge_parallel_convolutions,
               std::string(R"(graph 0 "m"(%0 "x": f32[1, 4, 4, 4], %5 "z": f32[1, 4, 4, 4]) {
      %1: f32[4, 4, 3, 3] = const random(1)
      %2: f32[4, 4, 1, 1] = const random(2)
      %3: f32[4, 4, 3, 3] = const random(3)
      %7: f32[] = Conv(%0, %1) {pads: [1, 1, 1, 1]}
      %8: f32[] = )") +
                   branch + R"(
      %9 "y": f32[] = Add(%7, %8)
      return %9
    })",
               0);
  }
  check_pass(passes::merge_parallel_convolutions, R"(graph 0 "m"(%0 "x": f32[1, 4, 4, 4]) {
    %1: f32[4, 4, 3, 3] = const random(1)
    %2: f32[4, 4, 1, 1] = const random(2)
    %7: f32[] = Conv(%0, %1) {pads: [1, 1, 1, 1]}
    %8 "c": f32[] = Conv(%0, %2)
    %9 "y": f32[] = Add(%7, %8)
    return %9, %8
  })",
             0);
}
