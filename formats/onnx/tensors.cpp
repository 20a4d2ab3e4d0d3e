// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/tensors.h"

#include <algorithm>
#include <cstring>

#include "ir/storage.h"

namespace tvc::onnx_format {
namespace {

using ir::DType;

constexpr int64_t kMaxBytes = int64_t{1} << 46;

template <typename Field>
Result<void> check_count(const Field& field, int64_t count) {
  if (field.size() != count) return bad_input("it has {} elements instead of {}", field.size(), count);
  return {};
}

template <typename T, typename Field>
Result<ir::Tensor> copied(const Field& field, const TensorLayout& layout) {
  TVC_CHECK_OK(check_count(field, layout.bytes / static_cast<int64_t>(sizeof(T))));
  std::span<std::byte> out;
  ir::Tensor tensor = ir::make_tensor(layout.dtype, layout.dims, &out);
  if (!out.empty()) std::memcpy(out.data(), field.data(), out.size());
  return tensor;
}

// Small types come one to an entry of a wider field; those below a byte as packed bytes, one to an entry.
template <typename Field>
Result<ir::Tensor> narrowed(const Field& field, const TensorLayout& layout) {
  const int64_t width = std::max(ir::bit_width(layout.dtype), 8) / 8, count = layout.bytes / width;
  TVC_CHECK_OK(check_count(field, count));
  std::span<std::byte> out;
  ir::Tensor tensor = ir::make_tensor(layout.dtype, layout.dims, &out);
  const DType stored = width == 1 ? DType::kU8 : width == 2 ? DType::kU16 : DType::kU32;
  for (int64_t k = 0; k < count; ++k)
    ir::store_integer(stored, out.data(), k, static_cast<int64_t>(field[static_cast<int>(k)]));
  return tensor;
}

Result<ir::Tensor> from_fields(const pb::TensorProto& proto, const TensorLayout& layout) {
  switch (layout.dtype) {
    case DType::kF32:
    case DType::kC64: return copied<float>(proto.float_data(), layout);
    case DType::kF64:
    case DType::kC128: return copied<double>(proto.double_data(), layout);
    case DType::kI64: return copied<int64_t>(proto.int64_data(), layout);
    case DType::kU64: return copied<uint64_t>(proto.uint64_data(), layout);
    case DType::kU32: return narrowed(proto.uint64_data(), layout);
    default: return narrowed(proto.int32_data(), layout);
  }
}

Result<ir::Tensor> from_strings(const pb::TensorProto& proto, const TensorLayout& layout) {
  TVC_CHECK_OK(check_count(proto.string_data(), layout.count));
  ir::Tensor tensor;
  tensor.dtype = layout.dtype;
  tensor.dims = layout.dims;
  tensor.strings.assign(proto.string_data().begin(), proto.string_data().end());
  return tensor;
}

// Typed views need aligned data, which a file's bytes need not be; and a bool is 0 or 1.
bool usable_as_it_lies(const ir::Tensor& tensor) {
  const auto width = static_cast<uintptr_t>(std::clamp(ir::bit_width(tensor.dtype) / 8, 1, 8));
  if (reinterpret_cast<uintptr_t>(tensor.bytes.data()) % width != 0) return false;
  return tensor.dtype != DType::kBool ||
         std::all_of(tensor.bytes.begin(), tensor.bytes.end(), [](std::byte b) { return b <= std::byte{1}; });
}

ir::Tensor usable_copy(const ir::Tensor& tensor) {
  std::span<std::byte> out;
  ir::Tensor own = ir::make_tensor(tensor.dtype, tensor.dims, &out);
  std::copy(tensor.bytes.begin(), tensor.bytes.end(), out.begin());
  if (tensor.dtype == DType::kBool)
    for (std::byte& b : out) b = b == std::byte{0} ? b : std::byte{1};
  return own;
}

}  // namespace

Result<TensorLayout> read_layout(int data_type, const google::protobuf::RepeatedField<int64_t>& dims) {
  if (data_type <= 0 || data_type > static_cast<int>(DType::kI2))
    return unsupported("element type {} is not known", data_type);
  if (dims.size() > kMaxRank) return unsupported("it has {} dimensions, and {} are the most", dims.size(), kMaxRank);
  TensorLayout layout{static_cast<DType>(data_type), {dims.begin(), dims.end()}, 1, 0};
  const bool empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  for (int64_t d : dims) {
    if (d < 0) return bad_input("a dimension is {}", d);
    if (!empty && (__builtin_mul_overflow(layout.count, d, &layout.count) || layout.count > kMaxBytes))
      return bad_input("its size overflows");
  }
  if (empty) layout.count = 0;
  if (layout.dtype != DType::kString) layout.bytes = ir::packed_bytes(layout.dtype, layout.count);
  return layout;
}

Result<ir::Tensor> TensorReader::read(const pb::TensorProto& proto) {
  TVC_TRY(const TensorLayout layout, read_layout(proto.data_type(), proto.dims()));
  if (proto.has_segment()) return unsupported("it is a segment of a tensor");
  if (layout.dtype == DType::kString) return from_strings(proto, layout);
  ir::Tensor tensor;
  tensor.dtype = layout.dtype;
  tensor.dims = layout.dims;
  if (proto.data_location() == pb::TensorProto::EXTERNAL) {
    TVC_TRY(tensor.bytes, external_.bytes(proto, tensor.owner));
  } else if (proto.has_raw_data()) {
    tensor.bytes = {reinterpret_cast<const std::byte*>(proto.raw_data().data()), proto.raw_data().size()};
    tensor.owner = owner_;
  } else {
    return from_fields(proto, layout);
  }
  if (static_cast<int64_t>(tensor.bytes.size()) != layout.bytes)
    return bad_input("it has {} bytes instead of {}", tensor.bytes.size(), layout.bytes);
  return usable_as_it_lies(tensor) ? tensor : usable_copy(tensor);
}

Result<ir::Tensor> TensorReader::dense(const pb::TensorProto& proto) {
  auto tensor = read(proto);
  if (!tensor.ok() && !proto.name().empty())
    return std::move(tensor).error().at(fmt::format("tensor '{}'", proto.name()));
  return tensor;
}

}  // namespace tvc::onnx_format
