// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "ir/ir.h"
#include "ops/op_def.h"
#include "passes/pass.h"

using namespace tvc;

namespace {

ir::Module parsed(std::string_view text) {
  auto module = ir::parse(text);
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  auto typed = ops::infer_types(*module);
  REQUIRE_MESSAGE(typed.ok(), typed.error().text());
  return std::move(*module);
}

int fused(ir::Module& module, bool takes = true) {
  CollectedDiagnostics diagnostics;
  passes::PassContext context{.diagnostics = diagnostics};
  context.takes_epilogue = [takes](const ir::Module& m, ir::NodeId node, ir::GraphId) {
    return takes && m.node(node).op == "MatMul";
  };
  auto changes = passes::fuse_epilogue(module, context);
  REQUIRE_MESSAGE(changes.ok(), changes.error().text());
  auto sound = ir::verify(module);
  REQUIRE_MESSAGE(sound.ok(), sound.error().text());
  return *changes;
}

constexpr std::string_view kSum = R"(graph 0 "main"(%0 "x": f32[2, 3], %1 "r": f32[2, 2]) {
  %2 "w": f32[3, 2] = const {1, 2, 3, 4, 5, 6}
  %3: f32[2, 2] = MatMul(%0, %2) @ "matmul"
  %4 "y": f32[2, 2] = Add(%1, %3) @ "add"
  return %4
}
)";

}  // namespace

TEST_CASE("an element-wise reader becomes the epilogue, its other operand an operand of the node") {
  ir::Module module = parsed(kSum);
  REQUIRE(fused(module) == 1);
  REQUIRE(module.main().nodes.size() == 1);
  const ir::NodeId id = module.main().nodes[0];
  const ir::Node& node = module.node(id);
  CHECK(node.op == "MatMul");
  CHECK(node.i("epilogue_inputs", 0) == 3);
  CHECK(node.inputs.size() == 4);
  CHECK(node.inputs[3] == module.main().inputs[1]);
  CHECK(node.origin == std::vector<std::string>{"matmul", "add"});
  CHECK(module.value(module.main().outputs[0]).name == "y");
  REQUIRE(ops::infer_types(module).ok());
  ir::Tensor x = ir::make_f32({2, 3}, {1, 0, 2, 0, 1, 1}), r = ir::make_f32({2, 2}, {100, 200, 300, 400});
  auto y = ops::evaluate(module, id, {&x, module.constant(node.inputs[1]), nullptr, &r});
  REQUIRE_MESSAGE(y.ok(), y.error().text());
  CHECK(ir::to_f64((*y)[0]) == std::vector<double>{111, 214, 308, 410});
}

TEST_CASE("a kernel that does not take the body leaves the module as it was") {
  ir::Module module = parsed(kSum);
  const std::string before = ir::print(module);
  CHECK(fused(module, false) == 0);
  CHECK(ir::print(module) == before);
}

TEST_CASE("a result that somebody else reads stays") {
  ir::Module output = parsed(R"(graph 0 "main"(%0 "x": f32[2, 3]) {
  %1: f32[3, 2] = const {1, 2, 3, 4, 5, 6}
  %2 "p": f32[2, 2] = MatMul(%0, %1)
  %3 "y": f32[2, 2] = Relu(%2)
  return %3, %2
}
)");
  CHECK(fused(output) == 0);
  ir::Module readers = parsed(R"(graph 0 "main"(%0 "x": f32[2, 3]) {
  %1: f32[3, 2] = const {1, 2, 3, 4, 5, 6}
  %2: f32[2, 2] = MatMul(%0, %1)
  %3 "y": f32[2, 2] = Relu(%2)
  %4 "z": f32[2, 2] = Neg(%2)
  return %3, %4
}
)");
  CHECK(fused(readers) == 0);
}

TEST_CASE("a result that is broadcast stays") {
  ir::Module module = parsed(R"(graph 0 "main"(%0 "x": f32[1, 3], %1 "r": f32[4, 2]) {
  %2: f32[3, 2] = const {1, 2, 3, 4, 5, 6}
  %3: f32[1, 2] = MatMul(%0, %2)
  %4 "y": f32[4, 2] = Add(%3, %1)
  return %4
}
)");
  CHECK(fused(module) == 0);
}

TEST_CASE("constants added to a convolution become its bias") {
  ir::Module module = parsed(R"(graph 0 "main"(%0 "x": f32[1, 1, 2, 2]) {
  %1: f32[2, 1, 1, 1] = const {1, 2}
  %2: f32[2] = const {10, 20}
  %3: f32[2, 1, 1] = const {100, 200}
  %4: f32[2] = const {7, 8}
  %5: f32[1, 2, 2, 2] = Conv(%0, %1, %2)
  %6: f32[1, 2, 2, 2] = Add(%3, %5)
  %7 "y": f32[1, 2, 2, 2] = Add(%6, %4)
  return %7
}
)");
  CollectedDiagnostics diagnostics;
  auto changes = passes::fold_bias(module, passes::PassContext{.diagnostics = diagnostics});
  REQUIRE(changes.ok());
  CHECK(*changes == 1);  // the second constant runs along the width
  const ir::Node& conv = module.node(module.main().nodes[0]);
  CHECK(ir::to_f64(*module.constant(conv.inputs[2])) == std::vector<double>{110, 220});
  CHECK(ir::verify(module).ok());
}
