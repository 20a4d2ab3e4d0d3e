// SPDX-License-Identifier: Apache-2.0
// From a file to a parsed message of known versions.
#include <google/protobuf/io/coded_stream.h>
#include <onnx/defs/schema.h>

#include <limits>
#include <set>

#include "formats/onnx/protos.h"
#include "support/file.h"

namespace tvc::onnx_format {
namespace {

constexpr int kOldestIr = 3;
constexpr std::string_view kLongName = "ai.onnx";  // of the default domain, whose short one is ""

using Nodes = google::protobuf::RepeatedPtrField<pb::NodeProto>;
using Imports = google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>;

int depth_of(const Nodes& nodes, int depth) {
  int deepest = depth;
  if (depth > kMaxGraphDepth) return depth;
  for (const auto& node : nodes)
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) deepest = std::max(deepest, depth_of(attribute.g().node(), depth + 1));
      for (const auto& graph : attribute.graphs()) deepest = std::max(deepest, depth_of(graph.node(), depth + 1));
    }
  return deepest;
}

// Writes the default domain as "" and collects the domains that are used.
void shorten_domains(Nodes& nodes, std::set<std::string>& used) {
  for (auto& node : nodes) {
    if (node.domain() == kLongName) node.clear_domain();
    used.insert(node.domain());
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) shorten_domains(*attribute.mutable_g()->mutable_node(), used);
  }
}

// Exporters forget to import domains whose operators they write; version 1 is what there is of those.
void complete_imports(Imports& imports, const std::set<std::string>& used) {
  for (auto& import : imports)
    if (import.domain() == kLongName) import.clear_domain();
  for (const auto& domain : used) {
    bool found = false;
    for (const auto& import : imports) found |= import.domain() == domain;
    if (found || domain.empty()) continue;
    auto* import = imports.Add();
    import->set_domain(domain);
    import->set_version(1);
  }
}

Result<void> check_import(const pb::OperatorSetIdProto& import) {
  const auto& known = pb::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  auto range = known.find(import.domain());
  if (range == known.end()) return {};
  const std::string name = import.domain().empty() ? "" : fmt::format(" of {}", import.domain());
  if (import.version() < range->second.first)
    return bad_input("opset {}{} is no version there is", import.version(), name);
  if (import.version() > range->second.second)
    return unsupported("opset {}{} is newer than {}, the newest known", import.version(), name, range->second.second);
  return {};
}

Result<void> check_versions(const pb::ModelProto& model) {
  if (!model.has_graph()) return bad_input("not an ONNX model: it has no graph");
  if (model.ir_version() < kOldestIr)
    return unsupported("IR version {} is older than {}", model.ir_version(), kOldestIr);
  if (model.ir_version() > pb::Version::IR_VERSION)
    return unsupported("IR version {} is newer than {}, the newest known", model.ir_version(),
                       static_cast<int>(pb::Version::IR_VERSION));
  if (model.opset_import_size() == 0) return bad_input("not an ONNX model: it does not say its opset");
  for (const auto& import : model.opset_import()) TVC_CHECK_OK(check_import(import));
  for (const auto& function : model.functions())
    for (const auto& import : function.opset_import())
      if (auto status = check_import(import); !status.ok())
        return std::move(status).error().at(fmt::format("function '{}'", function.name()));
  return {};
}

}  // namespace

int opset_of(const pb::ModelProto& model, std::string_view domain) {
  for (const auto& import : model.opset_import())
    if (import.domain() == domain) return static_cast<int>(import.version());
  return 0;
}

int newest_opset() { return pb::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second; }

Result<void> check_depth(const pb::ModelProto& model) {
  int depth = depth_of(model.graph().node(), 0);
  for (const auto& function : model.functions()) depth = std::max(depth, depth_of(function.node(), 0));
  if (depth > kMaxGraphDepth) return unsupported("graphs are nested deeper than {}", kMaxGraphDepth);
  return {};
}

Result<std::shared_ptr<pb::ModelProto>> read_proto(const std::filesystem::path& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return bad_input("is a folder");
  TVC_TRY(auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  if (bytes.empty()) return bad_input("the file is empty");
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return bad_input("the file is larger than 2 GB, the most that protobuf reads: keep its weights as external data");
  auto model = std::make_shared<pb::ModelProto>();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return bad_input("not an ONNX model, or cut off: its bytes don't parse");
  TVC_CHECK_OK(check_depth(*model));
  std::set<std::string> used;
  shorten_domains(*model->mutable_graph()->mutable_node(), used);
  complete_imports(*model->mutable_opset_import(), used);
  for (auto& function : *model->mutable_functions()) {
    if (function.domain() == kLongName) function.clear_domain();
    std::set<std::string> used_there;
    shorten_domains(*function.mutable_node(), used_there);
    complete_imports(*function.mutable_opset_import(), used_there);
  }
  TVC_CHECK_OK(check_versions(*model));
  return model;
}

}  // namespace tvc::onnx_format
