// SPDX-License-Identifier: Apache-2.0
// Models with flipped bits, cut and torn: refused or read, never a crash, a hang or gigabytes.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <random>

#include "formats/onnx_text.h"

using namespace tvc;
using namespace tvc::test;

namespace {

constexpr const char* kModel = R"(<ir_version: 10, opset_import: ["" : 11, "local" : 1]>
  g (bool c, float[batch, 3, 8] x, float[4] s) => (float[n, m] y, float z)
  <float[3] w = {1, 2, 3}, int64[2] shape = {-1, 3}> {
    w0 = Constant <value = float {0}> ()
    a = local.Scaled <by = 2.0> (x)
    b = Softmax <axis = 1> (a)
    r = Reshape(b, shape)
    u = Unsqueeze <axes = [0]> (r)
    y = If (c) <
      then_branch = yes () => (float[n, m] p) { p = Add(r, w) },
      else_branch = no () => (float[n, m] q) { k = Constant <value = float[3] {1, 2, 3}> ()  q = Mul(r, k) }
    >
    f, z = Scan <num_scan_inputs = 1, body = step (float sum, float item) => (float total, float copy) {
      total = Add(sum, item)
      copy = Identity(total)
    }> (w0, s)
  }
  <domain: "local", opset_import: ["" : 13]>
  Scaled <by: float = 1.0> (a) => (b) { k = Constant <value_float: float = @by> () b = Mul(a, k) })";

std::string damaged(std::string bytes, std::mt19937& random) {
  const auto kind = random() % 4;
  for (auto times = 1 + random() % 3; times > 0 && !bytes.empty(); --times) {
    const size_t at = random() % bytes.size();
    if (kind == 0) bytes.resize(at);
    else if (kind == 1) bytes.erase(at, 1 + random() % 8);
    else if (kind == 2) bytes[at] = static_cast<char>(random());
    else bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
  }
  return bytes;
}

}  // namespace

TEST_CASE("damaged models") {
  const auto model = model_from_text(kModel);
  auto whole = import_proto(model);
  REQUIRE_MESSAGE(whole.ok(), whole.error().text());
  const std::string bytes = model.SerializeAsString();
  std::mt19937 random(1);
  int read = 0;
  for (int k = 0; k < 1500; ++k) {
    auto module = import_bytes(damaged(bytes, random));
    read += module.ok() ? 1 : 0;
    if (!module.ok()) CHECK(module.error().code != ErrorCode::kInternal);
  }
  CHECK(read > 0);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  CHECK(usage.ru_maxrss < 2'000'000);  // kB
}

// Shape inference with data propagation would make an object of each element of `sizes`.
TEST_CASE("a shape with very many elements costs nothing") {
  auto module = import_text(R"(<ir_version: 8, opset_import: ["" : 11]>
    g (int64[1099511627776] sizes, float[2, 3, 4] x) => (int64[n] y, float[n, m, k] z) {
      y = Add(sizes, sizes)
      z = Softmax <axis = 1> (x)
    })");
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  CHECK(ops_of(*module) == std::vector<std::string>{"Add", "Flatten", "Shape", "Softmax", "Reshape"});
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  CHECK(usage.ru_maxrss < 2'000'000);  // kB
}
