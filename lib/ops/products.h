// SPDX-License-Identifier: Apache-2.0
// Shape rules of products of matrices and convolutions, for all their forms.
#pragma once

#include "ops/op_def.h"

namespace tvc::ops {

// Output 0 of A B, A operand 0, B operand `right`.
Result<void> infer_product(InferContext& c, DType dtype, size_t right = 1);
// Output 0 of a convolution of operand 0.
Result<void> infer_convolution(InferContext& c, DType dtype, size_t weights = 1);

}  // namespace tvc::ops
