// SPDX-License-Identifier: Apache-2.0
#include "ir/storage.h"

#include <doctest/doctest.h>

#include <cmath>

#include "ir/float_format.h"
#include "ir/ir.h"

using namespace tvc;
using ir::DType;

TEST_CASE("every bit pattern of a small float survives decoding and encoding") {
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2,
                      DType::kF8E5M2FNUZ, DType::kF4E2M1, DType::kF8E8M0}) {
    int mismatches = 0;
    for (uint32_t bits = 0; bits < (1u << ir::bit_width(dtype)); ++bits) {
      double value = ir::decode_float(dtype, bits);
      if (std::isnan(value)) continue;
      mismatches += ir::encode_float(dtype, value) != bits;
    }
    CAPTURE(ir::name(dtype));
    CHECK(mismatches == 0);
  }
}

TEST_CASE("known bit patterns") {
  CHECK(ir::encode_float(DType::kF16, 1.0) == 0x3c00);
  CHECK(ir::encode_float(DType::kF16, 65520.0) == 0x7c00);
  CHECK(ir::encode_float(DType::kF16, 0x1p-24) == 1);
  CHECK(ir::encode_float(DType::kBF16, -2.0) == 0xc000);
  CHECK(ir::decode_float(DType::kF8E4M3FN, 0x7e) == 448.0);
  CHECK(std::isnan(ir::decode_float(DType::kF8E4M3FN, 0x7f)));
  CHECK(ir::decode_float(DType::kF4E2M1, 0x7) == 6.0);
  CHECK(ir::encode_float(DType::kF8E8M0, 2.0) == 128);
}

TEST_CASE("sub-byte elements are packed low bits first") {
  ir::Tensor tensor = ir::from_i64(DType::kI4, {3}, {1, -2, 7});
  REQUIRE(tensor.bytes.size() == 2);
  CHECK(std::to_integer<int>(tensor.bytes[0]) == 0xe1);
  CHECK(std::to_integer<int>(tensor.bytes[1]) == 0x07);
  CHECK(ir::to_i64(tensor) == std::vector<int64_t>{1, -2, 7});
}

TEST_CASE("new tensors are zero, whatever lay there before") {
  for (int round = 0; round < 64; ++round) {
    std::vector<std::byte> dirt(24 + static_cast<size_t>(round), std::byte{0xff});
    dirt.clear();
    dirt.shrink_to_fit();
    std::span<std::byte> bytes;
    ir::Tensor tensor = ir::make_tensor(ir::DType::kU8, {24 + round}, &bytes);
    for (std::byte b : bytes) REQUIRE(b == std::byte{0});
  }
}
