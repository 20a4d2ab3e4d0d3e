// SPDX-License-Identifier: Apache-2.0
// Builds the module from the checked, upgraded message.
#include "formats/onnx/import.h"

#include <unordered_map>

#include "formats/onnx/protos.h"
#include "formats/onnx/symbols.h"
#include "ops/op_def.h"

namespace tvc::onnx_format {
namespace {

class Builder {
 public:
  Builder(std::shared_ptr<pb::ModelProto> model, const std::filesystem::path& folder, const ImportOptions& options)
      : model_(std::move(model)), external_(folder), symbols_(module_, options) {}

  Result<ir::Module> build() {
    module_.main().name = model_->graph().name();
    scopes_.emplace_back();
    TVC_CHECK_OK(initializers(model_->graph(), 0));
    TVC_CHECK_OK(model_inputs());
    TVC_CHECK_OK(nodes(model_->graph(), 0));
    TVC_CHECK_OK(outputs(model_->graph(), 0));
    TVC_CHECK_OK(symbols_.check_all_used());
    if (!missing_.empty()) {
      std::string list;
      for (const auto& line : missing_) list += "\n  " + line;
      return unsupported("{} node(s) need operators that are not supported:{}", missing_.size(), list);
    }
    metadata();
    return std::move(module_);
  }

 private:
  using Scope = std::unordered_map<std::string, ir::ValueId>;

  Result<void> define(const std::string& name, ir::ValueId id) {
    if (!scopes_.back().emplace(name, id).second) return bad_input("value '{}' is defined twice", name);
    return {};
  }

  Result<ir::ValueId> look_up(const std::string& name) {
    if (name.empty()) return ir::kNone;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (auto it = scope->find(name); it != scope->end()) return it->second;
    return bad_input("value '{}' is read before it is defined", name);
  }

  Result<void> initializers(const pb::GraphProto& graph, ir::GraphId id) {
    for (const auto& proto : graph.initializer()) {
      TVC_TRY(auto tensor, read_tensor(proto, model_, external_));
      TVC_CHECK_OK(define(proto.name(), ir::add_constant(module_, proto.name(), std::move(tensor), id)));
    }
    for (const auto& proto : graph.sparse_initializer()) {
      TVC_TRY(auto tensor, read_sparse(proto, model_, external_));
      TVC_CHECK_OK(
          define(proto.values().name(), ir::add_constant(module_, proto.values().name(), std::move(tensor), id)));
    }
    return {};
  }

  // Up to IR version 3 every initializer had to be listed as an input too; from 4 on such an input has a default.
  Result<void> model_inputs() {
    for (const auto& input : model_->graph().input()) {
      auto initializer = scopes_.back().find(input.name());
      if (initializer != scopes_.back().end() && model_->ir_version() < 4) continue;
      auto type = symbols_.input_type(input);
      if (!type.ok()) return std::move(type).error().at(fmt::format("input '{}'", input.name()));
      ir::ValueId id = ir::add_value(module_, input.name(), *type, 0);
      if (initializer != scopes_.back().end()) {
        module_.value(id).default_value = module_.value(initializer->second).constant;
        initializer->second = id;
      } else {
        TVC_CHECK_OK(define(input.name(), id));
      }
      module_.main().inputs.push_back(id);
    }
    return {};
  }

  Result<void> body_inputs(const pb::GraphProto& graph, ir::GraphId id) {
    for (const auto& input : graph.input()) {
      ir::Type type;  // of its node's making: inference of the control operator sets it
      if (input.type().has_tensor_type() || input.type().has_sequence_type() || input.type().has_optional_type()) {
        auto read = read_type(input.type(),
                              [](const auto& dim, int) { return ir::Dim(dim.has_dim_value() ? dim.dim_value() : -1); });
        if (read.ok()) type = *read;
      }
      ir::ValueId value = ir::add_value(module_, input.name(), std::move(type), id);
      if (auto initializer = scopes_.back().find(input.name()); initializer != scopes_.back().end())
        initializer->second = value;
      else TVC_CHECK_OK(define(input.name(), value));
      module_.graphs[id].inputs.push_back(value);
    }
    return {};
  }

  Result<void> outputs(const pb::GraphProto& graph, ir::GraphId id) {
    for (const auto& output : graph.output()) {
      TVC_TRY(ir::ValueId value, look_up(output.name()));
      // Output k of the model has a value of its own, so that its name and storage are its own.
      bool is_own = module_.value(value).producer != ir::kNone && module_.value(value).graph == id &&
                    module_.value(value).name == output.name();
      for (ir::ValueId other : module_.graphs[id].outputs) is_own &= other != value;
      if (id == 0 && !is_own) {
        ir::NodeId copy = ir::add_node(module_, id, {"Identity", {value}, {}, 1, {output.name()}});
        value = module_.node(copy).outputs[0];
        module_.value(value).name = output.name();
      }
      module_.graphs[id].outputs.push_back(value);
    }
    return {};
  }

  Result<ir::GraphId> body(const pb::GraphProto& graph) {
    auto id = static_cast<ir::GraphId>(module_.graphs.size());
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

  Result<void> nodes(const pb::GraphProto& graph, ir::GraphId id) {
    for (const auto& node : graph.node()) {
      auto status =
          node.op_type() == "Constant" && operator_name(node) == "Constant" ? constant(node, id) : this->node(node, id);
      if (!status.ok()) {
        Error error = status.error();
        const std::string& name = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
        return std::move(error).at(fmt::format("{} {}", node.op_type(), name));
      }
    }
    return {};
  }

  Result<void> node(const pb::NodeProto& proto, ir::GraphId id) {
    const std::string op = operator_name(proto);
    const std::string& name = proto.name().empty() && proto.output_size() > 0 ? proto.output(0) : proto.name();
    if (ops::find(op) == nullptr) missing_.push_back(fmt::format("'{}' ({})", name, op));
    ir::NodeSpec spec;
    spec.op = op;
    spec.outputs = static_cast<size_t>(proto.output_size());
    spec.origin = {name};
    for (const auto& input : proto.input()) {
      TVC_TRY(ir::ValueId value, look_up(input));
      spec.inputs.push_back(value);
    }
    while (!spec.inputs.empty() && spec.inputs.back() == ir::kNone) spec.inputs.pop_back();
    for (const auto& attribute : proto.attribute()) {
      TVC_TRY(auto value, read_attribute(attribute));
      spec.attrs.emplace(attribute.name(), std::move(value));
    }
    ir::NodeId made = ir::add_node(module_, id, std::move(spec));
    for (int k = 0; k < proto.output_size(); ++k) {
      ir::ValueId& out = module_.node(made).outputs[static_cast<size_t>(k)];
      if (proto.output(k).empty()) {
        module_.value(out).producer = ir::kNone;
        out = ir::kNone;
        continue;
      }
      module_.value(out).name = proto.output(k);
      TVC_CHECK_OK(define(proto.output(k), out));
    }
    return {};
  }

  Result<ir::Attr> read_attribute(const pb::AttributeProto& proto) {
    switch (proto.type()) {
      case pb::AttributeProto::INT: return ir::Attr(static_cast<int64_t>(proto.i()));
      case pb::AttributeProto::FLOAT: return ir::Attr(static_cast<double>(proto.f()));
      case pb::AttributeProto::STRING: return ir::Attr(proto.s());
      case pb::AttributeProto::INTS: return ir::Attr(std::vector<int64_t>(proto.ints().begin(), proto.ints().end()));
      case pb::AttributeProto::FLOATS:
        return ir::Attr(std::vector<double>(proto.floats().begin(), proto.floats().end()));
      case pb::AttributeProto::STRINGS:
        return ir::Attr(std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
      case pb::AttributeProto::TENSOR: {
        TVC_TRY(auto tensor, read_tensor(proto.t(), model_, external_));
        return ir::Attr(std::make_shared<const ir::Tensor>(std::move(tensor)));
      }
      case pb::AttributeProto::GRAPH: {
        TVC_TRY(ir::GraphId graph, body(proto.g()));
        return ir::Attr(graph);
      }
      case pb::AttributeProto::TYPE_PROTO: {  // of Optional: the element type says all that is needed
        TVC_TRY(auto type, read_type(proto.tp(), [](const auto& dim, int) {
                  return ir::Dim(dim.has_dim_value() ? dim.dim_value() : -1);
                }));
        std::vector<int64_t> text = {static_cast<int64_t>(type.dtype), static_cast<int64_t>(type.kind)};
        return ir::Attr(std::move(text));
      }
      default: return unsupported("attribute {} has an unsupported type", proto.name());
    }
  }

  // Every form of Constant is a constant value.
  Result<void> constant(const pb::NodeProto& node, ir::GraphId id) {
    if (node.attribute_size() != 1 || node.output_size() != 1) return bad_input("wants one attribute");
    const auto& attribute = node.attribute(0);
    ir::Tensor tensor;
    if (attribute.has_sparse_tensor()) {
      TVC_TRY(tensor, read_sparse(attribute.sparse_tensor(), model_, external_));
    } else if (attribute.has_t()) {
      TVC_TRY(tensor, read_tensor(attribute.t(), model_, external_));
    } else if (attribute.name() == "value_float") {
      tensor = ir::make_f32({}, {attribute.f()});
    } else if (attribute.name() == "value_int") {
      tensor = ir::make_i64({}, {attribute.i()});
    } else if (attribute.name() == "value_floats") {
      tensor = ir::make_f32({attribute.floats_size()}, {attribute.floats().begin(), attribute.floats().end()});
    } else if (attribute.name() == "value_ints") {
      tensor = ir::make_i64({attribute.ints_size()}, {attribute.ints().begin(), attribute.ints().end()});
    } else if (attribute.name() == "value_string" || attribute.name() == "value_strings") {
      tensor.dtype = ir::DType::kString;
      if (attribute.name() == "value_strings") tensor.dims = {attribute.strings_size()};
      tensor.strings.assign(attribute.strings().begin(), attribute.strings().end());
      if (attribute.name() == "value_string") tensor.strings = {attribute.s()};
    } else {
      return bad_input("attribute {} is not known", attribute.name());
    }
    return define(node.output(0), ir::add_constant(module_, node.output(0), std::move(tensor), id));
  }

  void metadata() {
    auto set = [&](const std::string& key, const std::string& value) {
      if (!value.empty()) module_.metadata["onnx." + key] = value;
    };
    set("producer",
        model_->producer_name() + (model_->producer_version().empty() ? "" : " " + model_->producer_version()));
    set("ir_version", std::to_string(model_->ir_version()));
    set("graph", model_->graph().name());
    for (const auto& property : model_->metadata_props())
      module_.metadata["model." + property.key()] = property.value();
  }

  std::shared_ptr<pb::ModelProto> model_;
  ir::Module module_;
  ExternalData external_;
  Symbols symbols_;
  std::vector<Scope> scopes_;
  std::vector<std::string> missing_;
};

Result<ir::Module> import_unplaced(const std::filesystem::path& path, const ImportOptions& options,
                                   Diagnostics& diagnostics) {
  TVC_TRY(auto proto, read_proto(path, diagnostics));
  int opset = opset_of(*proto, "");
  TVC_CHECK_OK(upgrade_model(*proto));
  TVC_CHECK_OK(expand_functions(*proto));
  std::filesystem::path folder = path.parent_path().empty() ? std::filesystem::path(".") : path.parent_path();
  TVC_TRY(auto module, Builder(std::move(proto), folder, options).build());
  if (opset != 0) module.metadata["onnx.opset"] = std::to_string(opset);
  return module;
}

}  // namespace

Result<ir::Module> import_model(const std::filesystem::path& path, const ImportOptions& options,
                                Diagnostics& diagnostics) {
  auto module = import_unplaced(path, options, diagnostics);
  if (!module.ok()) return std::move(module).error().at(path.string());
  return module;
}

}  // namespace tvc::onnx_format
