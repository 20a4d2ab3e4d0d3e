// SPDX-License-Identifier: Apache-2.0
#include "formats/npy/npy.h"

#include <array>
#include <charconv>
#include <cstring>

#include "support/file.h"

namespace tvc::npy {
namespace {

using ir::DType;

struct Descriptor {
  DType dtype;
  std::string_view text;
};
constexpr std::array kDescriptors = {
    Descriptor{DType::kF32, "<f4"}, Descriptor{DType::kF64, "<f8"},   Descriptor{DType::kF16, "<f2"},
    Descriptor{DType::kI8, "|i1"},  Descriptor{DType::kU8, "|u1"},    Descriptor{DType::kI16, "<i2"},
    Descriptor{DType::kU16, "<u2"}, Descriptor{DType::kI32, "<i4"},   Descriptor{DType::kU32, "<u4"},
    Descriptor{DType::kI64, "<i8"}, Descriptor{DType::kU64, "<u8"},   Descriptor{DType::kBool, "|b1"},
    Descriptor{DType::kC64, "<c8"}, Descriptor{DType::kC128, "<c16"},
};
constexpr std::string_view kMagic = "\x93NUMPY";

Result<std::string_view> field(std::string_view header, std::string_view key) {
  size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos) return bad_input("the header has no {}", key);
  at = header.find(':', at);
  if (at == std::string_view::npos) return bad_input("the header is malformed at {}", key);
  at = header.find_first_not_of(' ', at + 1);
  return header.substr(std::min(at, header.size()));
}

Result<std::vector<int64_t>> shape_of(std::string_view text, int element_bytes) {
  std::vector<int64_t> dims;
  size_t close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string_view::npos)
    return bad_input("the header's shape is malformed");
  text = text.substr(1, close - 1);
  int64_t bytes = element_bytes;
  while (true) {
    size_t start = text.find_first_not_of(", ");
    if (start == std::string_view::npos) return dims;
    text.remove_prefix(start);
    int64_t dim = 0;
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (code != std::errc() || dim < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(dim, 1), &bytes))
      return bad_input("the header's shape is malformed");
    dims.push_back(dim);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
}

Result<ir::Tensor> parse(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.substr(0, kMagic.size()) != kMagic || text.size() < 12) return bad_input("not a .npy file");
  const bool wide = text[6] >= 2;
  uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, wide ? 4 : 2);
  const size_t start = wide ? 12 : 10;
  if (length > text.size() - start) return bad_input("the header is cut off");
  std::string_view header = text.substr(start, length);
  TVC_TRY(auto descriptor, field(header, "descr"));
  TVC_TRY(auto order, field(header, "fortran_order"));
  TVC_TRY(auto shape, field(header, "shape"));
  if (!order.starts_with("False"))
    return bad_input("the array is in Fortran order: save it with numpy.ascontiguousarray");
  for (const auto& known : kDescriptors) {
    if (!descriptor.substr(1).starts_with(known.text)) continue;
    TVC_TRY(auto dims, shape_of(shape, ir::bit_width(known.dtype) / 8));
    std::span<std::byte> out;
    ir::Tensor counted;
    counted.dims = dims;
    const auto size = static_cast<size_t>(ir::packed_bytes(known.dtype, counted.count()));
    if (size > text.size() - start - length)
      return bad_input("the array is cut off: {} of {} bytes", text.size() - start - length, size);
    ir::Tensor tensor = ir::make_tensor(known.dtype, std::move(dims), &out);
    if (size > 0) std::memcpy(out.data(), text.data() + start + length, size);
    return tensor;
  }
  return unsupported("arrays of type {} are not read", descriptor.substr(0, 6));
}

std::string_view descriptor_of(DType dtype) {
  for (const auto& known : kDescriptors)
    if (known.dtype == dtype) return known.text;
  return ir::bit_width(dtype) == 16 ? "<u2" : "|u1";
}

}  // namespace

Result<ir::Tensor> read(const std::filesystem::path& path) {
  TVC_TRY(auto file, MappedFile::open(path));
  auto tensor = parse(file->bytes());
  if (!tensor.ok()) return std::move(tensor).error().at(path.string());
  return tensor;
}

Result<void> write(const std::filesystem::path& path, const ir::Tensor& tensor) {
  std::string shape;
  for (int64_t d : tensor.dims) shape += fmt::format("{},", d);
  if (ir::bit_width(tensor.dtype) < 8) shape = fmt::format("{},", tensor.bytes.size());  // packed bytes
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descriptor_of(tensor.dtype), shape);
  const size_t padded = (10 + header.size() + 1 + 63) / 64 * 64;
  header.resize(padded - 11, ' ');
  header += '\n';
  std::string out(kMagic);
  out += std::string("\x01\x00", 2);
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  return write_file_atomically(path, out);
}

}  // namespace tvc::npy
