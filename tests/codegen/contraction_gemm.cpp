// SPDX-License-Identifier: Apache-2.0
#include "codegen/contraction.h"

using namespace tvc;
using namespace tvc::tests;

TEST_CASE("products of matrices with constant weights") {
  struct Size {
    int64_t m, n, k;
  };
  for (const Size& s : {Size{0, 16, 37},
                        {1, 1, 37},
                        {1, 113, 1031},
                        {5, 17, 1031},
                        {13, 15, 1},
                        {13, 64, 37},
                        {97, 16, 5},
                        {97, 113, 37},
                        {3, 7, 0}}) {
    CAPTURE(fmt::format("{} x {} x {}", s.m, s.n, s.k));
    check_node({"MatMul", {{s.m, s.k}, {s.k, s.n}}, {false, true}}, 2e-4);
  }
}

TEST_CASE("a product in several passes over its depth") {
  check_node({"MatMul", {{7, 3001}, {3001, 64}}, {false, true}}, 2e-3);
}

TEST_CASE("products of two operands of the run, with batches") {
  const std::pair<Dims, Dims> shapes[] = {{{3, 4, 5}, {3, 5, 6}},
                                          {{2, 1, 9, 17}, {1, 3, 17, 33}},
                                          {{4, 8}, {2, 8, 16}},
                                          {{2, 3, 7, 20}, {20, 19}},
                                          {{5}, {5, 6}},
                                          {{3, 5}, {5}},
                                          {{2, 12, 31, 32}, {2, 12, 32, 31}},
                                          {{2, 0, 3}, {2, 3, 4}}};
  for (const auto& [a, b] : shapes) {
    CAPTURE(a.size());
    CAPTURE(b.size());
    check_node({"MatMul", {a, b}, {false, false}}, 1e-4);
  }
}

TEST_CASE("Gemm with every transposition, scale and bias") {
  for (int64_t ta : {0, 1})
    for (int64_t tb : {0, 1}) {
      NodeCase c{
          "Gemm", {ta ? Dims{21, 30} : Dims{30, 21}, tb ? Dims{50, 21} : Dims{21, 50}, {50}}, {false, true, true}};
      c.attrs = {{"transA", ta}, {"transB", tb}, {"alpha", 0.5}, {"beta", 2.0}};
      check_node(c, 1e-4);
      c.epilogue = {{"Relu"}};
      check_node(c, 1e-4);
      NodeCase run{"Gemm", {c.operands[0], c.operands[1]}, {false, false}, {{"transA", ta}, {"transB", tb}}};
      check_node(run, 1e-4);
    }
}

TEST_CASE("products with epilogues, over columns that do not fill a vector") {
  for (int64_t n : {16, 21, 48}) {
    NodeCase c{"MatMul", {{2, 11, 24}, {24, n}}, {false, true}};
    c.epilogue = {{"Add", Dims{n}, true}, {"Gelu"}, {"Add", Dims{2, 11, n}}, {"Mul", Dims{1}}};
    check_node(c, 1e-4);
  }
}
