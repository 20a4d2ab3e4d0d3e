// SPDX-License-Identifier: Apache-2.0
#include "codegen/contraction/tasks.h"

#include <cmath>
#include <cstring>

namespace tvc::codegen::contraction {
namespace {

constexpr int64_t kTasks = 8;        // enough for a few threads to finish together
constexpr int64_t kLeastRows = 24;   // of a chunk: each chunk reads all of its weights
constexpr int64_t kFewestRows = 12;  // of two chunks, so that two threads have work

}  // namespace

RowChunks split_rows(const ir::Dim& rows, int64_t parts, const ir::Dim& most) {
  const int64_t wanted = (kTasks + parts - 1) / std::max<int64_t>(parts, 1);
  ir::Dim needed = ir::max(wanted, ir::ceil_div(rows, most));
  ir::Dim rounded = ir::ceil_div(needed, wanted) * wanted;
  ir::Dim even = ir::floor_div(rows, 2 * kLeastRows) * 2, two = ir::min(ir::floor_div(rows, kFewestRows), 2);
  ir::Dim chunks = ir::max(ir::min(rounded, ir::max(even, two)), 1);
  ir::Dim chunk = ir::max(ir::ceil_div(rows, chunks), 1);
  return {chunk, ir::ceil_div(rows, chunk)};
}

int64_t column_parts(int64_t blocks, const Target& target) {
  const int64_t most = target.vector_registers >= 32 && target.lanes == kBlock ? 4 : 1;
  return (blocks + most - 1) / most;
}

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  std::vector<std::byte> out(values.size() * sizeof(float));
  if (!out.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

std::vector<float> floats_of(const ir::Tensor& tensor) {
  auto view = tensor.as<float>();
  return {view.begin(), view.end()};
}

std::string float_text(double value) {
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
  std::string text = fmt::format("{:.9g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

}  // namespace tvc::codegen::contraction
