// SPDX-License-Identifier: Apache-2.0
// onnx's checker, with its refusals as one line that names the node. Models of real exporters import domains that
// nobody knows and declare shapes that are wrong; neither matters here.
#include "formats/onnx/protos.h"

#include <onnx/checker.h>
#include <onnx/defs/schema.h>

#include <exception>
#include <set>
#include <unordered_map>
#include <vector>

namespace tvc::onnx_format {
namespace {

constexpr size_t kMaxMessage = 500;

std::string one_line(std::string_view text) {
  std::string line(text.substr(0, std::min(text.find("\n\n==> Context: "), kMaxMessage)));
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return line;
}

// "reason\n\n==> Context: Bad node spec for node. Name: x OpType: Y"
Error refusal(std::string_view what) {
  std::string place;
  if (size_t name = what.find(". Name: "), type = what.find(" OpType: ");
      type != std::string_view::npos && name < type) {
    auto op = what.substr(type + 9);
    place =
        fmt::format("node '{}' ({})", what.substr(name + 8, type - name - 8), op.substr(0, op.find_first_of(" \n")));
  }
  Error error = bad_input("not a valid model: {}", one_line(what));
  return place.empty() ? error : std::move(error).at(place);
}

template <typename Imports>
std::unordered_map<std::string, int> versions(const Imports& imports) {
  std::unordered_map<std::string, int> result;
  for (const auto& import : imports) result[import.domain()] = static_cast<int>(import.version());
  return result;
}

bool is_ours(const std::string& domain) {
  const auto& known = pb::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  return known.find(domain) != known.end();
}

// Operators of onnx's own domains that no version has: unsupported, as those of others are, rather than invalid.
void unknown_operators(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes,
                       const std::set<std::string>& functions, std::string& list) {
  for (const auto& node : nodes) {
    if (is_ours(node.domain()) && functions.count(operator_name(node)) == 0 &&
        pb::OpSchemaRegistry::Schema(node.op_type(), node.domain()) == nullptr)
      list += "\n  " + node_place(node);
    for (const auto& attribute : node.attribute())
      if (attribute.has_g()) unknown_operators(attribute.g().node(), functions, list);
  }
}

// The checker wants a shape at every input and output, which --shape may give and inference finds: for as long as this
// lives, those without one have the shape of a scalar.
class StandInShapes {
 public:
  explicit StandInShapes(pb::GraphProto& graph) {
    for (auto* values : {graph.mutable_input(), graph.mutable_output()})
      for (auto& value : *values) {
        if (!value.type().has_tensor_type() || value.type().tensor_type().has_shape()) continue;
        given_.push_back(value.mutable_type()->mutable_tensor_type());
        given_.back()->mutable_shape();
      }
  }
  ~StandInShapes() {
    for (auto* type : given_) type->clear_shape();
  }
  StandInShapes(const StandInShapes&) = delete;
  StandInShapes& operator=(const StandInShapes&) = delete;

 private:
  std::vector<pb::TypeProto_Tensor*> given_;
};

// onnx calls GroupNormalization of opsets 18 to 20 deprecated, for its scale had a wrong shape; exporters wrote it and
// its meaning is known. For as long as this lives it is of a domain that the checker does not know.
class UncheckedGroupNormalization {
 public:
  static constexpr const char* kDomain = "tvc.unchecked";
  explicit UncheckedGroupNormalization(pb::ModelProto& model) {
    add(*model.mutable_graph()->mutable_node(), opset_of(model, ""));
    for (auto& function : *model.mutable_functions()) {
      const size_t before = nodes_.size();
      for (const auto& import : function.opset_import())
        if (import.domain().empty()) add(*function.mutable_node(), import.version());
      if (nodes_.size() == before) continue;
      auto* import = function.add_opset_import();
      import->set_domain(kDomain);
      import->set_version(1);
    }
  }
  ~UncheckedGroupNormalization() {
    for (auto* node : nodes_) node->clear_domain();
  }
  UncheckedGroupNormalization(const UncheckedGroupNormalization&) = delete;
  UncheckedGroupNormalization& operator=(const UncheckedGroupNormalization&) = delete;

 private:
  void add(google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes, int64_t opset) {
    if (opset < 18 || opset > 20) return;
    for (auto& node : nodes) {
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g()) add(*attribute.mutable_g()->mutable_node(), opset);
      if (node.op_type() != "GroupNormalization" || !node.domain().empty()) continue;
      node.set_domain(kDomain);
      nodes_.push_back(&node);
    }
  }
  std::vector<pb::NodeProto*> nodes_;
};

}  // namespace

Result<void> check_model(pb::ModelProto& model, const std::filesystem::path& folder) {
  std::set<std::string> functions;
  for (const auto& function : model.functions())
    functions.insert(function.domain().empty() ? function.name() : function.domain() + "." + function.name());
  std::string unknown;
  unknown_operators(model.graph().node(), functions, unknown);
  for (const auto& function : model.functions()) unknown_operators(function.node(), functions, unknown);
  if (!unknown.empty()) return unsupported("these nodes need operators that no opset has:{}", unknown);
  const StandInShapes shapes(*model.mutable_graph());
  const UncheckedGroupNormalization unchecked(model);
  try {
    pb::checker::CheckerContext context;
    context.set_ir_version(static_cast<int>(model.ir_version()));
    auto imports = versions(model.opset_import());
    imports[UncheckedGroupNormalization::kDomain] = 1;
    context.set_opset_imports(std::move(imports));
    context.set_model_dir(folder.string());
    context.set_skip_opset_compatibility_check(true);  // a function of another opset is brought to the newest by itself
    pb::checker::LexicalScopeContext scope;
    pb::checker::check_graph(model.graph(), context, scope);
    if (model.functions_size() > 0) {
      pb::checker::check_function_call_cycles(model);
      pb::checker::check_model_local_functions(model, context, scope);
    }
  } catch (const std::exception& error) {
    return refusal(error.what());
  }
  return {};
}

Result<void> check_newest_form(const pb::NodeProto& node) {
  const int version = node.domain().empty() ? newest_opset() : 0;
  const auto* schema = version == 0 ? pb::OpSchemaRegistry::Schema(node.op_type(), node.domain())
                                    : pb::OpSchemaRegistry::Schema(node.op_type(), version, node.domain());
  if (schema == nullptr) return {};
  try {
    schema->Verify(node);
  } catch (const std::exception& error) {
    return bad_input("{}", one_line(error.what()));
  }
  return {};
}

}  // namespace tvc::onnx_format
