// SPDX-License-Identifier: Apache-2.0
// Loop(.., x, ..) { .., x' -> x' , .. } = Loop(.., ..) { .. x .. }: what a body hands on unchanged is captured instead,
// so that nodes on constants fold and nothing is copied. A carried value that neither the body nor anybody behind the
// loop reads goes. A result that is an output of the model gets a node of its own.
#include <algorithm>

#include "passes/pass.h"

namespace tvc::passes {
namespace {

bool is_read(const ir::Uses& uses, ir::ValueId id) { return id != ir::kNone && !uses.of(id).empty(); }

// What the body's output is, seen through Identity.
ir::ValueId source_of(const ir::Module& module, ir::ValueId id) {
  while (module.value(id).producer != ir::kNone && module.node(module.value(id).producer).op == "Identity")
    id = module.node(module.value(id).producer).inputs[0];
  return id;
}

template <typename T>
void erase_at(std::vector<T>& list, size_t k) {
  if (k < list.size()) list.erase(list.begin() + static_cast<ptrdiff_t>(k));
}

void remove_carried(ir::Module& module, ir::NodeId id, ir::GraphId body, size_t k) {
  ir::Node& node = module.node(id);
  if (ir::ValueId out = node.output(k); out != ir::kNone) module.value(out).producer = ir::kNone;
  erase_at(node.inputs, k + 2);
  erase_at(node.outputs, k);
  for (size_t slot = 0; slot < node.outputs.size(); ++slot)
    if (node.outputs[slot] != ir::kNone) module.value(node.outputs[slot]).slot = static_cast<uint32_t>(slot);
  erase_at(module.graphs[body].inputs, k + 2);
  erase_at(module.graphs[body].outputs, k + 1);
}

void capture(ir::Module& module, ir::NodeId id, ir::GraphId body, size_t k) {
  ir::ValueId initial = module.node(id).inputs[k + 2];
  const ir::ValueId out = module.node(id).output(k);
  ir::replace_uses(module, module.graphs[body].inputs[k + 2], initial);
  if (out == ir::kNone) return;
  const auto& main = module.main().outputs;
  if (std::find(main.begin(), main.end(), out) != main.end()) {
    ir::NodeSpec spec{"Identity", {initial}, {}, 1, module.node(id).origin};
    initial = module.node(ir::add_node(module, module.node(id).graph, std::move(spec), id)).outputs[0];
  }
  ir::replace_uses(module, out, initial);
}

Result<Changes> simplify(ir::Module& module, ir::NodeId id) {
  auto body = module.node(id).subgraph("body");
  if (!body) return bad_input("it has no body").at(module.node(id).label());
  Changes changes = 0;
  const size_t carried = module.node(id).inputs.size() < 2 ? 0 : module.node(id).inputs.size() - 2;
  for (size_t k = carried; k-- > 0;) {
    const ir::ValueId in = module.graphs[*body].inputs[k + 2];
    if (module.node(id).inputs[k + 2] == ir::kNone) continue;
    if (source_of(module, module.graphs[*body].outputs[k + 1]) == in) {
      capture(module, id, *body, k);
    } else {
      const ir::Uses uses(module);
      if (is_read(uses, in) || is_read(uses, module.node(id).output(k))) continue;
    }
    remove_carried(module, id, *body, k);
    ++changes;
  }
  return changes;
}

}  // namespace

Result<Changes> simplify_loops(ir::Module& module, const PassContext&) {
  Changes changes = 0;
  for (ir::GraphId graph = 0; graph < module.graphs.size(); ++graph) {
    const auto nodes = module.graphs[graph].nodes;
    for (ir::NodeId id : nodes) {
      if (module.node(id).op != "Loop") continue;
      TVC_TRY(Changes done, simplify(module, id));
      changes += done;
    }
  }
  return changes;
}

}  // namespace tvc::passes
