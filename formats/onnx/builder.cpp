// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/builder.h"

#include <algorithm>
#include <set>

namespace tvc::onnx_format {

Result<ir::Module> Builder::build() {
  const auto& graph = model_->graph();
  module_.main().name = graph.name();
  scopes_.emplace_back();
  TVC_CHECK_OK(initializers(graph, 0));
  TVC_CHECK_OK(model_inputs());
  TVC_CHECK_OK(nodes(graph, 0));
  TVC_CHECK_OK(outputs(graph, 0));
  if (module_.main().outputs.empty()) return bad_input("it has no outputs");
  if (!missing_.empty())
    return unsupported("{} need{} operators that are not supported:\n  {}",
                       missing_.size() == 1 ? "1 node" : fmt::format("{} nodes", missing_.size()),
                       missing_.size() == 1 ? "s" : "", fmt::join(missing_, "\n  "));
  metadata();
  return std::move(module_);
}

Result<void> Builder::define(const std::string& name, ir::ValueId id) {
  if (!scopes_.back().emplace(name, id).second) return bad_input("value '{}' is defined twice", name);
  return {};
}

Result<ir::ValueId> Builder::look_up(const std::string& name) {
  if (name.empty()) return ir::kNone;
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto it = scope->find(name); it != scope->end()) return it->second;
  return bad_input("value '{}' is read, and nothing before gives it", name);
}

Result<void> Builder::initializers(const pb::GraphProto& graph, ir::GraphId id) {
  for (const auto& proto : graph.initializer()) {
    TVC_TRY(auto tensor, tensors_.dense(proto));
    TVC_CHECK_OK(define(proto.name(), ir::add_constant(module_, proto.name(), std::move(tensor), id)));
  }
  for (const auto& proto : graph.sparse_initializer()) {
    const std::string& name = proto.values().name();
    TVC_TRY(auto tensor, tensors_.sparse(proto));
    TVC_CHECK_OK(define(name, ir::add_constant(module_, name, std::move(tensor), id)));
  }
  return {};
}

// Up to IR version 3 every initializer had to be listed as an input too; from 4 on such an input has a default.
Result<void> Builder::model_inputs() {
  std::vector<const pb::ValueInfoProto*> inputs;
  for (const auto& input : model_->graph().input()) {
    if (scopes_.back().count(input.name()) > 0 && model_->ir_version() < 4) continue;
    inputs.push_back(&input);
    TVC_CHECK_OK(symbols_.declare(input));
  }
  std::set<std::string> names;
  for (const auto* input : inputs) {
    auto type = symbols_.input_type(*input);
    if (!type.ok()) return std::move(type).error().at(fmt::format("input '{}'", input->name()));
    if (!names.insert(input->name()).second) return bad_input("input '{}' is listed twice", input->name());
    const ir::ValueId id = ir::add_value(module_, input->name(), *type, 0);
    if (auto initializer = scopes_.back().find(input->name()); initializer != scopes_.back().end()) {
      module_.value(id).default_value = module_.value(initializer->second).constant;
      initializer->second = id;
    } else {
      TVC_CHECK_OK(define(input->name(), id));
    }
    module_.main().inputs.push_back(id);
  }
  return symbols_.check_options();
}

// Their types are set by inference of the node that has the body; declared ones are only a start.
Result<void> Builder::body_inputs(const pb::GraphProto& graph, ir::GraphId id) {
  for (const auto& input : graph.input()) {
    auto type = read_type(input.type());
    const ir::ValueId value = ir::add_value(module_, input.name(), type.ok() ? *type : ir::Type(), id);
    if (auto initializer = scopes_.back().find(input.name());
        initializer != scopes_.back().end() && module_.value(initializer->second).constant)
      initializer->second = value;
    else TVC_CHECK_OK(define(input.name(), value));
    module_.graphs[id].inputs.push_back(value);
  }
  return {};
}

Result<void> Builder::outputs(const pb::GraphProto& graph, ir::GraphId id) {
  std::set<std::string> names;
  for (const auto& output : graph.output()) {
    if (output.name().empty()) return bad_input("an output has no name");
    TVC_TRY(ir::ValueId value, look_up(output.name()));
    if (id == 0 && !names.insert(output.name()).second) return bad_input("output '{}' is listed twice", output.name());
    // An output of the model is a node's result: what is also an input or a constant gets a node.
    if (id == 0 && module_.value(value).producer == ir::kNone) {
      const ir::NodeId copy = ir::add_node(module_, id, {"Identity", {value}, {}, 1, {output.name()}});
      value = module_.node(copy).outputs[0];
      module_.value(value).name = output.name();
    }
    module_.graphs[id].outputs.push_back(value);
  }
  return {};
}

Result<ir::GraphId> Builder::body(const pb::GraphProto& graph) {
  const auto id = static_cast<ir::GraphId>(module_.graphs.size());
  module_.graphs.emplace_back();
  module_.graphs[id].name = graph.name();
  scopes_.emplace_back();
  TVC_CHECK_OK(initializers(graph, id));
  TVC_CHECK_OK(body_inputs(graph, id));
  TVC_CHECK_OK(nodes(graph, id));
  TVC_CHECK_OK(outputs(graph, id));
  scopes_.pop_back();
  return id;
}

void Builder::metadata() {
  auto set = [&](const std::string& key, const std::string& value) {
    if (!value.empty()) module_.metadata["onnx." + key] = value;
  };
  const std::string& version = model_->producer_version();
  set("producer", model_->producer_name() + (version.empty() ? "" : " " + version));
  set("ir_version", std::to_string(model_->ir_version()));
  set("graph", model_->graph().name());
  for (const auto& property : model_->metadata_props()) module_.metadata["model." + property.key()] = property.value();
}

}  // namespace tvc::onnx_format
