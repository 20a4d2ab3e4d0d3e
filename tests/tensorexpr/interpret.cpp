// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstddef>

#include "tensorexpr/expr.h"

using namespace tvc;
using namespace tvc::te;

namespace {

std::optional<int64_t> no_symbols(const std::string&) { return std::nullopt; }

OperandData floats(const std::vector<float>& values, std::vector<int64_t> dims) {
  return {DType::kF32, std::move(dims), reinterpret_cast<const std::byte*>(values.data())};
}

std::vector<float> run(const TensorExpr& e, const std::vector<OperandData>& operands, size_t count) {
  std::vector<float> out(count);
  REQUIRE(interpret(e, operands, no_symbols, reinterpret_cast<std::byte*>(out.data())));
  return out;
}

}  // namespace

TEST_CASE("a product of matrices") {
  std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {1, 0, 2, -1, 0, 3};
  int m = fresh_var(), n = fresh_var(), k = fresh_var();
  Expr body =
      reduce(ReduceOp::kSum, {{k, 3}}, read(0, DType::kF32, {var(m), var(k)}) * read(1, DType::kF32, {var(k), var(n)}));
  CHECK(run({DType::kF32, {{m, 2}, {n, 2}}, body}, {floats(a, {2, 3}), floats(b, {3, 2})}, 4) ==
        std::vector<float>{5, 7, 14, 13});
}

TEST_CASE("a reduction within a reduction sees the outer variables") {
  std::vector<float> x = {1, 2, 3, 4};
  int i = fresh_var(), j = fresh_var(), k = fresh_var();
  Expr inner = reduce(ReduceOp::kMax, {{k, 2}}, read(0, DType::kF32, {var(j), var(k)}));
  Expr body = reduce(ReduceOp::kSum, {{j, 2}}, inner * cast(DType::kF32, var(i)));
  CHECK(run({DType::kF32, {{i, 3}}, body}, {floats(x, {2, 2})}, 3) == std::vector<float>{0, 6, 12});
}

TEST_CASE("select guards reads, an unguarded read outside is refused") {
  std::vector<float> x = {1, 2};
  int i = fresh_var();
  Expr at = var(i) - index(1), shifted = read(0, DType::kF32, {at});
  Expr guarded = select(in_range(at, 2), shifted, number(DType::kF32, 9));
  CHECK(run({DType::kF32, {{i, 4}}, guarded}, {floats(x, {2})}, 4) == std::vector<float>{9, 1, 2, 9});
  std::vector<float> out(4);
  CHECK_FALSE(interpret({DType::kF32, {{i, 4}}, shifted}, {floats(x, {2})}, no_symbols,
                        reinterpret_cast<std::byte*>(out.data())));
}

TEST_CASE("empty reductions give the neutral element, ArgMax the first of equals") {
  std::vector<float> x = {3, 7, 7};
  int i = fresh_var(), k = fresh_var();
  auto over = [&](ReduceOp op, int64_t n) { return reduce(op, {{k, n}}, read(0, DType::kF32, {var(k)})); };
  auto one = [&](Expr body) { return run({DType::kF32, {{i, 1}}, cast(DType::kF32, body)}, {floats(x, {3})}, 1)[0]; };
  CHECK(one(over(ReduceOp::kSum, 0)) == 0);
  CHECK(one(over(ReduceOp::kProd, 0)) == 1);
  CHECK(one(over(ReduceOp::kMax, 0)) == -INFINITY);
  CHECK(one(over(ReduceOp::kArgMax, 3)) == 1);
}

TEST_CASE("symbols are looked up; f32 is rounded after each step; sub-byte stores keep their neighbours") {
  int i = fresh_var();
  auto lookup = [](const std::string& name) { return name == "n" ? std::optional<int64_t>(5) : std::nullopt; };
  std::byte packed[3] = {};
  Expr value = binary(Op::kSub, cast(DType::kI8, var(i)), integer(DType::kI8, 3));
  REQUIRE(interpret({DType::kI4, {{i, Dim::symbol("n")}}, value}, {}, lookup, packed));
  CHECK(std::to_integer<int>(packed[0]) == 0xed);
  CHECK(std::to_integer<int>(packed[1]) == 0x0f);
  CHECK(std::to_integer<int>(packed[2]) == 0x01);
  CHECK_FALSE(interpret({DType::kI4, {{i, Dim::symbol("m")}}, value}, {}, lookup, packed));
  std::vector<float> x = {16777216.0f};
  Expr one = number(DType::kF32, 1), sum = read(0, DType::kF32, {var(i)}) + one;
  CHECK(run({DType::kF32, {{i, 1}}, sum + one}, {floats(x, {1})}, 1)[0] == 16777216.0f);
}

TEST_CASE("a million elements take under a second") {
  std::vector<float> x(1 << 20, 0.5f), y(1 << 20);
  int i = fresh_var(), j = fresh_var();
  Expr v = read(0, DType::kF32, {var(i), var(j)});
  TensorExpr e{DType::kF32, {{i, 1024}, {j, 1024}}, max(v * v + number(DType::kF32, 1), number(DType::kF32, 0))};
  auto start = std::chrono::steady_clock::now();
  REQUIRE(interpret(e, {floats(x, {1024, 1024})}, no_symbols, reinterpret_cast<std::byte*>(y.data())));
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CHECK(y.back() == 1.25f);
  CHECK(seconds.count() < 5);  // with room for a busy machine
  MESSAGE("seconds: ", seconds.count());
}

TEST_CASE("what folds into an argument is replaced once") {
  // read(0) * 1 with read 0 -> read 1 and read 1 -> read 0: a second replacement would give read 0 again.
  const Expr one = number(DType::kF32, 1);
  const int i = fresh_var();
  const Expr product = read(0, DType::kF32, {var(i)}) * read(2, DType::kF32, {var(i)});
  const Expr swapped = rewrite(product, [&](const Expr& e) -> Expr {
    if (e->op != Op::kRead) return nullptr;
    return e->index == 2 ? one : read(1 - e->index, DType::kF32, {e->args[0]});
  });
  CHECK(operands_of(swapped) == std::vector<int>{1});
}
