// SPDX-License-Identifier: Apache-2.0
#include "passes/recognise/replace.h"

namespace tvc::passes::recognise {

bool is_closed(const ir::Module& module, const ir::Uses& uses, const Nodes& nodes, ir::NodeId last) {
  for (ir::NodeId id : nodes) {
    const ir::Node& node = module.node(id);
    if (node.graph != module.node(last).graph) return false;
    if (id == last) continue;
    for (ir::ValueId out : node.outputs) {
      if (out == ir::kNone) continue;
      for (const auto& use : uses.of(out))
        if (use.node == ir::kNone || !nodes.contains(use.node)) return false;
    }
  }
  return true;
}

ir::NodeId replace(ir::Module& module, const Nodes& nodes, ir::NodeId last, ir::NodeSpec spec) {
  for (ir::NodeId id : nodes)
    spec.origin.insert(spec.origin.end(), module.node(id).origin.begin(), module.node(id).origin.end());
  const ir::ValueId old = module.node(last).outputs[0];
  const ir::NodeId made = ir::add_node(module, module.node(last).graph, std::move(spec), last);
  const ir::ValueId result = module.node(made).outputs[0];
  module.value(result).type = module.value(old).type;
  ir::replace_uses(module, old, result);
  if (module.value(result).name.empty()) module.value(result).name = module.value(old).name;
  Nodes left = nodes;
  for (bool erased = true; erased;) {
    erased = false;
    const ir::Uses uses(module);
    for (auto it = left.begin(); it != left.end();) {
      bool read = false;
      for (ir::ValueId out : module.node(*it).outputs) read |= out != ir::kNone && !uses.of(out).empty();
      if (!read) ir::erase_node(module, *it);
      erased |= !read;
      it = read ? std::next(it) : left.erase(it);
    }
  }
  return made;
}

}  // namespace tvc::passes::recognise
