// SPDX-License-Identifier: Apache-2.0
// What a definition sees of its node: operands, known elements, and the builders that inference and decomposition use.
#include <cmath>

#include "ops/elements.h"
#include "ops/op_def.h"

namespace tvc::ops {

std::optional<std::vector<Dim>> NodeView::elements(size_t k) const {
  if (!has_input(k)) return std::nullopt;
  return elements_of(module_, node().inputs[k]);
}

std::optional<std::vector<int64_t>> NodeView::constant_ints(size_t k) const {
  auto dims = elements(k);
  if (!dims) return std::nullopt;
  std::vector<int64_t> values;
  for (const auto& d : *dims) {
    auto value = d.as_constant();
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

Result<int> NodeView::axis(int64_t value, int rank) const {
  if (value < -rank || value >= rank)
    return bad_input("axis {} is outside of rank {}", value, rank).at(fmt::format("{} {}", node().op, node().label()));
  return static_cast<int>(value < 0 ? value + rank : value);
}

void InferContext::set(size_t output, DType dtype, Shape shape) {
  ir::Type type;
  type.dtype = dtype;
  type.shape = std::move(shape);
  set(output, std::move(type));
}

void InferContext::set(size_t output, ir::Type type) {
  if (has_output(output)) mutable_.value(node().outputs[output]).type = std::move(type);
}

void InferContext::set_known(size_t output, std::vector<Dim> elements) {
  if (has_output(output)) mutable_.value(node().outputs[output]).known = std::move(elements);
}

Dim InferContext::fresh(size_t output, int axis) const {
  return Dim::symbol(fmt::format("u{}_{}", node().output(output), axis));
}

Dim InferContext::define(size_t output, int k, Dim formula) {
  constexpr size_t kShort = 24;
  if (formula.is_constant() || formula.text().size() <= kShort || !has_output(output)) return formula;
  std::string name = fmt::format("u{}_{}", node().output(output), ir::kFirstPart + k);
  mutable_.definitions.insert_or_assign(name, std::move(formula));
  return Dim::symbol(name);
}

Result<ir::ValueId> DecomposeContext::add(std::string op, std::vector<ir::ValueId> inputs,
                                          std::map<std::string, ir::Attr, std::less<>> attrs) {
  TVC_TRY(auto outputs, add_multi(std::move(op), std::move(inputs), std::move(attrs), 1));
  return outputs[0];
}

Result<std::vector<ir::ValueId>> DecomposeContext::add_multi(std::string op, std::vector<ir::ValueId> inputs,
                                                             std::map<std::string, ir::Attr, std::less<>> attrs,
                                                             size_t outputs) {
  ir::NodeSpec spec{std::move(op), std::move(inputs), std::move(attrs), outputs, node().origin};
  ir::NodeId added = ir::add_node(mutable_, node().graph, std::move(spec), id());
  TVC_CHECK_OK(infer_node(mutable_, added));
  return mutable_.node(added).outputs;
}

ir::ValueId DecomposeContext::constant(ir::Tensor tensor) {
  return ir::add_constant(mutable_, "", std::move(tensor), node().graph);
}

ir::ValueId DecomposeContext::scalar(DType dtype, double value) { return constant(ir::make_scalar(dtype, value)); }

ir::ValueId DecomposeContext::ints(const std::vector<int64_t>& values) {
  return constant(ir::make_i64({static_cast<int64_t>(values.size())}, values));
}

}  // namespace tvc::ops
