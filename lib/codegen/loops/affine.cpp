// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/affine.h"

namespace tvc::codegen::loops {
namespace {

Linear scaled(const Linear& x, const ir::Dim& by) {
  Linear out{x.offset * by, {}};
  for (const auto& [var, c] : x.coefficients)
    if (ir::Dim v = c * by; !v.is(0)) out.coefficients[var] = v;
  return out;
}

Linear sum(const Linear& a, const Linear& b) {
  Linear out{a.offset + b.offset, a.coefficients};
  for (const auto& [var, c] : b.coefficients) {
    ir::Dim v = out.coefficients.count(var) ? out.coefficients[var] + c : c;
    if (v.is(0)) out.coefficients.erase(var);
    else out.coefficients[var] = v;
  }
  return out;
}

// select(a == b, x, y) over sizes chooses per coefficient.
std::optional<Linear> chosen(const te::Expr& e) {
  const auto& cond = e->args[0];
  if (cond->op != te::Op::kEq && cond->op != te::Op::kLt) return std::nullopt;
  auto a = linear(cond->args[0]), b = linear(cond->args[1]), x = linear(e->args[1]), y = linear(e->args[2]);
  if (!a || !b || !x || !y || !a->coefficients.empty() || !b->coefficients.empty()) return std::nullopt;
  auto pick = [&](const ir::Dim& p, const ir::Dim& q) {
    return cond->op == te::Op::kEq ? ir::if_eq(a->offset, b->offset, p, q) : ir::if_lt(a->offset, b->offset, p, q);
  };
  Linear out{pick(x->offset, y->offset), {}};
  for (const auto& [var, c] : x->coefficients)
    out.coefficients[var] = pick(c, y->coefficients.count(var) ? y->coefficients[var] : ir::Dim(0));
  for (const auto& [var, c] : y->coefficients)
    if (!x->coefficients.count(var)) out.coefficients[var] = pick(0, c);
  std::erase_if(out.coefficients, [](const auto& item) { return item.second.is(0); });
  return out;
}

}  // namespace

std::optional<Linear> linear(const te::Expr& e) {
  using te::Op;
  switch (e->op) {
    case Op::kConst: return ir::is_float(e->dtype) ? std::nullopt : std::optional(Linear{e->integer, {}});
    case Op::kDim: return Linear{e->dim, {}};
    case Op::kVar: return Linear{0, {{e->index, 1}}};
    case Op::kNeg:
      if (auto x = linear(e->args[0])) return scaled(*x, -1);
      return std::nullopt;
    case Op::kCast: return e->dtype == e->args[0]->dtype ? linear(e->args[0]) : std::nullopt;
    case Op::kSelect: return chosen(e);
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul: break;
    default: return std::nullopt;
  }
  auto a = linear(e->args[0]), b = linear(e->args[1]);
  if (!a || !b) return std::nullopt;
  if (e->op == Op::kAdd) return sum(*a, *b);
  if (e->op == Op::kSub) return sum(*a, scaled(*b, -1));
  if (a->coefficients.empty()) return scaled(*b, a->offset);
  if (b->coefficients.empty()) return scaled(*a, b->offset);
  return std::nullopt;
}

std::optional<Linear> flat_position(const std::vector<te::Expr>& index, const ir::Shape& shape) {
  Linear out;
  for (size_t k = 0; k < index.size(); ++k) {
    auto x = linear(index[k]);
    if (!x) return std::nullopt;
    out = sum(scaled(out, k < shape.size() ? shape[k] : ir::Dim(1)), *x);
  }
  return out;
}

}  // namespace tvc::codegen::loops
