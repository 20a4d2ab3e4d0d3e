// SPDX-License-Identifier: Apache-2.0
#include "passes/recognise/algebra.h"

#include <cmath>

namespace tvc::passes::recognise {
namespace {

constexpr size_t kTerms = 4;  // of a polynomial

void trim(Polynomial& p) {
  while (!p.empty() && p.back() == 0) p.pop_back();
}

Polynomial sum(const Polynomial& a, const Polynomial& b, double factor) {
  Polynomial out(std::max(a.size(), b.size()));
  for (size_t k = 0; k < a.size(); ++k) out[k] += a[k];
  for (size_t k = 0; k < b.size(); ++k) out[k] += factor * b[k];
  trim(out);
  return out;
}

std::optional<Polynomial> times(const Polynomial& a, const Polynomial& b) {
  if (a.empty() || b.empty()) return Polynomial{};
  Polynomial out(a.size() + b.size() - 1);
  for (size_t k = 0; k < a.size(); ++k)
    for (size_t n = 0; n < b.size(); ++n) out[k + n] += a[k] * b[n];
  trim(out);
  if (out.size() > kTerms) return std::nullopt;
  return out;
}

std::optional<Polynomial> power(const Polynomial& base, double exponent) {
  if (exponent != 2 && exponent != 3) return std::nullopt;
  std::optional<Polynomial> out = base;
  for (int k = 1; out && k < static_cast<int>(exponent); ++k) out = times(*out, base);
  return out;
}

std::optional<Polynomial> combined(const std::string& op, const Polynomial& a, const Polynomial& b) {
  if (op == "Add") return sum(a, b, 1);
  if (op == "Sub") return sum(a, b, -1);
  if (op == "Mul") return times(a, b);
  if (b.size() != 1) return std::nullopt;
  if (op == "Div") return times(a, {1 / b[0]});
  if (op == "Pow") return power(a, b[0]);
  return std::nullopt;
}

}  // namespace

const ir::Node* producer(const ir::Module& module, ir::ValueId value, std::string_view op) {
  const ir::NodeId node = value == ir::kNone ? ir::kNone : module.value(value).producer;
  return node != ir::kNone && module.node(node).op == op ? &module.node(node) : nullptr;
}

std::optional<double> scalar(const ir::Module& module, ir::ValueId value) {
  const ir::Tensor* c = module.constant(value);
  if (c == nullptr || c->dtype != ir::DType::kF32 || c->count() != 1) return std::nullopt;
  return ir::to_f64(*c)[0];
}

bool is_near(double a, double b) { return std::fabs(a - b) <= 2e-6 * std::max(std::fabs(a), std::fabs(b)); }

bool is_near(const Polynomial& a, const Polynomial& b) {
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k)
    if (!is_near(a[k], b[k])) return false;
  return true;
}

std::optional<Polynomial> polynomial(const ir::Module& module, ir::ValueId value, ir::ValueId x, Nodes& through) {
  if (value == x) return Polynomial{0, 1};
  if (auto c = scalar(module, value)) {
    Polynomial out = {*c};
    trim(out);
    return out;
  }
  const ir::NodeId id = value == ir::kNone ? ir::kNone : module.value(value).producer;
  if (id == ir::kNone || module.node(id).has("epilogue")) return std::nullopt;
  const ir::Node& node = module.node(id);
  if (node.op == "Neg") {
    auto inner = polynomial(module, node.inputs[0], x, through);
    if (inner) through.insert(id);
    return inner ? times(*inner, {-1}) : std::nullopt;
  }
  const bool known = node.op == "Add" || node.op == "Sub" || node.op == "Mul" || node.op == "Div" || node.op == "Pow";
  if (!known || node.inputs.size() != 2) return std::nullopt;
  auto a = polynomial(module, node.inputs[0], x, through);
  auto b = a ? polynomial(module, node.inputs[1], x, through) : std::nullopt;
  auto out = b ? combined(node.op, *a, *b) : std::nullopt;
  if (out) through.insert(id);
  return out;
}

Product product(const ir::Module& module, const ir::Uses& uses, ir::ValueId value, Nodes& through) {
  const ir::Node* mul = producer(module, value, "Mul");
  const ir::Node* div = producer(module, value, "Div");
  const ir::Node* node = mul != nullptr ? mul : div;
  auto divisor = div != nullptr ? scalar(module, div->inputs[1]) : std::nullopt;
  if (node == nullptr || (div != nullptr && (!divisor || *divisor == 0))) return {1, {value}};
  through.insert(module.value(value).producer);
  Product out{divisor ? 1 / *divisor : 1, {}};
  for (size_t k = 0; k < (div != nullptr ? 1u : 2u); ++k) {
    const ir::ValueId input = node->inputs[k];
    if (auto c = scalar(module, input)) {
      out.coefficient *= *c;
      continue;
    }
    const Product inner = uses.single(module, input) ? product(module, uses, input, through) : Product{1, {input}};
    out.coefficient *= inner.coefficient;
    out.factors.insert(out.factors.end(), inner.factors.begin(), inner.factors.end());
  }
  return out;
}

}  // namespace tvc::passes::recognise
