// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "codegen/run_program.h"
#include "ops/op_def.h"

using namespace tvc;
using namespace tvc::tests;

TEST_CASE("complex elements are moved whole") {
  auto module = ir::parse(R"(
graph 0 "main"(%0: c64[2]) {
  %1: c64[4] = Concat(%0, %0) {axis: 0}
  return %1
}
)");
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  REQUIRE(ops::infer_types(*module).ok());
  auto program = LoadedProgram::build(*module, *runnable_targets().back());
  REQUIRE_MESSAGE(program.ok(), program.error().text());
  std::span<std::byte> bytes;
  ir::Tensor x = ir::make_tensor(ir::DType::kC64, {2}, &bytes);
  const std::vector<float> parts = {1, 2, 3, -4};
  std::memcpy(bytes.data(), parts.data(), bytes.size());
  auto results = (*program)->run({x});
  REQUIRE_MESSAGE(results.ok(), results.error().text());
  std::vector<float> got((*results)[0].bytes.size() / 4);
  std::memcpy(got.data(), (*results)[0].bytes.data(), (*results)[0].bytes.size());
  CHECK(got == std::vector<float>{1, 2, 3, -4, 1, 2, 3, -4});
}
