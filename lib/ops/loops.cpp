// SPDX-License-Identifier: Apache-2.0
#include "ops/loops.h"

#include <algorithm>

namespace tvc::ops {
namespace {

bool is_read(const ir::Module& module, ir::ValueId value) {
  for (const ir::Node& node : module.nodes)
    if (!node.op.empty() && std::find(node.inputs.begin(), node.inputs.end(), value) != node.inputs.end()) return true;
  return std::any_of(module.graphs.begin(), module.graphs.end(), [&](const ir::Graph& graph) {
    return std::find(graph.outputs.begin(), graph.outputs.end(), value) != graph.outputs.end();
  });
}

}  // namespace

bool runs_once(const NodeView& v) {
  auto at_least_one = [&](size_t k) {
    if (!v.has_input(k)) return true;
    auto elements = v.elements(k);
    return elements && elements->size() == 1 && (*elements)[0].is_constant() && (*elements)[0].constant() > 0;
  };
  return at_least_one(0) && at_least_one(1);
}

std::vector<bool> overwritten(const NodeView& v) {
  std::vector<bool> out(v.input_count() < 2 ? 0 : v.input_count() - 2);
  auto graph = v.node().subgraph("body");
  if (!graph || !runs_once(v)) return out;
  const ir::Graph& body = v.module().graphs[*graph];
  for (size_t k = 0; k < out.size() && k + 2 < body.inputs.size(); ++k)
    out[k] = !is_read(v.module(), body.inputs[k + 2]);
  return out;
}

}  // namespace tvc::ops
