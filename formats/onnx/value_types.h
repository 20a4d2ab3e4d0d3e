// SPDX-License-Identifier: Apache-2.0
// Types of a model's values, as far as onnx's shape inference tells.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/onnx/protos.h"

namespace tvc::onnx_format {

// Writes what can be inferred into each graph's value_info. What cannot stays unknown: our own inference refuses later.
void infer_value_types(pb::ModelProto& model);

// The types of one graph's values and, through `outer`, of those around it. The graph must outlive it.
class ValueTypes {
 public:
  explicit ValueTypes(const ValueTypes* outer = nullptr) : outer_(outer) {}
  void add(const pb::GraphProto& graph);
  const pb::TypeProto* find(const std::string& name) const;         // null: unknown
  int rank(const std::string& name) const;                          // -1: unknown
  int element_type(const std::string& name) const;                  // 0: unknown
  const std::vector<float>* floats(const std::string& name) const;  // a small constant's elements; null: unknown

 private:
  void add_constant(const std::string& name, const pb::TensorProto& tensor);
  const ValueTypes* outer_;
  std::unordered_map<std::string, const pb::TypeProto*> types_;
  std::deque<pb::TypeProto> of_initializers_;
  std::unordered_map<std::string, std::vector<float>> floats_;
};

}  // namespace tvc::onnx_format
