// SPDX-License-Identifier: Apache-2.0
// g(f(x, y), z) = tvc.Fused(x, y, z){body: g(f(.))} for element-wise f and g of the same output shape.
// Only when g's group is f's only reader: a second reader, a graph output or a body that captures f needs its value
// stored. Values with known elements stay: they are sizes, which code generation computes on its own.
#include <algorithm>
#include <map>

#include "ops/op_def.h"
#include "passes/pass.h"

namespace tvc::passes {
namespace {

constexpr size_t kMaxNodes = 32;
constexpr size_t kMaxInputs = 12;

bool is_candidate(const ir::Module& module, ir::NodeId id) {
  const ir::Node& node = module.node(id);
  const ops::OpDef* def = ops::find(node.op);
  if (def == nullptr || !def->elementwise || def->express == nullptr || def->random || node.outputs.size() != 1)
    return false;
  const ir::Value& out = module.value(node.outputs[0]);
  return out.type.kind == ir::Kind::kTensor && ir::bit_width(out.type.dtype) >= 8 && out.known.empty();
}

bool is_scalar_literal(const ir::Module& module, ir::ValueId id) {
  const ir::Tensor* tensor = module.constant(id);
  return tensor != nullptr && tensor->count() == 1 &&
         (ir::is_float(tensor->dtype) || ir::is_int(tensor->dtype) || tensor->dtype == ir::DType::kBool);
}

// A group grows from its last node over producers all of whose readers are inside.
class Group {
 public:
  Group(const ir::Module& module, const ir::Uses& uses, const std::vector<bool>& taken, ir::NodeId root)
      : module_(module), uses_(uses), taken_(taken) {
    members.push_back(root);
    while (members.size() < kMaxNodes && grow()) {
    }
    std::sort(members.begin(), members.end(), [&](ir::NodeId a, ir::NodeId b) { return position(a) < position(b); });
  }

  std::vector<ir::NodeId> members;

  std::vector<ir::ValueId> inputs() const {
    std::vector<ir::ValueId> out;
    for (ir::NodeId id : members)
      for (ir::ValueId input : module_.node(id).inputs) {
        if (input == ir::kNone || is_scalar_literal(module_, input) || inside(module_.value(input).producer)) continue;
        if (std::find(out.begin(), out.end(), input) == out.end()) out.push_back(input);
      }
    return out;
  }

 private:
  bool inside(ir::NodeId id) const { return std::find(members.begin(), members.end(), id) != members.end(); }

  size_t position(ir::NodeId id) const {
    const auto& order = module_.graphs[module_.node(members[0]).graph].nodes;
    return static_cast<size_t>(std::find(order.begin(), order.end(), id) - order.begin());
  }

  bool fits(ir::NodeId id) const {
    if (id == ir::kNone || inside(id) || taken_[id] || !is_candidate(module_, id)) return false;
    const ir::Node& node = module_.node(id);
    const ir::Node& root = module_.node(members[0]);
    if (node.graph != root.graph ||
        module_.value(node.outputs[0]).type.shape != module_.value(root.outputs[0]).type.shape)
      return false;
    const auto& uses = uses_.of(node.outputs[0]);
    return std::all_of(uses.begin(), uses.end(),
                       [&](const auto& use) { return use.node != ir::kNone && inside(use.node); });
  }

  bool grow() {
    for (size_t m = 0; m < members.size(); ++m)
      for (ir::ValueId input : module_.node(members[m]).inputs) {
        if (input == ir::kNone || !fits(module_.value(input).producer)) continue;
        members.push_back(module_.value(input).producer);
        if (inputs().size() <= kMaxInputs) return true;
        members.pop_back();
      }
    return false;
  }

  const ir::Module& module_;
  const ir::Uses& uses_;
  const std::vector<bool>& taken_;
};

// Moves the members into a body graph and puts one node in the root's place.
void replace_group(ir::Module& module, const Group& group, ir::NodeId root) {
  auto inputs = group.inputs();
  auto body = static_cast<ir::GraphId>(module.graphs.size());
  module.graphs.emplace_back();
  std::map<ir::ValueId, ir::ValueId> inner;
  for (ir::ValueId input : inputs) {
    ir::ValueId id = ir::add_value(module, module.value(input).name, module.value(input).type, body);
    module.graphs[body].inputs.push_back(id);
    inner.emplace(input, id);
  }
  std::vector<std::string> origin;
  for (ir::NodeId id : group.members) {
    const ir::Node node = module.node(id);
    ir::NodeSpec spec{node.op, node.inputs, node.attrs, 1, node.origin};
    for (ir::ValueId& input : spec.inputs) {
      if (input == ir::kNone) continue;
      if (auto it = inner.find(input); it != inner.end()) {
        input = it->second;
      } else {
        ir::Tensor literal = *module.constant(input);
        input = inner.emplace(input, ir::add_constant(module, "", std::move(literal), body)).first->second;
      }
    }
    ir::NodeId copy = ir::add_node(module, body, std::move(spec));
    ir::ValueId value = module.node(copy).outputs[0];
    module.value(value).type = module.value(node.outputs[0]).type;
    inner.emplace(node.outputs[0], value);
    for (const auto& name : node.origin)
      if (std::find(origin.begin(), origin.end(), name) == origin.end()) origin.push_back(name);
  }
  ir::ValueId result = module.node(root).outputs[0];
  module.graphs[body].outputs = {inner.at(result)};
  ir::NodeId fused =
      ir::add_node(module, module.node(root).graph, {"tvc.Fused", inputs, {{"body", body}}, 1, origin}, root);
  ir::ValueId value = module.node(fused).outputs[0];
  module.value(value).type = module.value(result).type;
  ir::replace_uses(module, result, value);
  if (module.value(value).name.empty()) module.value(value).name = module.value(result).name;
  for (auto it = group.members.rbegin(); it != group.members.rend(); ++it) ir::erase_node(module, *it);
}

}  // namespace

Result<Changes> fuse_elementwise(ir::Module& module, const PassContext&) {
  Changes changes = 0;
  auto graph_count = static_cast<ir::GraphId>(module.graphs.size());
  std::vector<bool> is_body(graph_count);
  for (const auto& node : module.nodes)
    if (node.op == "tvc.Fused" || node.has("epilogue"))
      for (const auto& [key, graph] : ir::subgraphs(node)) is_body[graph] = true;
  for (ir::GraphId g = 0; g < graph_count; ++g) {
    if (is_body[g]) continue;
    const ir::Uses uses(module);
    std::vector<bool> taken(module.nodes.size());
    auto order = module.graphs[g].nodes;
    std::vector<std::pair<Group, ir::NodeId>> groups;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (taken[*it] || !is_candidate(module, *it) || module.node(*it).op == "tvc.Fused") continue;
      Group group(module, uses, taken, *it);
      if (group.members.size() < 2) continue;
      for (ir::NodeId id : group.members) taken[id] = true;
      groups.emplace_back(std::move(group), *it);
    }
    for (const auto& [group, root] : groups) {
      replace_group(module, group, root);
      ++changes;
    }
  }
  return changes;
}

}  // namespace tvc::passes
