// SPDX-License-Identifier: Apache-2.0
#include "ops/elements.h"

#include <cmath>

#include "ops/op_def.h"

namespace tvc::ops {
namespace {

// Longer texts mean that a formula grows from node to node; a symbol then stands for it.
constexpr size_t kMaxText = 600;

bool holds_sizes(DType dtype) { return dtype == DType::kI64 || dtype == DType::kI32 || dtype == DType::kBool; }

std::optional<std::vector<Dim>> constant_elements(const ir::Tensor& tensor) {
  if (tensor.count() > 65536) return std::nullopt;
  std::vector<Dim> out;
  if (ir::is_float(tensor.dtype)) {
    for (double v : ir::to_f64(tensor)) {
      if (!(std::fabs(v) < 0x1p53) || v != std::floor(v)) return std::nullopt;
      out.emplace_back(static_cast<int64_t>(v));
    }
    return out;
  }
  if (!ir::is_int(tensor.dtype) && tensor.dtype != DType::kBool) return std::nullopt;
  for (int64_t v : ir::to_i64(tensor)) out.emplace_back(v);
  return out;
}

std::optional<std::vector<int64_t>> static_dims(const ir::Type& type) {
  std::vector<int64_t> dims;
  for (const auto& d : type.shape) {
    auto value = d.as_constant();
    if (!value) return std::nullopt;
    dims.push_back(*value);
  }
  return dims;
}

// Whether an operand has known elements, or all are small constants.
bool any_known(const NodeView& view) {
  bool small = !view.node().inputs.empty();
  for (ir::ValueId id : view.node().inputs) {
    if (id == ir::kNone) continue;
    if (!view.module().value(id).known.empty()) return true;
    const ir::Tensor* constant = view.module().constant(id);
    small &= constant != nullptr && constant->count() <= kMaxKnown;
  }
  return small;
}

// Known elements of every output by evaluating the expressions over Dims.
void evaluate_over_dims(ir::Module& module, ir::NodeId id, const OpDef& def) {
  NodeView view(module, id);
  auto expressions = def.express(view);
  if (!expressions.ok()) return;
  std::vector<std::vector<int64_t>> dims(view.input_count());
  std::vector<std::optional<std::vector<Dim>>> elements(view.input_count());
  std::vector<bool> asked(view.input_count());
  for (size_t k = 0; k < view.input_count(); ++k) {
    if (!view.has_input(k)) continue;
    auto concrete = static_dims(view.type(k));
    if (!concrete) return;
    dims[k] = *concrete;
  }
  auto element = [&](int k, int64_t n) -> std::optional<Dim> {
    if (!asked[k]) {
      asked[k] = true;
      elements[k] = view.elements(k);
    }
    if (!elements[k] || n < 0 || n >= static_cast<int64_t>(elements[k]->size())) return std::nullopt;
    return (*elements[k])[n];
  };
  for (size_t o = 0; o < expressions->size() && o < view.output_count(); ++o) {
    if (!view.has_output(o)) continue;
    auto count = static_count(view.out_type(o));
    if (!count || *count > kMaxKnown || *count == 0) continue;
    auto known = te::interpret_dims((*expressions)[o], dims, element);
    if (!known) continue;
    bool fits = true;
    for (const auto& d : *known) fits &= d.is_constant() || d.text().size() <= kMaxText;
    if (fits) module.value(view.node().outputs[o]).known = std::move(*known);
  }
}

}  // namespace

std::optional<int64_t> static_count(const ir::Type& type) {
  if (type.kind != ir::Kind::kTensor) return std::nullopt;
  int64_t count = 1;
  for (const auto& d : type.shape) {
    auto value = d.as_constant();
    if (!value || *value < 0 || __builtin_mul_overflow(count, *value, &count)) return std::nullopt;
  }
  return count;
}

std::optional<std::vector<Dim>> elements_of(const ir::Module& module, ir::ValueId value) {
  if (value == ir::kNone) return std::nullopt;
  const ir::Value& v = module.value(value);
  if (v.constant) return constant_elements(*v.constant);
  auto count = static_count(v.type);
  if (!count || static_cast<int64_t>(v.known.size()) != *count) return std::nullopt;
  return v.known;
}

void name_elements(ir::Module& module, ir::ValueId id) {
  ir::Value& value = module.value(id);
  if (value.constant || !value.known.empty() || value.type.kind != ir::Kind::kTensor) return;
  if (!holds_sizes(value.type.dtype) || value.type.rank() > 1) return;
  auto count = static_count(value.type);
  if (!count || *count > kMaxKnown) return;
  for (int64_t k = 0; k < *count; ++k) value.known.push_back(Dim::symbol(fmt::format("e{}_{}", id, k)));
}

void derive_known(ir::Module& module, ir::NodeId id) {
  const ir::Node& node = module.node(id);
  const OpDef* def = find(node.op);
  if (def == nullptr) return;
  bool open = false;  // an output that may still get elements
  bool sizes = false;
  for (ir::ValueId out : node.outputs) {
    if (out == ir::kNone || !module.value(out).known.empty()) continue;
    auto count = static_count(module.value(out).type);
    if (!count || *count > kMaxKnown) continue;
    open = true;
    sizes |= holds_sizes(module.value(out).type.dtype);
  }
  if (!open) return;
  NodeView view(module, id);
  if (def->view && view.has_input(0) && view.has_output(0)) {
    const bool same_type = view.dtype(0) == view.out_type(0).dtype;
    if (auto elements = view.elements(0); same_type && elements && static_cast<int64_t>(elements->size()) <= kMaxKnown)
      module.value(node.outputs[0]).known = *elements;
  } else if (def->express != nullptr && !def->random && (sizes || any_known(view))) {
    evaluate_over_dims(module, id, *def);
  }
  for (ir::ValueId out : module.node(id).outputs)
    if (out != ir::kNone) name_elements(module, out);
}

}  // namespace tvc::ops
