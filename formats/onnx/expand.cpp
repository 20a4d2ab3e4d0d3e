// SPDX-License-Identifier: Apache-2.0
// A node that has no definition of ours, but whose schema gives its meaning as a function of other operators, becomes
// that function's body.
#include <onnx/defs/function.h>
#include <onnx/defs/schema.h>

#include <exception>
#include <map>

#include "formats/onnx/protos.h"
#include "ops/op_def.h"

namespace tvc::onnx_format {
namespace {

constexpr int kMaxRounds = 12;
using Types = std::map<std::string, pb::TypeProto>;

// Renames a body's values: formal ones to the node's, inner ones to fresh names; in nested graphs too.
class Renamer {
 public:
  Renamer(std::string prefix, const pb::NodeProto& call, const pb::FunctionProto& body)
      : prefix_(std::move(prefix)), call_(call), body_(body) {
    for (int k = 0; k < body.input_size(); ++k) names_[body.input(k)] = k < call.input_size() ? call.input(k) : "";
    for (int k = 0; k < body.output_size(); ++k)
      names_[body.output(k)] =
          k < call.output_size() && !call.output(k).empty() ? call.output(k) : prefix_ + body.output(k);
  }

  void node(pb::NodeProto& node) {
    for (auto& input : *node.mutable_input()) input = name(input);
    for (auto& output : *node.mutable_output()) output = name(output);
    for (int k = node.attribute_size(); k-- > 0;) attribute(node, k);
    node.set_name(call_.name());
  }

 private:
  std::string name(const std::string& inner) {
    if (inner.empty()) return inner;
    auto [it, fresh] = names_.try_emplace(inner, "");
    if (fresh) it->second = prefix_ + inner;
    return it->second;
  }

  // An attribute that refers to one of the call takes its value, or the default, or goes.
  void attribute(pb::NodeProto& node, int k) {
    auto& attribute = *node.mutable_attribute(k);
    if (attribute.has_g()) graph(*attribute.mutable_g());
    if (attribute.ref_attr_name().empty()) return;
    const std::string own_name = attribute.name();
    const pb::AttributeProto* source = nullptr;
    for (const auto& given : call_.attribute())
      if (given.name() == attribute.ref_attr_name()) source = &given;
    for (const auto& fallback : body_.attribute_proto())
      if (source == nullptr && fallback.name() == attribute.ref_attr_name()) source = &fallback;
    if (source == nullptr) {
      node.mutable_attribute()->DeleteSubrange(k, 1);
      return;
    }
    pb::AttributeProto copy = *source;
    copy.set_name(own_name);
    attribute = std::move(copy);
  }

  void graph(pb::GraphProto& graph) {
    for (auto& input : *graph.mutable_input()) input.set_name(name(input.name()));
    for (auto& output : *graph.mutable_output()) output.set_name(name(output.name()));
    for (auto& tensor : *graph.mutable_initializer()) tensor.set_name(name(tensor.name()));
    for (auto& value : *graph.mutable_value_info()) value.set_name(name(value.name()));
    for (auto& inner : *graph.mutable_node()) {
      std::string own_name = inner.name();
      node(inner);
      inner.set_name(own_name);
    }
  }

  std::string prefix_;
  const pb::NodeProto& call_;
  const pb::FunctionProto& body_;
  std::map<std::string, std::string> names_;
};

class Expander {
 public:
  explicit Expander(const pb::ModelProto& model) : model_(model) {}

  Result<bool> graph(pb::GraphProto& graph, Types types) {
    for (const auto& value : graph.input()) types[value.name()] = value.type();
    for (const auto& value : graph.value_info()) types[value.name()] = value.type();
    for (const auto& value : graph.output()) types[value.name()] = value.type();
    for (const auto& tensor : graph.initializer()) types[tensor.name()] = type_of(tensor);
    bool changed = false;
    std::vector<pb::NodeProto> nodes;
    for (auto& node : *graph.mutable_node()) {
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g()) {
          TVC_TRY(bool inner, this->graph(*attribute.mutable_g(), types));
          changed |= inner;
        }
      TVC_TRY(bool expanded, expand(node, types, nodes));
      if (!expanded) nodes.push_back(std::move(node));
      changed |= expanded;
    }
    graph.clear_node();
    for (auto& node : nodes) *graph.add_node() = std::move(node);
    return changed;
  }

 private:
  static pb::TypeProto type_of(const pb::TensorProto& tensor) {
    pb::TypeProto type;
    type.mutable_tensor_type()->set_elem_type(tensor.data_type());
    auto* shape = type.mutable_tensor_type()->mutable_shape();
    for (int64_t d : tensor.dims()) shape->add_dim()->set_dim_value(d);
    return type;
  }

  // The function's body for the newest opset, or null.
  bool body_of(const pb::OpSchema& schema, const pb::NodeProto& node, const Types& types,
               pb::FunctionProto& body) const {
    if (schema.HasFunction()) {
      if (const auto* function = schema.GetFunction(newest_opset(), false); function != nullptr) {
        body = *function;
        return true;
      }
    }
    if (!schema.HasContextDependentFunction()) return false;
    std::vector<pb::TypeProto> inputs;
    for (const auto& name : node.input()) {
      auto it = types.find(name);
      inputs.push_back(it == types.end() ? pb::TypeProto() : it->second);
    }
    pb::NodeProto copy = node;
    pb::FunctionBodyBuildContextImpl context(copy, inputs);
    return schema.BuildContextDependentFunction(context, body, newest_opset());
  }

  Result<bool> expand(const pb::NodeProto& node, const Types& types, std::vector<pb::NodeProto>& out) {
    if (node.op_type() == "Constant" || ops::find(operator_name(node)) != nullptr) return false;
    int version = opset_of(model_, node.domain());
    const auto* schema = pb::OpSchemaRegistry::Schema(node.op_type(), version == 0 ? newest_opset() : version,
                                                      node.domain() == "ai.onnx" ? "" : node.domain());
    if (schema == nullptr) return false;
    pb::FunctionProto body;
    try {
      if (!body_of(*schema, node, types, body)) return false;
    } catch (const std::exception&) {
      return false;
    }
    for (const auto& [name, attribute] : schema->attributes()) {  // defaults, for references in the body
      if (attribute.default_value.name().empty()) continue;
      auto* fallback = body.add_attribute_proto();
      *fallback = attribute.default_value;
      fallback->set_name(name);
    }
    int opset = newest_opset();
    for (const auto& import : body.opset_import())
      if (import.domain().empty()) opset = static_cast<int>(import.version());
    Renamer renamer(fmt::format("tvc_fn{}_", counter_++), node, body);
    UpgradeContext context{opset, [](const std::string&) -> const pb::TypeProto* { return nullptr; }};
    for (const auto& inner : body.node()) {
      pb::NodeProto copy = inner;
      renamer.node(copy);
      TVC_TRY(auto upgraded, upgrade_node(copy, context));
      for (auto& made : upgraded) out.push_back(std::move(made));
    }
    return true;
  }

  const pb::ModelProto& model_;
  int counter_ = 0;
};

}  // namespace

std::string operator_name(const pb::NodeProto& node) {
  if (node.domain().empty() || node.domain() == "ai.onnx") return node.op_type();
  return node.domain() + "." + node.op_type();
}

Result<void> expand_functions(pb::ModelProto& model) {
  Expander expander(model);
  for (int round = 0; round < kMaxRounds; ++round) {
    TVC_TRY(bool changed, expander.graph(*model.mutable_graph(), {}));
    if (!changed) return {};
    infer_shapes(model);
  }
  return internal("function bodies of operators do not end");
}

}  // namespace tvc::onnx_format
