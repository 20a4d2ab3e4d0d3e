// SPDX-License-Identifier: Apache-2.0
// tvc inspect: what is in a model or an artifact.
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "formats/artifact/reader.h"
#include "model.h"
#include "ops/op_def.h"
#include "support/file.h"

namespace tvc::tool {
namespace {

using nlohmann::json;

struct InspectOptions {
  ModelOptions model;
  bool as_json = false, layers = false;
};

std::string shape_text(const ir::Type& type) {
  std::string out;
  for (const auto& d : type.shape) out += (out.empty() ? "" : ", ") + d.text();
  return "[" + out + "]";
}

std::string type_text(const ir::Type& type) {
  std::string text(ir::name(type.dtype));
  if (type.kind == ir::Kind::kSequence) return "sequence of " + text;
  if (type.kind == ir::Kind::kOptional) return "optional " + text;
  return text + shape_text(type);
}

struct Count {
  int64_t constants = 0, constant_bytes = 0, nodes = 0;
  std::map<std::string, int64_t> operators;
};

Count count(const ir::Module& module) {
  Count out;
  for (const auto& value : module.values) {
    if (!value.constant) continue;
    ++out.constants;
    out.constant_bytes += static_cast<int64_t>(value.constant->bytes.size());
  }
  for (const auto& node : module.nodes) {
    if (node.op.empty()) continue;
    ++out.nodes;
    ++out.operators[node.op];
  }
  return out;
}

json signature_json(const ir::Module& module, const std::vector<ir::ValueId>& values) {
  auto out = json::array();
  for (ir::ValueId id : values) {
    const auto& v = module.value(id);
    auto shape = json::array();
    for (const auto& d : v.type.shape) {
      if (d.is_constant()) shape.push_back(d.constant());
      else shape.push_back(d.text());
    }
    out.push_back({{"name", v.name}, {"dtype", ir::name(v.type.dtype)}, {"shape", shape}});
  }
  return out;
}

void print_model(const ir::Module& module, const InspectOptions& options) {
  Count counts = count(module);
  if (options.as_json) {
    json out = {{"inputs", signature_json(module, module.main().inputs)},
                {"outputs", signature_json(module, module.main().outputs)},
                {"nodes", counts.nodes},
                {"constants", counts.constants},
                {"constant_bytes", counts.constant_bytes},
                {"operators", counts.operators},
                {"metadata", module.metadata}};
    for (const auto& symbol : module.symbols)
      out["symbols"].push_back({{"name", symbol.name}, {"source", symbol.source_name}});
    fmt::print("{}\n", out.dump(2));
    return;
  }
  for (const auto& [key, value] : module.metadata) fmt::print("{:<16} {}\n", key, value.substr(0, 100));
  for (ir::ValueId id : module.main().inputs)
    fmt::print("{:<16} {}: {}\n", "input", module.value(id).name, type_text(module.value(id).type));
  for (ir::ValueId id : module.main().outputs)
    fmt::print("{:<16} {}: {}\n", "output", module.value(id).name, type_text(module.value(id).type));
  fmt::print("{:<16} {} in {:.2f} MB\n", "constants", counts.constants,
             static_cast<double>(counts.constant_bytes) / 1e6);
  fmt::print("{:<16} {}\n", "nodes", counts.nodes);
  for (const auto& [op, n] : counts.operators) fmt::print("  {:>5} {}\n", n, op);
  if (!options.layers) return;
  for (const auto& node : module.nodes) {
    if (node.op.empty()) continue;
    std::string types;
    for (ir::ValueId out : node.outputs)
      if (out != ir::kNone) types += (types.empty() ? "" : ", ") + type_text(module.value(out).type);
    fmt::print("{:<28} {:<48} {}\n", node.op, node.label().substr(0, 48), types);
  }
}

json value_json(const ArtifactValue& value) {
  return {{"name", value.name}, {"kind", value.kind}, {"dtype", ir::name(value.dtype)}, {"shape", value.dims}};
}

void print_value(std::string_view what, const ArtifactValue& value) {
  std::string kind = value.kind == "tensor" ? "" : value.kind + " of ";
  fmt::print("{:<16} {}: {}{}[{}]\n", what, value.name, kind, ir::name(value.dtype), fmt::join(value.dims, ", "));
}

void print_artifact(const ArtifactInfo& info, bool as_json) {
  if (as_json) {
    json out = {{"bytes", info.file_bytes}, {"weight_bytes", info.weight_bytes}, {"metadata", info.metadata}};
    for (const auto& t : info.inputs) out["inputs"].push_back(value_json(t));
    for (const auto& t : info.outputs) out["outputs"].push_back(value_json(t));
    for (const auto& v : info.variants)
      out["variants"].push_back({{"target", v.target}, {"features", v.features}, {"bytes", v.bytes}});
    fmt::print("{}\n", out.dump(2));
    return;
  }
  for (const auto& [key, value] : info.metadata) fmt::print("{:<16} {}\n", key, value.substr(0, 100));
  for (const auto& t : info.inputs) print_value("input", t);
  for (const auto& t : info.outputs) print_value("output", t);
  fmt::print("{:<16} {} bytes\n{:<16} {} bytes\n", "file", info.file_bytes, "weights", info.weight_bytes);
  for (const auto& v : info.variants)
    fmt::print("{:<16} {} ({}), {} bytes\n", "code", v.target, fmt::join(v.features, " "), v.bytes);
}

Result<void> inspect(const InspectOptions& options, Diagnostics& diagnostics) {
  if (is_artifact(options.model.model)) {
    TVC_TRY(auto info, read_artifact(options.model.model));
    print_artifact(info, options.as_json);
    return {};
  }
  TVC_TRY(auto module, read_model(options.model, diagnostics));
  TVC_CHECK_OK(ops::infer_types(module));
  print_model(module, options);
  return {};
}

}  // namespace

void add_inspect(CLI::App& app, Session& session, int& exit_code) {
  auto options = std::make_shared<InspectOptions>();
  auto* command = app.add_subcommand("inspect", "Say what is in a model or an artifact");
  command->add_option("file", options->model.model, "A model (.onnx) or an artifact (.tvc)")->required();
  command->add_option("--shape", options->model.shapes, "NAME=1x3x224x224: the shape of an input");
  command->add_option("--dim", options->model.dims, "NAME=4 or NAME=1..8: the value or the range of a free dimension");
  command->add_flag("--json", options->as_json, "As JSON");
  command->add_flag("--layers", options->layers, "One line a node");
  command->callback([=, &session, &exit_code] {
    Terminal terminal(session);
    exit_code = finish(inspect(*options, terminal), terminal, session);
  });
}

}  // namespace tvc::tool
