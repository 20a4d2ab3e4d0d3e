// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/types.h"

namespace tvc::onnx_format {
namespace {

constexpr size_t kMaxNesting = 8;

// Sizes that no memory has would overflow wherever elements are counted.
Result<void> check_size(const ir::Type& type) {
  int64_t bytes = 8;
  for (const auto& dim : type.shape)
    if (auto size = dim.as_constant(); size && *size > 0 && __builtin_mul_overflow(bytes, *size, &bytes))
      return bad_input("its shape has more elements than can be counted");
  return {};
}

}  // namespace

Result<ir::Type> read_type(const pb::TypeProto& proto, const ReadDim& dimension) {
  std::vector<ir::Kind> kinds;
  const pb::TypeProto* inner = &proto;
  while (inner->has_sequence_type() || inner->has_optional_type()) {
    kinds.push_back(inner->has_sequence_type() ? ir::Kind::kSequence : ir::Kind::kOptional);
    inner = inner->has_sequence_type() ? &inner->sequence_type().elem_type() : &inner->optional_type().elem_type();
    if (kinds.size() > kMaxNesting) return unsupported("its type is nested deeper than {}", kMaxNesting);
  }
  if (!inner->has_tensor_type())
    return unsupported("its type is neither a tensor nor a sequence or optional of tensors");
  const auto& tensor = inner->tensor_type();
  if (tensor.elem_type() <= 0 || tensor.elem_type() > static_cast<int>(ir::DType::kI2))
    return unsupported("element type {} is not known", tensor.elem_type());
  if (tensor.shape().dim_size() > kMaxRank)
    return unsupported("it has {} dimensions, and {} are the most", tensor.shape().dim_size(), kMaxRank);
  ir::Type type;
  type.dtype = static_cast<ir::DType>(tensor.elem_type());
  if (!kinds.empty()) {
    type.kind = kinds[0];
    type.inner.assign(kinds.begin() + 1, kinds.end());
    if (!tensor.has_shape()) return type;
    type.items = ir::Items::kAlike;
    for (const auto& dim : tensor.shape().dim())
      type.shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? ir::Dim(dim.dim_value())
                                                                       : ir::Dim::symbol("_"));
    return type;
  }
  for (int k = 0; k < tensor.shape().dim_size(); ++k) type.shape.push_back(dimension(tensor.shape().dim(k), k));
  TVC_CHECK_OK(check_size(type));
  return type;
}

Result<ir::Type> read_type(const pb::TypeProto& proto) {
  return read_type(proto, [](const auto& dim, int) { return ir::Dim(dim.has_dim_value() ? dim.dim_value() : -1); });
}

}  // namespace tvc::onnx_format
