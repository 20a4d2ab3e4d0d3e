// SPDX-License-Identifier: Apache-2.0
#include "ir/storage.h"

#include <cstring>

#include "ir/float_format.h"

namespace tvc::ir {
namespace {

template <typename T>
T get(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void put(std::byte* data, int64_t index, T value) {
  std::memcpy(data + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

uint32_t get_bits(int width, const std::byte* data, int64_t index) {
  if (width == 16) return get<uint16_t>(data, index);
  if (width == 8) return get<uint8_t>(data, index);
  int64_t bit = index * width;
  return (std::to_integer<uint32_t>(data[bit / 8]) >> (bit % 8)) & ((1u << width) - 1);
}

void put_bits(int width, std::byte* data, int64_t index, uint32_t bits) {
  if (width == 16) return put(data, index, static_cast<uint16_t>(bits));
  if (width == 8) return put(data, index, static_cast<uint8_t>(bits));
  int64_t bit = index * width;
  uint32_t mask = ((1u << width) - 1) << (bit % 8);
  auto byte = std::to_integer<uint32_t>(data[bit / 8]);
  data[bit / 8] = static_cast<std::byte>((byte & ~mask) | ((bits << (bit % 8)) & mask));
}

}  // namespace

double load_float(DType dtype, const std::byte* data, int64_t index) {
  if (dtype == DType::kF32) return get<float>(data, index);
  if (dtype == DType::kF64) return get<double>(data, index);
  return decode_float(dtype, get_bits(bit_width(dtype), data, index));
}

int64_t load_integer(DType dtype, const std::byte* data, int64_t index) {
  switch (dtype) {
    case DType::kI8: return get<int8_t>(data, index);
    case DType::kI16: return get<int16_t>(data, index);
    case DType::kI32: return get<int32_t>(data, index);
    case DType::kU32: return get<uint32_t>(data, index);
    case DType::kI64:
    case DType::kU64: return get<int64_t>(data, index);
    case DType::kBool: return get<uint8_t>(data, index) != 0;
    default: break;
  }
  int width = bit_width(dtype);
  auto bits = static_cast<int64_t>(get_bits(width, data, index));
  return is_signed_int(dtype) && (bits >> (width - 1)) != 0 ? bits - (int64_t{1} << width) : bits;
}

void store_float(DType dtype, std::byte* data, int64_t index, double value) {
  if (dtype == DType::kF32) return put(data, index, static_cast<float>(value));
  if (dtype == DType::kF64) return put(data, index, value);
  put_bits(bit_width(dtype), data, index, encode_float(dtype, value));
}

void store_integer(DType dtype, std::byte* data, int64_t index, int64_t value) {
  switch (bit_width(dtype)) {
    case 64: return put(data, index, value);
    case 32: return put(data, index, static_cast<int32_t>(value));
    default:
      return put_bits(bit_width(dtype), data, index, static_cast<uint32_t>(dtype == DType::kBool ? value != 0 : value));
  }
}

}  // namespace tvc::ir
