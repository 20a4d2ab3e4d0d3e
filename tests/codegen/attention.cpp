// SPDX-License-Identifier: Apache-2.0
// Attention's kernel against its decomposition: sizes beside those of blocks, operands that repeat, few query rows.
#include "codegen/contraction.h"

using namespace tvc;
using namespace tvc::tests;

namespace {

NodeCase attention(Dims q, Dims k, Dims v) {
  NodeCase c{"tvc.Attention", {std::move(q), std::move(k), std::move(v)}, {false, false, false}};
  std::vector<int64_t> identity;
  for (size_t axis = 0; axis < c.operands[0].size(); ++axis) identity.push_back(static_cast<int64_t>(axis));
  for (const char* key : {"q_perm", "k_perm", "v_perm", "y_perm"}) c.attrs[key] = identity;
  c.attrs["scale"] = 0.7;
  c.family = "attention";
  return c;
}

}  // namespace

TEST_CASE("attention over sizes beside those of its blocks") {
  for (int64_t rows : {0, 1, 3, 4, 48, 49, 101})
    for (int64_t keys : {0, 1, 15, 128, 129, 300}) {
      CAPTURE(rows);
      CAPTURE(keys);
      check_node(attention({2, rows, 24}, {2, keys, 24}, {2, keys, 20}), 2e-5);
    }
  for (int64_t width : {1, 16, 33, 80}) {
    CAPTURE(width);
    check_node(attention({3, 7, width}, {3, 40, width}, {3, 40, width}), 2e-5);
    check_node(attention({3, 2, width}, {3, 40, width}, {3, 40, width}), 2e-5);
  }
}

TEST_CASE("attention whose keys are shared, with a bias that repeats") {
  NodeCase c = attention({2, 3, 9, 16}, {2, 1, 31, 16}, {1, 3, 31, 16});
  check_node(c, 2e-5);
  for (const Dims& bias : {Dims{9, 31}, Dims{2, 1, 1, 31}, Dims{3, 9, 1}, Dims{1}}) {
    CAPTURE(bias.size());
    NodeCase with = c;
    with.operands.push_back(bias);
    with.constant.push_back(false);
    check_node(with, 2e-5);
  }
}

TEST_CASE("attention over operands that lie transposed") {
  NodeCase c = attention({2, 50, 3, 16}, {2, 3, 16, 45}, {2, 45, 3, 32});
  c.attrs["q_perm"] = std::vector<int64_t>{0, 2, 1, 3};
  c.attrs["k_perm"] = std::vector<int64_t>{0, 1, 3, 2};
  c.attrs["v_perm"] = std::vector<int64_t>{0, 2, 1, 3};
  c.attrs["y_perm"] = std::vector<int64_t>{0, 2, 1, 3};
  check_node(c, 2e-5);
  c.operands[0] = {2, 1, 3, 16};
  check_node(c, 2e-5);
}
