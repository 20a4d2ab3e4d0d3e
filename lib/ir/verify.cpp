// SPDX-License-Identifier: Apache-2.0
// What every module must satisfy between passes: each value has one place where it is defined, is defined before it is
// read, and is read only where it is visible.
#include <algorithm>

#include "ir/ir.h"

namespace tvc::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Module& module)
      : module_(module), visible_(module.values.size(), 0), graph_seen_(module.graphs.size(), 0) {}

  Result<void> module() {
    TVC_CHECK_OK(graph(0, 0));
    std::vector<std::string> names;
    for (ValueId id : module_.main().outputs) {
      if (id == kNone) return internal("the model has an omitted output");
      names.push_back(module_.value(id).name);
    }
    std::sort(names.begin(), names.end());
    auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) return internal("two outputs are named {}", *twice);
    return {};
  }

 private:
  Result<void> define(ValueId id, GraphId graph, std::string_view what) {
    if (id >= module_.values.size()) return internal("{} has a value number out of range", what);
    if (visible_[id] != 0) return internal("value %{} is defined twice", id);
    if (module_.value(id).graph != graph)
      return internal("value %{} says graph {} and is defined in {}", id, module_.value(id).graph, graph);
    visible_[id] = 1;
    return {};
  }

  Result<void> read(ValueId id, std::string_view what) {
    if (id == kNone) return {};
    if (id >= module_.values.size()) return internal("{} reads a value number out of range", what);
    if (visible_[id] == 0 && !module_.value(id).constant)
      return internal("{} reads %{} '{}' before it is defined", what, id, module_.value(id).name);
    return {};
  }

  Result<void> graph(GraphId id, int depth) {
    if (id >= module_.graphs.size()) return internal("no graph {}", id);
    if (depth > 64 || graph_seen_[id] != 0) return internal("graph {} is used twice", id);
    graph_seen_[id] = 1;
    const Graph& graph = module_.graphs[id];
    std::vector<ValueId> defined;
    for (ValueId input : graph.inputs) {
      TVC_CHECK_OK(define(input, id, "a graph's input"));
      defined.push_back(input);
      if (module_.value(input).producer != kNone) return internal("input %{} has a producer", input);
    }
    for (NodeId n : graph.nodes) TVC_CHECK_OK(node(n, id, depth, defined));
    for (ValueId output : graph.outputs) TVC_CHECK_OK(read(output, fmt::format("graph {}'s result", id)));
    for (ValueId value : defined) visible_[value] = id == 0 ? 1 : 2;  // 2: its scope has ended
    return {};
  }

  Result<void> node(NodeId n, GraphId id, int depth, std::vector<ValueId>& defined) {
    if (n >= module_.nodes.size() || module_.node(n).op.empty())
      return internal("graph {} lists a node that is gone", id);
    const Node& node = module_.node(n);
    std::string what = fmt::format("{} {}", node.op, node.label());
    if (node.graph != id) return internal("{} is listed in graph {} but says {}", what, id, node.graph);
    for (ValueId input : node.inputs) {
      TVC_CHECK_OK(read(input, what));
      if (input != kNone && visible_[input] == 2) return internal("{} reads %{} outside of its graph", what, input);
    }
    for (const auto& [key, body] : subgraphs(node)) TVC_CHECK_OK(graph(body, depth + 1));
    for (uint32_t slot = 0; slot < node.outputs.size(); ++slot) {
      ValueId out = node.outputs[slot];
      if (out == kNone) continue;
      TVC_CHECK_OK(define(out, id, what));
      defined.push_back(out);
      const Value& value = module_.value(out);
      if (value.producer != n || value.slot != slot) return internal("output {} of {} does not point back", slot, what);
      if (value.constant) return internal("output {} of {} is a constant", slot, what);
    }
    return {};
  }

  const Module& module_;
  std::vector<char> visible_, graph_seen_;
};

}  // namespace

Result<void> verify(const Module& module) { return Verifier(module).module(); }

}  // namespace tvc::ir
