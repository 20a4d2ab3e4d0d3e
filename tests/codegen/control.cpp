// SPDX-License-Identifier: Apache-2.0
// Emitted branches and loops, run: sizes that change, values that swap places, storage that changes hands.
#include <doctest/doctest.h>

#include "codegen/run_program.h"
#include "ops/op_def.h"

using namespace tvc;
using namespace tvc::tests;

namespace {

std::vector<ir::Tensor> run(std::string_view text, const std::vector<ir::Tensor>& inputs,
                            const std::vector<int64_t>& symbols = {}) {
  auto module = ir::parse(text);
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  auto inferred = ops::infer_types(*module);
  REQUIRE_MESSAGE(inferred.ok(), inferred.error().text());
  auto program = LoadedProgram::build(*module, *runnable_targets().back());
  REQUIRE_MESSAGE(program.ok(), program.error().text());
  auto results = (*program)->run(inputs, symbols);
  REQUIRE_MESSAGE(results.ok(), results.error().text());
  return std::move(results).value();
}

void check_f32(const ir::Tensor& got, std::vector<int64_t> dims, const std::vector<double>& want) {
  CHECK(got.dims == dims);
  CHECK(ir::to_f64(got) == want);
}

ir::Tensor flag(bool value) { return ir::make_scalar(ir::DType::kBool, value); }
ir::Tensor number(int64_t value) { return ir::make_i64({}, {value}); }

}  // namespace

TEST_CASE("carried values that swap places keep their values") {
  constexpr std::string_view kText = R"(
graph 0 "main"(%0: i64[], %1: f32[2], %2: f32[2]) {
  %3: f32[2], %4: f32[2], %5: f32[2, 2] = Loop(%0, _, %1, %2) {body: graph 1}
  return %3, %4, %5
}
graph 1 "body"(%6: i64[], %7: bool[], %8: f32[2], %9: f32[2]) {
  %10: f32[2] = Add(%8, %9)
  return %7, %9, %10, %8
}
)";
  auto results = run(kText, {number(5), ir::make_f32({2}, {0, 1}), ir::make_f32({2}, {1, 2})});
  check_f32(results[0], {2}, {5, 13});
  check_f32(results[1], {2}, {8, 21});
  check_f32(results[2], {5, 2}, {0, 1, 1, 2, 1, 3, 2, 5, 3, 8});
  auto none = run(kText, {number(0), ir::make_f32({2}, {0, 1}), ir::make_f32({2}, {1, 2})});
  check_f32(none[0], {2}, {0, 1});
  check_f32(none[2], {0, 2}, {});
}

TEST_CASE("a carried value grows until the condition ends the loop") {
  constexpr std::string_view kText = R"(
graph 0 "main"(%0: f32[1], %1: bool[]) {
  %2: f32[1], %3: i64[] = Loop(_, %1, %0) {body: graph 1}
  return %2, %3
}
graph 1 "body"(%4: i64[], %5: bool[], %6: f32[1]) {
  %7: i64[] = const {3}
  %8: f32[2] = Concat(%6, %0) {axis: 0}
  %9: bool[] = Less(%4, %7)
  return %9, %8, %4
}
)";
  auto results = run(kText, {ir::make_f32({1}, {2}), flag(true)});
  check_f32(results[0], {5}, {2, 2, 2, 2, 2});
  CHECK(ir::to_i64(results[1]) == std::vector<int64_t>{0, 1, 2, 3});
  auto none = run(kText, {ir::make_f32({1}, {2}), flag(false)});
  check_f32(none[0], {1}, {2});
  CHECK(none[1].dims == std::vector<int64_t>{0});
}

TEST_CASE("an initial value that nobody sees may have another rank") {
  auto results = run(R"(
graph 0 "main"(%0: f32[2]) {
  %1: i64[] = const {3}
  %2: f32[] = const {0}
  %3: f32[2], %4: f32[2, 1] = Loop(%1, _, %0, %2) {body: graph 1}
  return %3, %4
}
graph 1 "body"(%5: i64[], %6: bool[], %7: f32[2], %8: f32[]) {
  %9: i64[1] = const {1}
  %10: f32[2] = Add(%7, %7)
  %11: f32[2, 1] = Unsqueeze(%10, %9)
  return %6, %10, %11
}
)",
                     {ir::make_f32({2}, {1, 2})});
  check_f32(results[0], {2}, {8, 16});
  check_f32(results[1], {2, 1}, {8, 16});
}

TEST_CASE("branches give different sizes, inside of a loop and outside") {
  constexpr std::string_view kText = R"(symbol n 1..8 "n"
graph 0 "main"(%0: f32[n], %1: bool[]) {
  %2: f32[n] = If(%1) {then_branch: graph 1, else_branch: graph 2}
  %3: i64[] = const {2}
  %4: f32[n] = Loop(%3, _, %2) {body: graph 3}
  return %2, %4
}
graph 1 "then"() {
  %5: f32[n] = Concat(%0, %0) {axis: 0}
  return %5
}
graph 2 "else"() {
  %6: f32[n] = Identity(%0)
  return %6
}
graph 3 "body"(%7: i64[], %8: bool[], %9: f32[n]) {
  %10: bool[] = Cast(%7) {to: 9}
  %11: f32[n] = If(%10) {then_branch: graph 4, else_branch: graph 5}
  return %8, %11
}
graph 4 "odd"() {
  %12: f32[n] = Concat(%9, %2) {axis: 0}
  return %12
}
graph 5 "even"() {
  %13: f32[n] = Neg(%9)
  return %13
}
)";
  auto twice = run(kText, {ir::make_f32({2}, {1, 2}), flag(true)}, {2});
  check_f32(twice[0], {4}, {1, 2, 1, 2});
  check_f32(twice[1], {8}, {-1, -2, -1, -2, 1, 2, 1, 2});
  auto once = run(kText, {ir::make_f32({1}, {3}), flag(false)}, {1});
  check_f32(once[0], {1}, {3});
  check_f32(once[1], {2}, {-3, 3});
}

TEST_CASE("items of a sequence outlive the storage that they came from") {
  auto results = run(R"(
graph 0 "main"(%0: f32[2]) {
  %1: i64[] = const {3}
  %2: seq f32 none = SequenceEmpty()
  %3: seq f32[2] = Loop(%1, _, %2) {body: graph 1}
  %4: i64[] = const {-2}
  %5: f32[2] = SequenceAt(%3, %4)
  %6: f32[6] = ConcatFromSequence(%3) {axis: 0}
  return %5, %6
}
graph 1 "body"(%7: i64[], %8: bool[], %9: seq f32[2]) {
  %10: f32[] = Cast(%7) {to: 1}
  %11: f32[2] = Mul(%0, %10)
  %12: seq f32[2] = SequenceInsert(%9, %11)
  return %8, %12
}
)",
                     {ir::make_f32({2}, {1, 2})});
  check_f32(results[0], {2}, {1, 2});
  check_f32(results[1], {6}, {0, 0, 1, 2, 2, 4});
}
