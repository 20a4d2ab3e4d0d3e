// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "ops/op_def.h"
#include "passes/pass.h"

using namespace tvc;

TEST_CASE("what a loop hands on unchanged is captured, what nobody reads is not carried") {
  auto module = ir::parse(R"(
graph 0 "main"(%0 "n": i64[], %1 "x": f32[2], %2 "w": f32[2]) {
  %3: i64[] = const {7}
  %4 "y": f32[2], %5 "w_after": f32[2], %6: i64[], %7: f32[2, 2] = Loop(%0, _, %1, %2, %3) {body: graph 1}
  return %4, %5, %7
}
graph 1 "body"(%8: i64[], %9: bool[], %10: f32[2], %11: f32[2], %12: i64[]) {
  %13: f32[2] = Mul(%10, %11)
  %14: f32[2] = Identity(%11)
  return %9, %13, %14, %8, %10
}
)");
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  REQUIRE(ops::infer_types(*module).ok());
  CollectedDiagnostics diagnostics;
  auto changes = passes::simplify_loops(*module, {diagnostics});
  REQUIRE(changes.ok());
  CHECK(*changes == 2);
  auto sound = ir::verify(*module);
  CHECK_MESSAGE(sound.ok(), sound.error().text());
  REQUIRE(ops::infer_types(*module).ok());
  const auto& nodes = module->main().nodes;
  REQUIRE(nodes.size() == 2);
  const ir::Node& loop = module->node(nodes[1]);
  CHECK(module->node(nodes[0]).op == "Identity");
  CHECK(loop.inputs.size() == 3);
  REQUIRE(loop.outputs.size() == 2);
  CHECK(module->main().outputs[2] == loop.outputs[1]);
  CHECK(module->value(module->main().outputs[1]).name == "w_after");
  CHECK(ir::captures(*module, 1) == std::vector<ir::ValueId>{module->main().inputs[2]});
}
