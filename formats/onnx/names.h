// SPDX-License-Identifier: Apache-2.0
// Names of values that no other value of the model has, in whatever graph.
#pragma once

#include <string>
#include <unordered_set>

#include "formats/onnx/protos.h"

namespace tvc::onnx_format {

class Names {
 public:
  explicit Names(const pb::ModelProto& model) { add(model.graph()); }
  std::string fresh(const std::string& wish);

 private:
  void add(const pb::GraphProto& graph);
  std::unordered_set<std::string> taken_;
};

}  // namespace tvc::onnx_format
