// SPDX-License-Identifier: Apache-2.0
// Rebuilding of expressions. Expressions are graphs with sharing: every walk visits a node once.
#include <algorithm>
#include <cassert>
#include <unordered_map>
#include <unordered_set>

#include "tensorexpr/expr.h"
#include "tensorexpr/scalar.h"

namespace tvc::te {
namespace {

// The same node over new arguments, through the builders, so that it folds again.
Expr rebuild(const Expr& e, std::vector<Expr> args) {
  switch (e->op) {
    case Op::kConst:
    case Op::kDim:
    case Op::kVar: return e;
    case Op::kRead: {
      ExprNode node = *e;
      node.args = std::move(args);
      return std::make_shared<const ExprNode>(std::move(node));
    }
    case Op::kCast: return cast(e->rounded_to == DType::kUndefined ? e->dtype : e->rounded_to, args[0]);
    case Op::kSelect: return select(args[0], args[1], args[2]);
    case Op::kReduce: return reduce(e->reduce, e->axes, args[0]);
    default: break;
  }
  return is_unary(e->op) ? unary(e->op, args[0]) : binary(e->op, args[0], args[1]);
}

class Rewriter {
 public:
  explicit Rewriter(const std::function<Expr(const Expr&)>& visit) : visit_(visit) {}

  Expr run(const Expr& e) {
    if (auto it = done_.find(e.get()); it != done_.end()) return it->second;
    std::vector<Expr> args;
    bool changed = false;
    for (const auto& arg : e->args) {
      args.push_back(run(arg));
      changed |= args.back() != arg;
    }
    Expr built = changed ? rebuild(e, args) : e;
    // What folds into one of its arguments (x * 1, a cast to the same type) has been visited as that.
    const bool folded = built->op != e->op || std::find(args.begin(), args.end(), built) != args.end();
    if (Expr replacement = folded ? nullptr : visit_(built)) built = std::move(replacement);
    done_.emplace(e.get(), built);
    return built;
  }

 private:
  const std::function<Expr(const Expr&)>& visit_;
  std::unordered_map<const ExprNode*, Expr> done_;
};

// Calls visit once a node, arguments first; stops when it returns true.
bool walk(const Expr& e, const std::function<bool(const ExprNode&)>& visit, std::unordered_set<const ExprNode*>& seen) {
  if (!seen.insert(e.get()).second) return false;
  for (const auto& arg : e->args)
    if (walk(arg, visit, seen)) return true;
  return visit(*e);
}

bool walk(const Expr& e, const std::function<bool(const ExprNode&)>& visit) {
  std::unordered_set<const ExprNode*> seen;
  return walk(e, visit, seen);
}

// New variables for every reduction, so that a body can stand twice in one expression.
Expr refresh_reductions(const Expr& e) {
  if (!has_reduce(e)) return e;
  return rewrite(e, [](const Expr& node) -> Expr {
    if (node->op != Op::kReduce) return nullptr;
    std::unordered_map<int, int> renamed;
    std::vector<Axis> axes = node->axes;
    for (auto& axis : axes) {
      int fresh = fresh_var();
      renamed.emplace(axis.var, fresh);
      axis.var = fresh;
    }
    Expr body = substitute_vars(node->args[0], [&](int id) -> Expr {
      auto it = renamed.find(id);
      return it == renamed.end() ? nullptr : var(it->second);
    });
    return reduce(node->reduce, std::move(axes), body);
  });
}

}  // namespace

Expr rewrite(const Expr& e, const std::function<Expr(const Expr&)>& visit) { return Rewriter(visit).run(e); }

Expr substitute_vars(const Expr& e, const std::function<Expr(int)>& map) {
  return rewrite(e, [&](const Expr& node) -> Expr { return node->op == Op::kVar ? map(node->index) : nullptr; });
}

Expr renumber_operands(const Expr& e, const std::function<int(int)>& map) {
  return rewrite(e, [&](const Expr& node) -> Expr {
    if (node->op != Op::kRead) return nullptr;
    int to = map(node->index);
    if (to == node->index) return nullptr;
    ExprNode copy = *node;
    copy.index = to;
    return std::make_shared<const ExprNode>(std::move(copy));
  });
}

Expr inline_operand(const Expr& consumer, int operand, const TensorExpr& producer,
                    const std::function<int(int)>& renumber) {
  // The consumer would have read what was stored: the producer's value, rounded to its storage type.
  Expr stored = cast(producer.dtype, renumber_operands(producer.body, renumber));
  return rewrite(consumer, [&](const Expr& node) -> Expr {
    if (node->op != Op::kRead || node->index != operand) return nullptr;
    assert(node->args.size() == producer.axes.size());
    return substitute_vars(refresh_reductions(stored), [&](int id) -> Expr {
      for (size_t k = 0; k < producer.axes.size(); ++k)
        if (producer.axes[k].var == id) return node->args[k];
      return nullptr;
    });
  });
}

std::vector<int> operands_of(const Expr& e) {
  std::vector<int> operands;
  std::unordered_set<int> seen;
  walk(e, [&](const ExprNode& node) {
    if (node.op == Op::kRead && seen.insert(node.index).second) operands.push_back(node.index);
    return false;
  });
  return operands;
}

bool has_reduce(const Expr& e) {
  return walk(e, [](const ExprNode& node) { return node.op == Op::kReduce; });
}

bool uses_var(const Expr& e, int variable) {
  return walk(e, [&](const ExprNode& node) { return node.op == Op::kVar && node.index == variable; });
}

}  // namespace tvc::te
