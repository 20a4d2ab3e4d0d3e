// SPDX-License-Identifier: Apache-2.0
#include "passes/run_module.h"

using namespace tvc;

TEST_CASE("what surrounds a convolution follows it into the blocked layout") {
  ir::Module module = check_pass(passes::choose_layout, R"(graph 0 "m"(%0 "x": f32[1, 20, 6, 7]) {
    %1: f32[32, 20, 3, 3] = const random(1)
    %2: f32[32, 1, 3, 3] = const random(2)
    %3: f32[32, 1, 1] = const random(3)
    %4: i64[2] = const {16, 16}
    %5: f32[] = Conv(%0, %1) {pads: [1, 1, 1, 1]}
    %6: f32[] = Relu(%5)
    %7: f32[] = Conv(%6, %2) {group: 32, pads: [1, 1, 1, 1]}
    %8: f32[] = Mul(%7, %3)
    %9: f32[], %10: f32[] = Split(%8, %4) {axis: 1}
    %11: f32[] = Concat(%10, %9) {axis: 1}
    %12: f32[] = MaxPool(%11) {kernel_shape: [2, 2], strides: [2, 2]}
    %13: f32[] = GlobalAveragePool(%12)
    %14 "y": f32[] = Mul(%12, %13)
    return %14
  })",
                                 9);
  CHECK(run_pass(passes::remove_dead_code, module) > 0);
  CHECK(count_nodes(module, "tvc.ConvBlocked") == 2);
  CHECK(count_nodes(module, "tvc.ToBlocked") == 1);
  CHECK(count_nodes(module, "tvc.FromBlocked") == 1);
  CHECK(count_nodes(module, "Conv") == 0);
}

TEST_CASE("channels that do not fill the last block, one-dimensional convolutions, and readers of the planar form") {
  ir::Module module = check_pass(passes::choose_layout, R"(graph 0 "m"(%0 "x": f32[2, 5, 9]) {
    %1: f32[7, 5, 3] = const random(1)
    %2: f32[7] = const random(2)
    %3 "c": f32[] = Conv(%0, %1, %2) {pads: [1, 1]}
    %4: f32[] = Sigmoid(%3)
    %5 "y": f32[] = Transpose(%4)
    return %5, %3
  })",
                                 2);
  CHECK(module.value(module.main().outputs[1]).name == "c");
}

TEST_CASE("a convolution with weights of the run stays planar") {
  check_pass(passes::choose_layout, R"(graph 0 "m"(%0 "x": f32[1, 4, 4, 4], %1 "w": f32[4, 4, 1, 1]) {
    %2 "y": f32[] = Conv(%0, %1)
    return %2
  })",
             0);
}

TEST_CASE("one plane for all channels, made by a convolution, as in spatial attention") {
  ir::Module module = check_pass(passes::choose_layout, R"(graph 0 "m"(%0 "x": f32[1, 16, 6, 7]) {
    %1: f32[20, 16, 1, 1] = const random(1)
    %2: f32[1, 20, 3, 3] = const random(2)
    %3: f32[] = Conv(%0, %1)
    %4: f32[] = Conv(%3, %2) {pads: [1, 1, 1, 1]}
    %5: f32[] = Sigmoid(%4)
    %6 "y": f32[] = Mul(%3, %5)
    return %6
  })",
                                 4);
  CHECK(count_nodes(module, "Conv") == 0);
}
