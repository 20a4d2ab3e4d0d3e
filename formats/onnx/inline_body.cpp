// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/inline_body.h"

#include <fmt/format.h>

namespace tvc::onnx_format {
namespace {

class Inliner {
 public:
  Inliner(const pb::FunctionProto& body, const pb::NodeProto& call, Names& names)
      : body_(body), call_(call), names_(names), prefix_(node_name(call)) {}

  std::vector<pb::NodeProto> run() {
    std::vector<pb::NodeProto> nodes, copies;
    for (int k = 0; k < body_.input_size(); ++k) actual_[body_.input(k)] = k < call_.input_size() ? call_.input(k) : "";
    for (int k = 0; k < body_.output_size(); ++k) {
      const std::string& formal = body_.output(k);
      const std::string wanted = k < call_.output_size() ? call_.output(k) : "";
      auto [it, is_new] = actual_.try_emplace(formal, wanted);
      if (is_new && wanted.empty()) it->second = fresh(formal);
      if (!is_new && !wanted.empty()) copies.push_back(identity(it->second, wanted));  // an input, or twice an output
    }
    for (const auto& inner : body_.node()) {
      nodes.push_back(inner);
      node(nodes.back());
    }
    for (auto& copy : copies) nodes.push_back(std::move(copy));
    return nodes;
  }

 private:
  pb::NodeProto identity(const std::string& from, const std::string& to) const {
    pb::NodeProto made;
    made.set_op_type("Identity");
    made.set_name(call_.name());
    made.add_input(from);
    made.add_output(to);
    return made;
  }

  std::string fresh(const std::string& inner) { return names_.fresh(fmt::format("{}/{}", prefix_, inner)); }

  std::string actual(const std::string& formal) {
    if (formal.empty()) return formal;
    auto [it, is_new] = actual_.try_emplace(formal, "");
    if (is_new) it->second = fresh(formal);
    return it->second;
  }

  void node(pb::NodeProto& node) {
    for (auto& input : *node.mutable_input()) input = actual(input);
    for (auto& output : *node.mutable_output()) output = actual(output);
    for (int k = node.attribute_size(); k-- > 0;) attribute(node, k);
    node.set_name(node.name().empty() ? prefix_ : fmt::format("{}/{}", prefix_, node.name()));
  }

  // An attribute that refers to one of the call takes its value, or the default, or goes.
  void attribute(pb::NodeProto& node, int k) {
    auto& attribute = *node.mutable_attribute(k);
    if (attribute.has_g()) graph(*attribute.mutable_g());
    if (attribute.ref_attr_name().empty()) return;
    const pb::AttributeProto* source = nullptr;
    for (const auto& fallback : body_.attribute_proto())
      if (fallback.name() == attribute.ref_attr_name()) source = &fallback;
    for (const auto& given : call_.attribute())
      if (given.name() == attribute.ref_attr_name()) source = &given;
    if (source == nullptr) {
      node.mutable_attribute()->DeleteSubrange(k, 1);
      return;
    }
    const std::string name = attribute.name();
    attribute = *source;
    attribute.set_name(name);
  }

  void graph(pb::GraphProto& graph) {
    for (auto& input : *graph.mutable_input()) input.set_name(actual(input.name()));
    for (auto& output : *graph.mutable_output()) output.set_name(actual(output.name()));
    for (auto& tensor : *graph.mutable_initializer()) tensor.set_name(actual(tensor.name()));
    for (auto& sparse : *graph.mutable_sparse_initializer())
      sparse.mutable_values()->set_name(actual(sparse.values().name()));
    for (auto& value : *graph.mutable_value_info()) value.set_name(actual(value.name()));
    for (auto& inner : *graph.mutable_node()) node(inner);
  }

  const pb::FunctionProto& body_;
  const pb::NodeProto& call_;
  Names& names_;
  std::string prefix_;
  std::map<std::string, std::string> actual_;
};

}  // namespace

std::vector<pb::NodeProto> inline_body(const pb::FunctionProto& body, const pb::NodeProto& call, Names& names) {
  return Inliner(body, call, names).run();
}

}  // namespace tvc::onnx_format
