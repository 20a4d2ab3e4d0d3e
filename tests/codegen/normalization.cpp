// SPDX-License-Identifier: Apache-2.0
// The row kernels of normalisations against their decompositions.
#include "codegen/contraction.h"

using namespace tvc;
using namespace tvc::tests;

TEST_CASE("normalisations over rows that fill vectors and that do not") {
  for (const char* op : {"LayerNormalization", "RMSNormalization"})
    for (int64_t n : {1, 7, 8, 16, 37, 384}) {
      CAPTURE(op);
      CAPTURE(n);
      NodeCase c{op, {{3, 5, n}, {n}}, {false, true}, {{"epsilon", 1e-3}}};
      c.family = "normalization";
      check_node(c, 2e-5);
    }
  NodeCase c{"LayerNormalization", {{2, 5, 6}, {5, 6}, {5, 6}}, {false, true, false}, {{"axis", int64_t{1}}}};
  c.family = "normalization";
  check_node(c, 2e-5);
  c.operands[0] = {0, 5, 6};
  check_node(c, 2e-5);
}
