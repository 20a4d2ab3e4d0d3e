// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "ir/ir.h"

using namespace tvc;

namespace {

constexpr std::string_view kText = R"(symbol batch 1..8 "N"
graph 0 "main"(%0 "x": f32[batch, 3], %1 "c": bool[]) {
  %2 "w": f32[3] = const {1, -0.5, inf}
  %3: f32[batch, 3] = Add(%0, %2) @ "add"
  %4 "y": f32[batch, 3] = If(%1) {else_branch: graph 2, then_branch: graph 1} @ "if"
  return %4
}
graph 1 "then"() {
  %5: f32[batch, 3] = Relu(%3)
  return %5
}
graph 2 "else"() {
  %6: f32[batch, 3], _ = Dropout(%3, _) {note: "a\"b", ratio: 0.5, seed: 3, shape: [1, 2]}
  return %6
}
)";

}  // namespace

TEST_CASE("text is read back as it was printed") {
  auto module = ir::parse(kText);
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  CHECK(ir::verify(*module).ok());
  std::string once = ir::print(*module);
  auto again = ir::parse(once);
  REQUIRE_MESSAGE(again.ok(), again.error().text());
  CHECK(ir::print(*again) == once);
  CHECK(module->symbols[0].high == 8);
  CHECK(module->node(1).op == "If");
  CHECK(ir::captures(*module, 1) == std::vector<ir::ValueId>{module->node(0).outputs[0]});
  CHECK(module->node(3).f("ratio", 0) == 0.5);
  CHECK(module->node(3).i("seed", 0) == 3);
  CHECK(module->node(3).ints("shape") == std::vector<int64_t>{1, 2});
  CHECK(module->node(3).s("note", "") == "a\"b");
}

TEST_CASE("malformed text names the line") {
  auto missing = ir::parse("graph 0 \"m\"(%0: f32[2]) {\n  %1: f32[2] = Relu(%7)\n  return %1\n}\n");
  CHECK_FALSE(missing.ok());
  auto type = ir::parse("graph 0 \"m\"(%0: f99[2]) {\n return %0 }");
  REQUIRE_FALSE(type.ok());
  CHECK(type.error().text().find("line 1") != std::string::npos);
}

TEST_CASE("the verifier sees reads before definitions and values defined twice") {
  auto module =
      ir::parse("graph 0 \"m\"(%0: f32[2]) {\n %1: f32[2] = Relu(%0)\n %2 \"y\": f32[2] = Relu(%1)\n return %2 }");
  REQUIRE(module.ok());
  CHECK(ir::verify(*module).ok());
  auto early = *module;
  std::swap(early.main().nodes[0], early.main().nodes[1]);
  CHECK_FALSE(ir::verify(early).ok());
  auto twice = *module;
  twice.node(1).outputs[0] = twice.node(0).outputs[0];
  CHECK_FALSE(ir::verify(twice).ok());
}

TEST_CASE("replacing a value moves an output's name") {
  auto module =
      ir::parse("graph 0 \"m\"(%0: f32[2]) {\n %1: f32[2] = Relu(%0)\n %2 \"y\": f32[2] = Identity(%1)\n return %2 }");
  REQUIRE(module.ok());
  ir::ValueId relu = module->node(0).outputs[0], identity = module->node(1).outputs[0];
  ir::replace_uses(*module, identity, relu);
  ir::erase_node(*module, 1);
  CHECK(ir::verify(*module).ok());
  CHECK(module->value(module->main().outputs[0]).name == "y");
}

TEST_CASE("dims are read back") {
  for (const char* text : {"2*batch*past + 3", "max(1, n)", "floordiv(n + -1, 2) + 1", "7", "-3"}) {
    auto dim = ir::parse_dim(text);
    REQUIRE(dim);
    CHECK(ir::parse_dim(dim->text()) == dim);
  }
  CHECK(ir::parse_dim("past+1") == ir::Dim::symbol("past") + ir::Dim(1));
  for (const char* text : {"", "n +", "max(n)", "2n)", "(n"}) CHECK_FALSE(ir::parse_dim(text).has_value());
}

TEST_CASE("exact quotients of polynomials") {
  auto p = [](std::string_view text) { return *ir::parse_dim(text); };
  CHECK(ir::floor_div(p("6*n*m"), p("2*n")) == p("3*m"));
  CHECK(ir::floor_div(p("a + 1") * p("b + 1") * p("64"), p("a + 1")) == p("64*b + 64"));
  CHECK(ir::floor_div(p("floordiv(h, 2)*c + floordiv(h, 2)"), p("floordiv(h, 2)")) == p("c + 1"));
  CHECK_FALSE(ir::exact_quotient(p("n + 1"), p("n")).has_value());
}
