// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/nest.h"

#include <set>

namespace tvc::codegen::loops {
namespace {

// Finds linear reads, and variables that are used in any other way.
void survey(const te::Expr& e, const std::vector<ir::Shape>& shapes, Nest& nest, std::set<int>& opaque) {
  if (e->op == te::Op::kVar) opaque.insert(e->index);
  if (e->op == te::Op::kRead) {
    if (auto position = flat_position(e->args, shapes[static_cast<size_t>(e->index)])) {
      nest.reads.emplace(e.get(), std::move(*position));
      return;
    }
  }
  for (const auto& arg : e->args) survey(arg, shapes, nest, opaque);
}

bool mergeable(const Nest& nest, const te::Axis& outer, const te::Axis& inner) {
  for (const auto& [read, position] : nest.reads) {
    auto coefficient = [&, p = &position](int var) {
      auto it = p->coefficients.find(var);
      return it == p->coefficients.end() ? ir::Dim(0) : it->second;
    };
    if (coefficient(outer.var) != coefficient(inner.var) * inner.extent) return false;
  }
  return true;
}

}  // namespace

Nest make_nest(const te::TensorExpr& e, const std::vector<ir::Shape>& shapes) {
  std::set<int> single;
  Nest nest{e.dtype, {}, e.body, {}};
  for (const auto& axis : e.axes) {
    if (axis.extent.is(1)) single.insert(axis.var);
    else nest.axes.push_back(axis);
  }
  if (!single.empty())
    nest.body = te::substitute_vars(e.body, [&](int var) { return single.count(var) ? te::index(0) : te::Expr(); });
  std::set<int> opaque;
  survey(nest.body, shapes, nest, opaque);
  for (size_t k = nest.axes.size(); k-- > 1;) {
    auto &outer = nest.axes[k - 1], &inner = nest.axes[k];
    if (opaque.count(outer.var) || opaque.count(inner.var) || !mergeable(nest, outer, inner)) continue;
    for (auto& [read, position] : nest.reads) position.coefficients.erase(outer.var);
    outer = {inner.var, outer.extent * inner.extent};
    nest.axes.erase(nest.axes.begin() + static_cast<long>(k));
  }
  return nest;
}

}  // namespace tvc::codegen::loops
