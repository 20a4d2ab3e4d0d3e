// SPDX-License-Identifier: Apache-2.0
#include "support/result.h"

#include <doctest/doctest.h>

#include <memory>

using namespace tvc;

namespace {

Result<int> half(int x) {
  if (x % 2 != 0) return bad_input("{} is odd", x);
  return x / 2;
}

Result<int> quarter(int x) {
  TVC_TRY(int once, half(x));
  TVC_TRY(int twice, half(once));
  return twice;
}

}  // namespace

TEST_CASE("TVC_TRY hands the value on, or the first error") {
  REQUIRE(quarter(12).ok());
  CHECK(*quarter(12) == 3);
  auto failed = quarter(6);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().code == ErrorCode::kBadInput);
  CHECK(failed.error().message == "3 is odd");
}

TEST_CASE("places stand outermost first") {
  Error error = bad_input("wrong").at("node").at("file.onnx");
  CHECK(error.text() == "file.onnx: node: wrong");
}
