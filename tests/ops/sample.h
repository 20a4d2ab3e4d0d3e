// SPDX-License-Identifier: Apache-2.0
// Samples of operators as data: "f32[2,3], i64[1]{1}, _ | axis=1 mode=\"linear\"". Operands without values get seeded
// ones; _ is an omitted operand.
#pragma once

#include <map>
#include <optional>

#include "ir/ir.h"
#include "ir/scanner.h"
#include "support/result.h"

namespace tvc::tests {

struct Sample {
  std::vector<std::optional<ir::Tensor>> operands;
  std::map<std::string, ir::Attr, std::less<>> attrs;
};

// Floats in (low, high), integers 1 to 4, booleans.
class Seeded {
 public:
  explicit Seeded(uint32_t seed, double low = 0.2, double high = 0.9) : state_(seed), low_(low), high_(high) {}
  double next(ir::DType dtype) {
    state_ = state_ * 1664525u + 1013904223u;
    const uint32_t bits = state_ >> 8;
    if (dtype == ir::DType::kBool) return bits & 1;
    if (!ir::is_float(dtype)) return 1 + bits % (ir::bit_width(dtype) > 2 ? 4 : 1);
    return low_ + (high_ - low_) * (bits % 1000) / 1000.0;
  }

 private:
  uint32_t state_;
  double low_, high_;
};

inline Result<ir::Tensor> read_tensor(ir::Scanner& scan, Seeded& seeded) {
  auto dtype = ir::dtype_from_name(scan.word());
  if (!dtype) return scan.error("a type");
  TVC_CHECK_OK(scan.expect("["));
  std::vector<int64_t> dims;
  int64_t count = 1;
  while (auto d = scan.integer()) {
    dims.push_back(*d);
    count *= *d;
    if (!scan.take(",")) break;
  }
  TVC_CHECK_OK(scan.expect("]"));
  std::vector<double> values;
  if (scan.take("{")) {
    while (auto v = scan.number()) {
      values.push_back(*v);
      if (!scan.take(",")) break;
    }
    TVC_CHECK_OK(scan.expect("}"));
    if (static_cast<int64_t>(values.size()) != count) return scan.error("as many values as elements");
  } else {
    for (int64_t k = 0; k < count; ++k) values.push_back(seeded.next(*dtype));
  }
  return ir::from_f64(*dtype, std::move(dims), values);
}

inline Result<ir::Attr> read_attribute(ir::Scanner& scan) {
  if (scan.peek() == '"') {
    TVC_TRY(auto text, scan.string());
    return ir::Attr(text);
  }
  bool has_point = false;
  if (!scan.take("[")) {
    auto value = scan.number(&has_point);
    if (!value) return scan.error("a number");
    return has_point ? ir::Attr(*value) : ir::Attr(static_cast<int64_t>(*value));
  }
  std::vector<int64_t> list;
  while (auto value = scan.integer()) {
    list.push_back(*value);
    if (!scan.take(",")) break;
  }
  TVC_CHECK_OK(scan.expect("]"));
  return ir::Attr(list);
}

inline Result<Sample> read_sample(std::string_view text, Seeded seeded) {
  Sample sample;
  ir::Scanner scan(text);
  while (!scan.at_end() && scan.peek() != '|') {
    if (scan.take("_")) {
      sample.operands.emplace_back();
    } else {
      TVC_TRY(auto tensor, read_tensor(scan, seeded));
      sample.operands.emplace_back(std::move(tensor));
    }
    if (!scan.take(",")) break;
  }
  if (scan.at_end()) return sample;
  TVC_CHECK_OK(scan.expect("|"));
  while (!scan.at_end()) {
    std::string key(scan.word());
    if (key.empty()) return scan.error("the name of an attribute");
    TVC_CHECK_OK(scan.expect("="));
    TVC_TRY(sample.attrs[key], read_attribute(scan));
  }
  return sample;
}

// Adds a node for the sample to the main graph: operands with given values as constants, the others as `operand` says.
template <typename AddOperand>
ir::NodeId add_sample(ir::Module& module, std::string op, const Sample& sample, size_t outputs, AddOperand&& operand) {
  ir::NodeSpec spec{std::move(op), {}, sample.attrs, outputs, {}};
  for (const auto& tensor : sample.operands) spec.inputs.push_back(tensor ? operand(*tensor) : ir::kNone);
  return ir::add_node(module, 0, std::move(spec));
}

}  // namespace tvc::tests
