// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "ops/op_def.h"
#include "passes/pass.h"

using namespace tvc;

namespace {

ir::Module taken(std::string_view text, int changes) {
  auto module = ir::parse(text);
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  auto inferred = ops::infer_types(*module);
  REQUIRE_MESSAGE(inferred.ok(), inferred.error().text());
  CollectedDiagnostics diagnostics;
  auto done = passes::take_branches(*module, {diagnostics});
  REQUIRE_MESSAGE(done.ok(), done.error().text());
  CHECK(*done == changes);
  auto again = ops::infer_types(*module);
  REQUIRE_MESSAGE(again.ok(), again.error().text());
  auto sound = ir::verify(*module);
  CHECK_MESSAGE(sound.ok(), sound.error().text());
  return std::move(module).value();
}

std::vector<std::string> operators(const ir::Module& module) {
  std::vector<std::string> out;
  for (ir::NodeId id : module.main().nodes) out.push_back(module.node(id).op);
  return out;
}

constexpr std::string_view kSqueeze = R"(symbol n 1..8 "n"
graph 0 "main"(%0 "x": f32[2, n]) {
  %1: i64[2] = Shape(%0)
  %2: i64[] = const {1}
  %3: i64[] = Gather(%1, %2) {axis: 0}
  %4: bool[] = Equal(%3, %2)
  %5 "y": f32[2] = If(%4) {then_branch: graph 1, else_branch: graph 2}
  return %5
}
graph 1 "then"() {
  %6: i64[1] = const {1}
  %7: f32[2] = Squeeze(%0, %6)
  return %7
}
graph 2 "else"() {
  %8: f32[2, n] = Identity(%0)
  return %8
}
)";

}  // namespace

TEST_CASE("a condition on a size that decides the rank is taken for granted and checked") {
  ir::Module module = taken(kSqueeze, 1);
  CHECK(operators(module) == std::vector<std::string>{"Shape", "Gather", "Equal", "Squeeze", "tvc.Guard"});
  const ir::Value& y = module.value(module.main().outputs[0]);
  CHECK(y.name == "y");
  CHECK(y.type.rank() == 1);
}

TEST_CASE("a decided branch takes the place of its If, whatever the other one holds") {
  std::string text(kSqueeze);
  text.replace(text.find("f32[2, n]"), 9, "f32[2, 3]");  // the branch with Squeeze has no meaning then
  ir::Module module = taken(text, 1);
  CHECK(operators(module) == std::vector<std::string>{"Shape", "Gather", "Equal", "Identity", "Identity"});
  CHECK(module.value(module.main().outputs[0]).name == "y");
}

TEST_CASE("a condition that only the run knows stays") {
  ir::Module module = taken(R"(
graph 0 "main"(%0 "x": f32[2], %1 "c": bool[]) {
  %2 "y": f32[2] = If(%1) {then_branch: graph 1, else_branch: graph 2}
  return %2
}
graph 1 "then"() {
  %3: f32[2] = Neg(%0)
  return %3
}
graph 2 "else"() {
  %4: f32[2] = Identity(%0)
  return %4
}
)",
                            0);
  CHECK(operators(module) == std::vector<std::string>{"If"});
}
