// SPDX-License-Identifier: Apache-2.0
#include "formats/npy/npy.h"

#include <doctest/doctest.h>

#include <unistd.h>

#include <fstream>

using namespace tvc;

namespace {

std::filesystem::path scratch(std::string_view name) {
  return std::filesystem::temp_directory_path() / fmt::format("tvc_npy_{}_{}", getpid(), name);
}

}  // namespace

TEST_CASE("arrays come back as written") {
  for (auto dtype : {ir::DType::kF32, ir::DType::kI64, ir::DType::kU8, ir::DType::kF16, ir::DType::kBool}) {
    ir::Tensor tensor = ir::from_f64(dtype, {2, 3}, {0, 1, 0, 1, 1, 0});
    auto path = scratch(ir::name(dtype));
    REQUIRE(npy::write(path, tensor).ok());
    auto read = npy::read(path);
    std::filesystem::remove(path);
    REQUIRE_MESSAGE(read.ok(), read.error().text());
    CHECK(read->dtype == dtype);
    CHECK(read->dims == tensor.dims);
    CHECK(ir::to_f64(*read) == ir::to_f64(tensor));
  }
}

TEST_CASE("cut and malformed files are refused") {
  auto path = scratch("cut");
  REQUIRE(npy::write(path, ir::make_f32({4}, {1, 2, 3, 4})).ok());
  std::string whole;
  {
    std::ifstream in(path, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (size_t size : {0, 5, 11, 60, 130}) {
    std::ofstream(path, std::ios::binary).write(whole.data(), static_cast<std::streamsize>(size));
    auto read = npy::read(path);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().code == ErrorCode::kBadInput);
  }
  std::filesystem::remove(path);
}
