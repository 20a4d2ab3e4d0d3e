// SPDX-License-Identifier: Apache-2.0
#include "ops/branches.h"

#include "ops/elements.h"

namespace tvc::ops {
namespace {

bool ranks_differ(const ir::Module& module, const ir::Graph& a, const ir::Graph& b) {
  for (size_t k = 0; k < std::min(a.outputs.size(), b.outputs.size()); ++k) {
    const ir::Type &x = module.value(a.outputs[k]).type, &y = module.value(b.outputs[k]).type;
    if (x.kind != ir::Kind::kTensor || y.kind != ir::Kind::kTensor || x.rank() == y.rank()) continue;
    if (ir::product(x.shape).is(1) && ir::product(y.shape).is(1)) continue;  // one element either way
    return true;
  }
  return false;
}

// The value of (size == number ? x : y) where they are equal.
std::optional<int64_t> value_where_equal(const Dim& condition) {
  if (condition.terms().size() != 1) return std::nullopt;
  const auto& term = condition.terms()[0];
  if (term.factors.size() != 1 || term.factors[0]->fn != ir::DimFn::kIfEq) return std::nullopt;
  const auto& args = term.factors[0]->args;
  if (!args[0].is_constant() && !args[1].is_constant()) return std::nullopt;
  auto value = args[2].as_constant();
  if (!value) return std::nullopt;
  return term.coefficient * *value + condition.constant();
}

}  // namespace

std::optional<TakenBranch> taken_branch(const ir::Module& module, ir::NodeId id) {
  const ir::Node& node = module.node(id);
  auto condition = elements_of(module, node.input(0));
  if (!condition || condition->size() != 1) return std::nullopt;
  const Dim& c = (*condition)[0];
  if (auto value = c.as_constant()) return TakenBranch{*value != 0, false};
  auto then_graph = node.subgraph("then_branch"), else_graph = node.subgraph("else_branch");
  if (!then_graph || !else_graph || !ranks_differ(module, module.graphs[*then_graph], module.graphs[*else_graph]))
    return std::nullopt;
  auto value = value_where_equal(c);
  if (!value) return std::nullopt;
  return TakenBranch{*value != 0, true};
}

}  // namespace tvc::ops
