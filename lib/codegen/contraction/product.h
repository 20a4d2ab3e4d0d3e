// SPDX-License-Identifier: Apache-2.0
// A product of matrices as plain data: sizes, batches, and where the operands' elements lie.
#pragma once

#include "codegen/lower.h"

namespace tvc::codegen::contraction {

struct Product {
  ir::Dim rows, depth, columns;
  ir::Shape batch;             // of the output
  ir::Shape batch_a, batch_b;  // of the operands, aligned with `batch`; 1: broadcast
  bool transposed_a = false, transposed_b = false;
  double alpha = 1, beta = 1;
};
// Of a MatMul or Gemm node. Batches that only A has become rows, as W is the same for all.
Product product_of(const ir::Module& module, ir::NodeId node);

// Elements from one batch to the next along each axis of `batch`; 0 where the operand repeats.
ir::Shape batch_steps(const ir::Shape& operand_batch, const ir::Dim& matrix);

// W = alpha B in panels [batch][blocks][depth][16].
std::vector<float> packed_panels(const ir::Tensor& b, const Product& p);

}  // namespace tvc::codegen::contraction
