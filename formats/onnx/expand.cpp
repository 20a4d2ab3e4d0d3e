// SPDX-License-Identifier: Apache-2.0
// A node that has no definition of ours, but whose schema gives its meaning as a function of other operators, becomes
// that function's body.
#include <onnx/defs/function.h>
#include <onnx/defs/schema.h>

#include <exception>
#include <vector>

#include "formats/onnx/inline_body.h"
#include "formats/onnx/upgrade/upgrade_node.h"
#include "ops/op_def.h"

namespace tvc::onnx_format {
namespace {

constexpr int kMaxRounds = 16;

const pb::OpSchema* schema_of(const pb::ModelProto& model, const pb::NodeProto& node) {
  if (operator_name(node) == "Constant" || ops::find(operator_name(node)) != nullptr) return nullptr;
  const int version = opset_of(model, node.domain());
  const auto* schema =
      pb::OpSchemaRegistry::Schema(node.op_type(), version == 0 ? newest_opset() : version, node.domain());
  return schema != nullptr && (schema->HasFunction() || schema->HasContextDependentFunction()) ? schema : nullptr;
}

class Expander {
 public:
  Expander(const pb::ModelProto& model, Names& names) : model_(model), names_(names) {}

  // True where a node was replaced.
  Result<bool> graph(pb::GraphProto& graph, const ValueTypes& outer) {
    ValueTypes types(&outer);
    types.add(graph);
    bool changed = false;
    google::protobuf::RepeatedPtrField<pb::NodeProto> nodes;
    nodes.Reserve(graph.node_size());
    for (auto& node : *graph.mutable_node()) {
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g()) {
          TVC_TRY(bool inner, this->graph(*attribute.mutable_g(), types));
          changed |= inner;
        }
      pb::FunctionProto body;
      if (!body_of(node, types, body)) {
        *nodes.Add() = std::move(node);
        continue;
      }
      changed = true;
      int opset = newest_opset();
      for (const auto& import : body.opset_import())
        if (import.domain().empty()) opset = static_cast<int>(import.version());
      const UpgradeContext context{opset, no_types_, names_};
      for (auto& inner : inline_body(body, node, names_)) {
        TVC_TRY(auto upgraded, upgrade_tree(std::move(inner), context));
        for (auto& made : upgraded) *nodes.Add() = std::move(made);
      }
    }
    graph.mutable_node()->Swap(&nodes);
    return changed;
  }

 private:
  // The function's body for the newest opset; false: it has none for such types.
  bool body_of(const pb::NodeProto& node, const ValueTypes& types, pb::FunctionProto& body) const {
    const auto* schema = schema_of(model_, node);
    if (schema == nullptr) return false;
    try {
      if (!fill(*schema, node, types, body)) return false;
    } catch (const std::exception&) {  // the node is reported as unsupported then
      return false;
    }
    for (const auto& [name, attribute] : schema->attributes()) {  // defaults, for references in the body
      if (attribute.default_value.name().empty()) continue;
      auto* fallback = body.add_attribute_proto();
      *fallback = attribute.default_value;
      fallback->set_name(name);
    }
    return true;
  }

  static bool fill(const pb::OpSchema& schema, const pb::NodeProto& node, const ValueTypes& types,
                   pb::FunctionProto& body) {
    if (schema.HasFunction())
      if (const auto* function = schema.GetFunction(newest_opset(), false); function != nullptr) {
        body = *function;
        return true;
      }
    if (!schema.HasContextDependentFunction()) return false;
    std::vector<pb::TypeProto> inputs;
    for (const auto& name : node.input()) {
      const auto* type = types.find(name);
      inputs.push_back(type == nullptr ? pb::TypeProto() : *type);
    }
    const pb::FunctionBodyBuildContextImpl context(node, inputs);
    return schema.BuildContextDependentFunction(context, body, newest_opset());
  }

  const pb::ModelProto& model_;
  Names& names_;
  const ValueTypes no_types_;
};

bool wants(const pb::ModelProto& model, const pb::GraphProto& graph, bool (*test)(const pb::OpSchema&)) {
  for (const auto& node : graph.node()) {
    if (const auto* schema = schema_of(model, node); schema != nullptr && test(*schema)) return true;
    for (const auto& attribute : node.attribute())
      if (attribute.has_g() && wants(model, attribute.g(), test)) return true;
  }
  return false;
}

}  // namespace

Result<void> expand_operators(pb::ModelProto& model) {
  if (!wants(model, model.graph(), [](const pb::OpSchema&) { return true; })) return {};
  Names names(model);
  Expander expander(model, names);
  for (int round = 0; round < kMaxRounds; ++round) {
    if (wants(model, model.graph(), [](const pb::OpSchema& s) { return s.HasContextDependentFunction(); }))
      infer_value_types(model);
    const ValueTypes outside;
    TVC_TRY(bool changed, expander.graph(*model.mutable_graph(), outside));
    TVC_CHECK_OK(check_depth(model));
    if (!changed) return {};
  }
  return internal("function bodies of operators do not end");
}

}  // namespace tvc::onnx_format
