// SPDX-License-Identifier: Apache-2.0
// TensorProto in all its forms: raw bytes, typed fields, external data, sparse.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "formats/onnx/protos.h"
#include "ir/storage.h"
#include "support/file.h"

namespace tvc::onnx_format {
namespace {

namespace fs = std::filesystem;
using ir::DType;

constexpr int64_t kMaxBytes = int64_t{1} << 40;

Result<std::vector<int64_t>> checked_dims(const pb::TensorProto& tensor, int64_t& bytes) {
  if (tensor.data_type() <= 0 || tensor.data_type() > static_cast<int>(DType::kI2))
    return unsupported("element type {} is not known", tensor.data_type());
  auto dtype = static_cast<DType>(tensor.data_type());
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  int64_t bits = dtype == DType::kString ? 8 : ir::bit_width(dtype);
  bool empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  for (int64_t d : dims) {
    if (d < 0) return bad_input("a dimension is negative");
    if (!empty && (__builtin_mul_overflow(bits, d, &bits) || bits / 8 > kMaxBytes))
      return bad_input("its size overflows");
  }
  bytes = empty ? 0 : (bits + 7) / 8;
  return dims;
}

template <typename Field>
Result<void> copy_integers(const Field& field, ir::Tensor& tensor, std::span<std::byte> out) {
  // Types below a byte are packed in the message as in memory, one byte an entry.
  DType dtype = ir::bit_width(tensor.dtype) < 8 || ir::is_float(tensor.dtype)
                    ? (ir::bit_width(tensor.dtype) == 16 ? DType::kU16 : DType::kU8)
                    : tensor.dtype;
  auto count = static_cast<int64_t>(out.size()) * 8 / ir::bit_width(dtype);
  if (field.size() != count) return bad_input("it has {} elements instead of {}", field.size(), count);
  for (int64_t k = 0; k < count; ++k)
    ir::store_integer(dtype, out.data(), k, static_cast<int64_t>(field[static_cast<int>(k)]));
  return {};
}

template <typename T, typename Field>
Result<void> copy_floats(const Field& field, std::span<std::byte> out) {
  if (static_cast<size_t>(field.size()) * sizeof(T) != out.size())
    return bad_input("it has {} elements instead of {}", field.size(), out.size() / sizeof(T));
  std::memcpy(out.data(), field.data(), out.size());
  return {};
}

Result<void> copy_typed(const pb::TensorProto& proto, ir::Tensor& tensor, std::span<std::byte> out) {
  switch (tensor.dtype) {
    case DType::kF32:
    case DType::kC64: return copy_floats<float>(proto.float_data(), out);
    case DType::kF64:
    case DType::kC128: return copy_floats<double>(proto.double_data(), out);
    case DType::kI64: return copy_floats<int64_t>(proto.int64_data(), out);
    case DType::kU64: return copy_floats<uint64_t>(proto.uint64_data(), out);
    case DType::kU32: return copy_integers(proto.uint64_data(), tensor, out);
    default: return copy_integers(proto.int32_data(), tensor, out);
  }
}

Result<int64_t> number_entry(const std::string& text) {
  int64_t value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 0)
    return bad_input("external data: '{}' is no size", text.substr(0, 40));
  return value;
}

// Typed views need aligned data; a message's or a file's bytes may lie anywhere.
bool is_aligned_for(const ir::Tensor& tensor) {
  auto width = static_cast<uintptr_t>(std::clamp(ir::bit_width(tensor.dtype) / 8, 1, 8));
  return reinterpret_cast<uintptr_t>(tensor.bytes.data()) % width == 0;
}

Result<ir::Tensor> read_unnamed(const pb::TensorProto& proto, const std::shared_ptr<const void>& owner,
                                ExternalData& external) {
  int64_t bytes = 0;
  TVC_TRY(auto dims, checked_dims(proto, bytes));
  ir::Tensor tensor;
  tensor.dtype = static_cast<DType>(proto.data_type());
  tensor.dims = std::move(dims);
  if (tensor.dtype == DType::kString) {
    if (proto.string_data_size() != tensor.count())
      return bad_input("it has {} strings instead of {}", proto.string_data_size(), tensor.count());
    tensor.strings.assign(proto.string_data().begin(), proto.string_data().end());
    return tensor;
  }
  if (proto.data_location() == pb::TensorProto::EXTERNAL) {
    TVC_TRY(tensor.bytes, external.bytes(proto, tensor.owner));
  } else if (proto.has_raw_data()) {
    tensor.bytes = {reinterpret_cast<const std::byte*>(proto.raw_data().data()), proto.raw_data().size()};
    tensor.owner = owner;
  } else {
    std::span<std::byte> out;
    ir::Tensor own = ir::make_tensor(tensor.dtype, tensor.dims, &out);
    if (bytes > 0) TVC_CHECK_OK(copy_typed(proto, own, out));
    return own;
  }
  if (static_cast<int64_t>(tensor.bytes.size()) != bytes)
    return bad_input("it has {} bytes instead of {}", tensor.bytes.size(), bytes);
  if (is_aligned_for(tensor)) return tensor;
  std::span<std::byte> out;
  ir::Tensor own = ir::make_tensor(tensor.dtype, tensor.dims, &out);
  std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
  return own;
}

}  // namespace

Result<std::span<const std::byte>> ExternalData::bytes(const pb::TensorProto& tensor,
                                                       std::shared_ptr<const void>& owner) {
  std::string location;
  int64_t offset = 0, length = -1;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") {
      TVC_TRY(offset, number_entry(entry.value()));
    }
    if (entry.key() == "length") {
      TVC_TRY(length, number_entry(entry.value()));
    }
  }
  fs::path relative(location);
  if (location.empty() || relative.is_absolute() || location.find('\0') != std::string::npos)
    return bad_input("external data '{}' is no path inside the model's folder", location);
  auto view = views_.find(location);
  if (view == views_.end()) {
    std::error_code code;
    fs::path root = fs::canonical(folder_, code);
    if (code) return bad_input("the model's folder can't be read");
    fs::path target = fs::canonical(root / relative, code);
    if (code) return bad_input("external data '{}' is missing", location);
    auto inside = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
    if (inside.first != root.end()) return bad_input("external data '{}' lies outside of the model's folder", location);
    TVC_TRY(auto file, MappedFile::open(target));
    views_[location] = file->bytes();
    files_[location] = file;
    view = views_.find(location);
  }
  owner = files_[location];
  const auto size = static_cast<int64_t>(view->second.size());
  if (offset > size) return bad_input("external data '{}' ends before offset {}", location, offset);
  if (length < 0) length = size - offset;
  if (length > size - offset)
    return bad_input("external data '{}' is cut off: {} bytes from {} of {}", location, length, offset, size);
  return view->second.subspan(static_cast<size_t>(offset), static_cast<size_t>(length));
}

Result<ir::Tensor> read_tensor(const pb::TensorProto& proto, const std::shared_ptr<const void>& owner,
                               ExternalData& external) {
  auto tensor = read_unnamed(proto, owner, external);
  if (!tensor.ok()) return std::move(tensor).error().at(fmt::format("tensor '{}'", proto.name()));
  return tensor;
}

Result<ir::Tensor> read_sparse(const pb::SparseTensorProto& sparse, const std::shared_ptr<const void>& owner,
                               ExternalData& external) {
  TVC_TRY(auto values, read_tensor(sparse.values(), owner, external));
  TVC_TRY(auto indices, read_tensor(sparse.indices(), owner, external));
  pb::TensorProto shape;
  shape.set_data_type(sparse.values().data_type());
  *shape.mutable_dims() = sparse.dims();
  int64_t bytes = 0;
  TVC_TRY(auto dims, checked_dims(shape, bytes));
  if (bytes > (int64_t{1} << 32))
    return unsupported("sparse tensor '{}' is too large to be made dense", sparse.values().name());
  if (indices.dtype != DType::kI64 || ir::bit_width(values.dtype) < 8)
    return unsupported("sparse tensor '{}' has such types", sparse.values().name());
  std::span<std::byte> out;
  ir::Tensor dense = ir::make_tensor(values.dtype, dims, &out);
  auto at = indices.as<int64_t>();
  const int64_t count = values.count(), rank = indices.dims.size() == 2 ? indices.dims[1] : 1,
                width = ir::bit_width(values.dtype) / 8;
  if (static_cast<int64_t>(at.size()) != count * rank ||
      (indices.dims.size() == 2 && rank != static_cast<int64_t>(dims.size())))
    return bad_input("sparse tensor '{}' has indices of a wrong shape", sparse.values().name());
  for (int64_t k = 0; k < count; ++k) {
    int64_t position = 0;
    for (int64_t a = 0; a < rank; ++a)
      position = indices.dims.size() == 2
                     ? position * dims[static_cast<size_t>(a)] + at[static_cast<size_t>(k * rank + a)]
                     : at[static_cast<size_t>(k)];
    if (position < 0 || position >= dense.count())
      return bad_input("sparse tensor '{}' has an index out of range", sparse.values().name());
    std::memcpy(out.data() + position * width, values.bytes.data() + k * width, static_cast<size_t>(width));
  }
  return dense;
}

}  // namespace tvc::onnx_format
