// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "ir/ir.h"
#include "ops/op_def.h"
#include "passes/pass.h"

using namespace tvc;

namespace {

// Changes, and the text after them.
std::pair<int, std::string> removed(std::string_view text) {
  auto module = ir::parse(text);
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  REQUIRE(ops::infer_types(*module).ok());
  CollectedDiagnostics diagnostics;
  auto changes = passes::remove_identities(*module, {.diagnostics = diagnostics});
  REQUIRE_MESSAGE(changes.ok(), changes.error().text());
  auto sound = ir::verify(*module);
  REQUIRE_MESSAGE(sound.ok(), sound.error().text());
  return {*changes, ir::print(*module)};
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("readers of a value passed on read it where it is made; an output keeps its name") {
  auto [changes, text] = removed(R"(graph 0 "main"(%0 "x": f32[2]) {
  %1: f32[2] = Identity(%0)
  %2: f32[2], %3: bool[2] = Dropout(%1)
  %4: f32[2] = Relu(%2)
  %5 "y": f32[2] = Identity(%4)
  return %5
}
)");
  CHECK(changes == 3);
  CHECK(holds(text, "\"y\": f32[2] = Relu(%0)"));
}

TEST_CASE("what must stay: a mask that is read, training, an output that is an input, two outputs of one value") {
  auto [mask, mask_text] = removed(R"(graph 0 "main"(%0 "x": f32[2]) {
  %1: f32[2], %2 "m": bool[2] = Dropout(%0)
  %3 "y": f32[2] = Relu(%1)
  return %3, %2
}
)");
  CHECK(mask == 0);
  auto [training, training_text] = removed(R"(graph 0 "main"(%0 "x": f32[2], %1 "r": f32[], %2 "t": bool[]) {
  %3: f32[2] = Dropout(%0, %1, %2)
  %4 "y": f32[2] = Relu(%3)
  return %4
}
)");
  CHECK(training == 0);
  auto [outputs, text] = removed(R"(graph 0 "main"(%0 "x": f32[2]) {
  %1 "a": f32[2] = Identity(%0)
  %2: f32[2] = Relu(%0)
  %3 "b": f32[2] = Identity(%2)
  %4 "c": f32[2] = Identity(%2)
  return %1, %3, %4
}
)");
  CHECK(outputs == 1);
  CHECK(holds(text, "\"a\""));
  CHECK(holds(text, "\"b\""));
  CHECK(holds(text, "\"c\""));
}

TEST_CASE("a body's output that only passes an outer value on stays") {
  auto [changes, text] = removed(R"(graph 0 "main"(%0 "x": f32[2], %1 "c": bool[]) {
  %2 "y": f32[2] = If(%1) {else_branch: graph 2, then_branch: graph 1}
  return %2
}
graph 1 "then"() {
  %3: f32[2] = Identity(%0)
  return %3
}
graph 2 "else"() {
  %4: f32[2] = Identity(%0)
  %5: f32[2] = Relu(%4)
  return %5
}
)");
  CHECK(changes == 1);
  CHECK(holds(text, "Relu(%0)"));
}
