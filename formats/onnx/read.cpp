// SPDX-License-Identifier: Apache-2.0
// From a file to a checked message.
#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/inliner/inliner.h>
#include <onnx/shape_inference/implementation.h>

#include <google/protobuf/io/coded_stream.h>

#include <exception>
#include <limits>

#include "formats/onnx/protos.h"
#include "support/file.h"

namespace tvc::onnx_format {
namespace {

constexpr int64_t kOldestOpset = 7;
constexpr int kMaxGraphDepth = 32;

// The message of an exception of onnx without its trailing context lines.
std::string first_lines(const char* what) {
  std::string text(what);
  size_t end = text.find("\n\n");
  if (end != std::string::npos) text.resize(end);
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text.substr(0, 600);
}

bool has_external_data(const pb::GraphProto& graph) {
  for (const auto& tensor : graph.initializer())
    if (tensor.data_location() == pb::TensorProto::EXTERNAL) return true;
  for (const auto& node : graph.node())
    for (const auto& attribute : node.attribute())
      if ((attribute.has_t() && attribute.t().data_location() == pb::TensorProto::EXTERNAL) ||
          (attribute.has_g() && has_external_data(attribute.g())))
        return true;
  return false;
}

int depth_of(const pb::GraphProto& graph, int depth = 0) {
  if (depth > kMaxGraphDepth) return depth;
  int deepest = depth;
  for (const auto& node : graph.node())
    for (const auto& attribute : node.attribute())
      if (attribute.has_g()) deepest = std::max(deepest, depth_of(attribute.g(), depth + 1));
  return deepest;
}

Result<void> check(const pb::ModelProto& model, const std::filesystem::path& path) {
  try {
    // With external data the checker must know the folder, so it reads the file itself.
    if (has_external_data(model.graph())) pb::checker::check_model(path.string());
    else pb::checker::check_model(model);
  } catch (const std::exception& error) {
    return bad_input("not a valid model: {}", first_lines(error.what()));
  }
  return {};
}

Result<void> check_versions(const pb::ModelProto& model) {
  if (!model.has_graph()) return bad_input("not an ONNX model: it has no graph");
  if (model.ir_version() < 3) return unsupported("IR version {} is older than 3", model.ir_version());
  if (depth_of(model.graph()) > kMaxGraphDepth) return unsupported("graphs are nested deeper than {}", kMaxGraphDepth);
  int opset = opset_of(model, "");
  if (opset != 0 && opset < kOldestOpset) return unsupported("opset {} is older than {}", opset, kOldestOpset);
  if (opset > newest_opset()) return unsupported("opset {} is newer than {}, the newest known", opset, newest_opset());
  return {};
}

}  // namespace

int opset_of(const pb::ModelProto& model, const std::string& domain) {
  for (const auto& import : model.opset_import())
    if (import.domain() == domain || (domain.empty() && import.domain() == "ai.onnx"))
      return static_cast<int>(import.version());
  return 0;
}

int newest_opset() { return pb::OpSchemaRegistry::DomainToVersionRange::Instance().LastReleaseVersionMap().at(""); }

void infer_shapes(pb::ModelProto& model) {
  try {
    pb::shape_inference::InferShapes(model, pb::OpSchemaRegistry::Instance(),
                                     pb::ShapeInferenceOptions{false, 0, true});
  } catch (
      const std::exception&) {  // what it could not infer stays unknown; our own inference refuses with the node's name
  }
}

Result<std::shared_ptr<pb::ModelProto>> read_proto(const std::filesystem::path& path, Diagnostics&) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return bad_input("is a folder");
  TVC_TRY(auto file, MappedFile::open(path));
  if (file->bytes().empty()) return bad_input("the file is empty");
  if (file->bytes().size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return bad_input("the file is larger than 2 GB: keep weights as external data");
  auto model = std::make_shared<pb::ModelProto>();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(file->bytes().data()),
                                                static_cast<int>(file->bytes().size()));
  stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return bad_input("not an ONNX model, or cut off: its bytes don't parse");
  TVC_CHECK_OK(check_versions(*model));
  TVC_CHECK_OK(check(*model, path));
  try {
    if (model->functions_size() > 0) pb::inliner::InlineLocalFunctions(*model, true);
  } catch (const std::exception& error) {
    return bad_input("its functions can't be inlined: {}", first_lines(error.what()));
  }
  infer_shapes(*model);
  return model;
}

}  // namespace tvc::onnx_format
