// SPDX-License-Identifier: Apache-2.0
// Tensors with storage of their own, and their elements as int64 or double.
#include <cmath>
#include <cstdlib>
#include <new>

#include "ir/ir.h"
#include "ir/storage.h"

namespace tvc::ir {

int64_t Tensor::count() const {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

Tensor make_tensor(DType dtype, std::vector<int64_t> dims, std::span<std::byte>* out_bytes) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  if (dtype == DType::kString) {
    tensor.strings.resize(static_cast<size_t>(tensor.count()));
    return tensor;
  }
  auto bytes = static_cast<size_t>(packed_bytes(dtype, tensor.count()));
  // Aligned for any element type; the system's zero pages are as good as written ones.
  std::shared_ptr<void> storage(std::calloc(bytes + 1, 1), std::free);
  if (!storage) throw std::bad_alloc();
  auto* data = static_cast<std::byte*>(storage.get());
  tensor.bytes = {data, bytes};
  if (out_bytes != nullptr) *out_bytes = {data, bytes};
  tensor.owner = std::move(storage);
  return tensor;
}

Tensor from_f64(DType dtype, std::vector<int64_t> dims, const std::vector<double>& values) {
  std::span<std::byte> out;
  Tensor tensor = make_tensor(dtype, std::move(dims), &out);
  for (size_t k = 0; k < values.size(); ++k) {
    auto at = static_cast<int64_t>(k);
    if (is_float(dtype)) store_float(dtype, out.data(), at, values[k]);
    else store_integer(dtype, out.data(), at, dtype == DType::kBool ? values[k] != 0 : static_cast<int64_t>(values[k]));
  }
  return tensor;
}

Tensor from_i64(DType dtype, std::vector<int64_t> dims, const std::vector<int64_t>& values) {
  std::span<std::byte> out;
  Tensor tensor = make_tensor(dtype, std::move(dims), &out);
  for (size_t k = 0; k < values.size(); ++k) {
    auto at = static_cast<int64_t>(k);
    if (is_float(dtype)) store_float(dtype, out.data(), at, static_cast<double>(values[k]));
    else store_integer(dtype, out.data(), at, values[k]);
  }
  return tensor;
}

Tensor make_i64(std::vector<int64_t> dims, const std::vector<int64_t>& values) {
  return from_i64(DType::kI64, std::move(dims), values);
}

Tensor make_f32(std::vector<int64_t> dims, const std::vector<float>& values) {
  std::span<std::byte> out;
  Tensor tensor = make_tensor(DType::kF32, std::move(dims), &out);
  for (size_t k = 0; k < values.size(); ++k) store_float(DType::kF32, out.data(), static_cast<int64_t>(k), values[k]);
  return tensor;
}

Tensor make_scalar(DType dtype, double value) { return from_f64(dtype, {}, {value}); }

std::vector<int64_t> to_i64(const Tensor& tensor) {
  std::vector<int64_t> out(static_cast<size_t>(tensor.count()));
  for (size_t k = 0; k < out.size(); ++k) {
    auto at = static_cast<int64_t>(k);
    out[k] = is_float(tensor.dtype) ? static_cast<int64_t>(load_float(tensor.dtype, tensor.bytes.data(), at))
                                    : load_integer(tensor.dtype, tensor.bytes.data(), at);
  }
  return out;
}

std::vector<double> to_f64(const Tensor& tensor) {
  std::vector<double> out(static_cast<size_t>(tensor.count()));
  for (size_t k = 0; k < out.size(); ++k) {
    auto at = static_cast<int64_t>(k);
    if (is_float(tensor.dtype)) {
      out[k] = load_float(tensor.dtype, tensor.bytes.data(), at);
    } else {
      int64_t value = load_integer(tensor.dtype, tensor.bytes.data(), at);
      out[k] =
          tensor.dtype == DType::kU64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
    }
  }
  return out;
}

}  // namespace tvc::ir
