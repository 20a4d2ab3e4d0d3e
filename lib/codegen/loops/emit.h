// SPDX-License-Identifier: Apache-2.0
// A tensor expression as a kernel: the outer axes are tasks, the inner ones loops that the C compiler vectorises.
#pragma once

#include "codegen/loops/nest.h"
#include "codegen/lower.h"

namespace tvc::codegen::loops {

struct LoopKernel {
  KernelText text;
  std::vector<int> operands;   // operands read, in order of their arguments x<k>
  std::vector<ir::Dim> sizes;  // arguments n0, n1, ...
  ir::Dim tasks, work;
};

struct Operands {
  std::vector<ir::Shape> shapes;
  std::vector<ir::DType> dtypes;
  std::vector<std::string> literals;  // the only element of a constant operand as C text, or ""
};

LoopKernel emit_loops(const te::TensorExpr& e, const Operands& operands, std::string hint);

}  // namespace tvc::codegen::loops
