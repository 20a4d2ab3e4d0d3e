// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/names.h"

#include <fmt/format.h>

namespace tvc::onnx_format {

void Names::add(const pb::GraphProto& graph) {
  for (const auto& value : graph.input()) taken_.insert(value.name());
  for (const auto& tensor : graph.initializer()) taken_.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) taken_.insert(sparse.values().name());
  for (const auto& node : graph.node()) {
    taken_.insert(node.output().begin(), node.output().end());
    for (const auto& attribute : node.attribute())
      if (attribute.has_g()) add(attribute.g());
  }
}

std::string Names::fresh(const std::string& wish) {
  std::string name = wish;
  for (int k = 2; !taken_.insert(name).second; ++k) name = fmt::format("{}_{}", wish, k);
  return name;
}

std::string operator_name(const pb::NodeProto& node) {
  return node.domain().empty() ? node.op_type() : node.domain() + "." + node.op_type();
}

const std::string& node_name(const pb::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const auto& output : node.output())
    if (!output.empty()) return output;
  return node.op_type();
}

std::string node_place(const pb::NodeProto& node) {
  return fmt::format("node '{}' ({})", node_name(node), operator_name(node));
}

}  // namespace tvc::onnx_format
