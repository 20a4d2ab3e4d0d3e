// SPDX-License-Identifier: Apache-2.0
// The model's own functions (FunctionProto), inlined. Calls within calls multiply: what they would grow to is counted
// first.
#include <algorithm>
#include <map>
#include <tuple>

#include "formats/onnx/inline_body.h"
#include "formats/onnx/upgrade/upgrade_node.h"

namespace tvc::onnx_format {
namespace {

constexpr int kMaxCallDepth = 64;
constexpr uint64_t kMaxBytes = uint64_t{1} << 30;  // of all bodies together

using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
using NodeList = google::protobuf::RepeatedPtrField<pb::NodeProto>;
Key key_of(const pb::NodeProto& node) { return {node.domain(), node.op_type(), node.overload()}; }
Key key_of(const pb::FunctionProto& function) { return {function.domain(), function.name(), function.overload()}; }

class Functions {
 public:
  explicit Functions(const pb::ModelProto& model)
      : model_opset_(opset_of(model, "") == 0 ? newest_opset() : opset_of(model, "")) {
    for (const auto& function : model.functions()) by_key_[key_of(function)] = &function;
  }

  const pb::FunctionProto* find(const pb::NodeProto& node) const {
    auto it = by_key_.find(key_of(node));
    return it == by_key_.end() ? nullptr : it->second;
  }

  int opset(const pb::FunctionProto& function) const {
    for (const auto& import : function.opset_import())
      if (import.domain().empty()) return static_cast<int>(import.version());
    return model_opset_;
  }

  // Bytes after inlining everything below; an error where functions call themselves or too deep.
  Result<uint64_t> grown(const NodeList& nodes, int depth) {
    if (depth > kMaxCallDepth)
      return unsupported("functions call each other deeper than {}, or themselves", kMaxCallDepth);
    uint64_t total = 0;
    for (const auto& node : nodes) {
      if (const auto* function = find(node)) {
        TVC_TRY(uint64_t bytes, grown(*function, depth + 1));
        total += bytes;
      }
      for (const auto& attribute : node.attribute()) {
        if (!attribute.has_g()) continue;
        TVC_TRY(uint64_t bytes, grown(attribute.g().node(), depth));
        total += bytes;
      }
      if (total > kMaxBytes) return unsupported("its functions grow to more than {} MB when inlined", kMaxBytes >> 20);
    }
    return total;
  }

 private:
  Result<uint64_t> grown(const pb::FunctionProto& function, int depth) {
    if (auto known = grown_.find(&function); known != grown_.end()) return known->second;
    TVC_TRY(uint64_t inner, grown(function.node(), depth));
    return grown_[&function] = inner + function.ByteSizeLong();
  }

  int model_opset_;
  std::map<Key, const pb::FunctionProto*> by_key_;
  std::map<const pb::FunctionProto*, uint64_t> grown_;
};

class Rewriter {
 public:
  Rewriter(const Functions& functions, Names& names, int only_opset)
      : functions_(functions), names_(names), only_opset_(only_opset) {}

  // True where a call was replaced.
  Result<bool> graph(pb::GraphProto& graph) {
    bool changed = false;
    for (auto& node : *graph.mutable_node())
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g()) {
          TVC_TRY(bool inner, this->graph(*attribute.mutable_g()));
          changed |= inner;
        }
    const bool has_call =
        std::any_of(graph.node().begin(), graph.node().end(), [&](const auto& n) { return callee(n) != nullptr; });
    if (!has_call) return changed;
    NodeList nodes;
    for (auto& node : *graph.mutable_node()) TVC_CHECK_OK(append(std::move(node), nodes));
    graph.mutable_node()->Swap(&nodes);
    return true;
  }

 private:
  const pb::FunctionProto* callee(const pb::NodeProto& node) const {
    const auto* function = functions_.find(node);
    return function != nullptr && (only_opset_ == 0 || functions_.opset(*function) == only_opset_) ? function : nullptr;
  }

  Result<void> append(pb::NodeProto node, NodeList& out) {
    const auto* function = callee(node);
    if (function == nullptr) {
      *out.Add() = std::move(node);
      return {};
    }
    if (node.input_size() > function->input_size() || node.output_size() > function->output_size())
      return bad_input("gives more values than the function has").at(node_place(node));
    const ValueTypes no_types;
    const UpgradeContext context{only_opset_ == 0 ? functions_.opset(*function) : newest_opset(), no_types, names_};
    for (auto& inner : inline_body(*function, node, names_)) {
      TVC_TRY(auto upgraded, upgrade_tree(std::move(inner), context));
      for (auto& made : upgraded) *out.Add() = std::move(made);
    }
    return {};
  }

  const Functions& functions_;
  Names& names_;
  int only_opset_;  // 0: any, brought to the newest form
};

}  // namespace

Result<void> inline_functions(pb::ModelProto& model, bool same_opset_only) {
  if (model.functions_size() == 0) return {};
  Functions functions(model);
  TVC_TRY(uint64_t bytes, functions.grown(model.graph().node(), 0));
  static_cast<void>(bytes);
  Names names(model);
  Rewriter rewriter(functions, names, same_opset_only ? opset_of(model, "") : 0);
  for (int round = 0; round <= kMaxCallDepth; ++round) {
    TVC_TRY(bool changed, rewriter.graph(*model.mutable_graph()));
    TVC_CHECK_OK(check_depth(model));
    if (!changed) return {};
  }
  return unsupported("functions call each other deeper than {}", kMaxCallDepth);
}

}  // namespace tvc::onnx_format
