// SPDX-License-Identifier: Apache-2.0
// TypeProto as ir::Type.
#pragma once

#include <functional>

#include "formats/onnx/protos.h"
#include "ir/ir.h"

namespace tvc::onnx_format {

using ReadDim = std::function<ir::Dim(const pb::TensorShapeProto::Dimension& dim, int axis)>;
// Tensors, and sequences and optionals of them; a tensor's sizes by `dimension`.
Result<ir::Type> read_type(const pb::TypeProto& proto, const ReadDim& dimension);
// The same with -1 for every size that is not a number: types of body inputs, which inference sets later.
Result<ir::Type> read_type(const pb::TypeProto& proto);

}  // namespace tvc::onnx_format
