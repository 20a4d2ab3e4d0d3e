// SPDX-License-Identifier: Apache-2.0
// Adding, replacing and erasing; attributes of a node.
#include <algorithm>
#include <cassert>

#include "ir/ir.h"

namespace tvc::ir {
namespace {

template <typename T>
const T* attribute(const Node& node, std::string_view key) {
  auto it = node.attrs.find(key);
  return it == node.attrs.end() ? nullptr : std::get_if<T>(&it->second);
}

template <typename T>
T attribute_or(const Node& node, std::string_view key, T otherwise) {
  const T* value = attribute<T>(node, key);
  return value != nullptr ? *value : std::move(otherwise);
}

}  // namespace

int64_t Node::i(std::string_view key, int64_t otherwise) const { return attribute_or(*this, key, otherwise); }
double Node::f(std::string_view key, double otherwise) const { return attribute_or(*this, key, otherwise); }
std::string Node::s(std::string_view key, std::string_view otherwise) const {
  return attribute_or(*this, key, std::string(otherwise));
}
std::vector<int64_t> Node::ints(std::string_view key) const {
  return attribute_or<std::vector<int64_t>>(*this, key, {});
}
std::vector<double> Node::floats(std::string_view key) const {
  return attribute_or<std::vector<double>>(*this, key, {});
}
std::vector<std::string> Node::strings(std::string_view key) const {
  return attribute_or<std::vector<std::string>>(*this, key, {});
}

std::optional<GraphId> Node::subgraph(std::string_view key) const {
  const auto* graph = attribute<GraphId>(*this, key);
  return graph != nullptr ? std::optional(*graph) : std::nullopt;
}

const std::string& Node::label() const { return origin.empty() || origin[0].empty() ? op : origin[0]; }

ValueId add_value(Module& module, std::string name, Type type, GraphId graph) {
  Value value;
  value.name = std::move(name);
  value.type = std::move(type);
  value.graph = graph;
  module.values.push_back(std::move(value));
  return static_cast<ValueId>(module.values.size() - 1);
}

ValueId add_constant(Module& module, std::string name, Tensor tensor, GraphId graph) {
  Type type;
  type.dtype = tensor.dtype;
  for (int64_t d : tensor.dims) type.shape.emplace_back(d);
  ValueId id = add_value(module, std::move(name), std::move(type), graph);
  module.value(id).constant = std::make_shared<const Tensor>(std::move(tensor));
  return id;
}

NodeId add_node(Module& module, GraphId graph, NodeSpec spec, NodeId before) {
  auto id = static_cast<NodeId>(module.nodes.size());
  Node node;
  node.op = std::move(spec.op);
  node.inputs = std::move(spec.inputs);
  node.attrs = std::move(spec.attrs);
  node.graph = graph;
  node.origin = std::move(spec.origin);
  for (size_t k = 0; k < spec.outputs; ++k) {
    ValueId out = add_value(module, "", {}, graph);
    module.value(out).producer = id;
    module.value(out).slot = static_cast<uint32_t>(k);
    node.outputs.push_back(out);
  }
  module.nodes.push_back(std::move(node));
  auto& order = module.graphs[graph].nodes;
  auto at = before == kNone ? order.end() : std::find(order.begin(), order.end(), before);
  assert(before == kNone || at != order.end());
  order.insert(at, id);
  return id;
}

void replace_uses(Module& module, ValueId from, ValueId to) {
  for (auto& node : module.nodes)
    if (!node.op.empty()) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  auto& outputs = module.main().outputs;
  if (std::find(outputs.begin(), outputs.end(), from) != outputs.end())
    std::swap(module.value(to).name, module.value(from).name);
  for (auto& graph : module.graphs) std::replace(graph.outputs.begin(), graph.outputs.end(), from, to);
}

void erase_node(Module& module, NodeId id) {
  Node& node = module.node(id);
  auto& order = module.graphs[node.graph].nodes;
  order.erase(std::remove(order.begin(), order.end(), id), order.end());
  for (ValueId out : node.outputs)
    if (out != kNone) module.value(out).producer = kNone;
  auto bodies = subgraphs(node);
  node = Node{};
  for (const auto& [key, body] : bodies) {  // a body goes with its node, so that it reads nothing any more
    auto inner = module.graphs[body].nodes;
    for (auto it = inner.rbegin(); it != inner.rend(); ++it) erase_node(module, *it);
    module.graphs[body] = Graph{};
  }
}

}  // namespace tvc::ir
