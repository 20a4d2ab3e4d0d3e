// SPDX-License-Identifier: Apache-2.0
#include "passes/run_module.h"

using namespace tvc;

namespace {

std::string model(const std::string& body) {
  return R"(graph 0 "m"(%0 "q": f32[2, 3, 2, 8], %1 "k": f32[2, 5, 2, 8], %2 "v": f32[2, 5, 2, 4], %3 "bias": f32[3, 5]) {
    %4: f32[] = const {0.5}
    %5: bool[1, 1, 1, 5] = const {1, 0, 1, 1, 0}
    %6: f32[] = const {-10000}
    %7: f32[] = const {0}
    %8: f32[2] = const {0.5, 0.25}
    %10 "q heads": f32[] = Transpose(%0) {perm: [0, 2, 1, 3]}
    %11 "k heads": f32[] = Transpose(%1) {perm: [0, 2, 1, 3]}
    %12: f32[] = Transpose(%11) {perm: [0, 1, 3, 2]}
    %13: f32[] = Transpose(%2) {perm: [0, 2, 1, 3]}
)" + body +
         "}\n";
}

const std::string kResult = R"(
    %30: f32[] = MatMul(%29, %13)
    %31 "y": f32[] = Transpose(%30) {perm: [0, 2, 1, 3]}
    return %31
)";

ir::Module attention(const std::string& body) {
  auto module = check_pass(passes::recognise_attention, model(body + kResult), 1);
  CHECK(count_nodes(module, "tvc.Attention") == 1);
  for (const char* op : {"MatMul", "Softmax", "Where", "Add", "IsNaN"}) CHECK(count_nodes(module, op) == 0);
  CHECK(module.value(module.main().outputs[0]).name == "y");
  return module;
}

void refused(const std::string& body) { check_pass(passes::recognise_attention, model(body), 0); }

}  // namespace

TEST_CASE("attention as exporters write it becomes one node") {
  SUBCASE("plain") {
    attention("%14 \"scores\": f32[] = MatMul(%10, %12)\n%29 \"weights\": f32[] = Softmax(%14) {axis: -1}");
  }
  SUBCASE("scaled on either operand and on the scores") {
    auto module = attention(R"(
      %14: f32[] = Mul(%10, %4)
      %15: f32[] = Div(%12, %4)
      %16: f32[] = MatMul(%14, %15)
      %17: f32[] = Mul(%4, %16)
      %29 "weights": f32[] = Softmax(%17) {axis: 3}
    )");
    for (const auto& node : module.nodes)
      if (node.op == "tvc.Attention") CHECK(node.f("scale", 0) == 0.5);
  }
  SUBCASE("bias, then mask") {
    attention(R"(
      %14 "scores": f32[] = MatMul(%10, %12)
      %15: f32[] = Add(%3, %14)
      %16: f32[] = Where(%5, %15, %6)
      %29 "weights": f32[] = Softmax(%16) {axis: -1}
    )");
  }
  SUBCASE("a mask that says what to hide, and NaN as 0") {
    auto module = attention(R"(
      %14 "scores": f32[] = MatMul(%10, %12)
      %16: f32[] = Where(%5, %6, %14)
      %17: f32[] = Softmax(%16) {axis: -1}
      %18: bool[] = IsNaN(%17)
      %29: f32[] = Where(%18, %7, %17)
    )");
    CHECK(count_nodes(module, "Not") == 1);
  }
}

TEST_CASE("transpositions of shared operands stay for their other readers") {
  auto module = check_pass(passes::recognise_attention, model(R"(
    %14 "scores": f32[] = MatMul(%10, %12)
    %15: f32[] = Softmax(%14) {axis: -1}
    %16 "y": f32[] = MatMul(%15, %13)
    return %16, %10, %11
  )"),
                           1);
  CHECK(count_nodes(module, "Transpose") >= 2);
}

TEST_CASE("what is not attention, or is read by others, stays") {
  SUBCASE("scores that somebody reads") {
    refused(
        "%14 \"scores\": f32[] = MatMul(%10, %12)\n%29 \"weights\": f32[] = Softmax(%14) {axis: -1}\n%30: f32[] = MatMul(%29, %13)\nreturn %30, %14");
  }
  SUBCASE("weights that are an output") {
    refused(
        "%14 \"scores\": f32[] = MatMul(%10, %12)\n%29 \"weights\": f32[] = Softmax(%14) {axis: -1}\n%30: f32[] = MatMul(%29, %13)\nreturn %30, %29");
  }
  SUBCASE("softmax along another axis") {
    refused(
        "%14 \"scores\": f32[] = MatMul(%10, %12)\n%29 \"weights\": f32[] = Softmax(%14) {axis: 2}\n%30: f32[] = MatMul(%29, %13)\nreturn %30");
  }
  SUBCASE("weights on the right side") {
    refused(
        "%14: f32[] = MatMul(%12, %11)\n%29 \"weights\": f32[] = Softmax(%14) {axis: -1}\n%30: f32[] = MatMul(%11, %29)\nreturn %30");
  }
  SUBCASE("a bias that is scaled with the scores") {
    refused(R"(
      %14 "scores": f32[] = MatMul(%10, %12)
      %15: f32[] = Add(%14, %3)
      %16: f32[] = Mul(%15, %4)
      %29 "weights": f32[] = Softmax(%16) {axis: -1}
      %30: f32[] = MatMul(%29, %13)
      return %30
    )");
  }
  SUBCASE("a factor for each head") {
    refused(R"(
      %9: f32[2, 1, 1] = const {0.5, 0.25}
      %14 "scores": f32[] = MatMul(%10, %12)
      %16: f32[] = Mul(%14, %9)
      %29 "weights": f32[] = Softmax(%16) {axis: -1}
      %30: f32[] = MatMul(%29, %13)
      return %30
    )");
  }
}
