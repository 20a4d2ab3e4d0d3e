// SPDX-License-Identifier: Apache-2.0
// Builders of expressions. Constants, sizes and neutral elements fold on the way, as far as the result stays the same
// bit for bit (x + 0.0 does not: it turns -0 into +0).
#include "tensorexpr/expr.h"

#include <atomic>
#include <cassert>

#include "tensorexpr/scalar.h"

namespace tvc::te {
namespace {

Expr make(ExprNode node) { return std::make_shared<const ExprNode>(std::move(node)); }
Expr make(Op op, DType dtype, std::vector<Expr> args) {
  ExprNode node;
  node.op = op;
  node.dtype = dtype;
  node.args = std::move(args);
  return make(std::move(node));
}

bool is_const(const Expr& e) { return e->op == Op::kConst; }
bool is_integer(const Expr& e, int64_t value) { return is_const(e) && !ir::is_float(e->dtype) && e->integer == value; }
bool is_number(const Expr& e, double value) { return is_const(e) && ir::is_float(e->dtype) && e->number == value; }
bool is_one(const Expr& e) { return is_integer(e, 1) || is_number(e, 1.0); }

// A size or an i64 constant, as a Dim.
std::optional<Dim> as_dim(const Expr& e) {
  if (e->dtype != DType::kI64) return std::nullopt;
  if (e->op == Op::kDim) return e->dim;
  if (is_const(e)) return Dim(e->integer);
  return std::nullopt;
}

Expr fold_constants(Op op, const Expr& a, const Expr& b) {
  bool is_float = ir::is_float(a->dtype);
  if (is_compare(op))
    return boolean(is_float ? float_compare(op, a->number, b->number)
                            : integer_compare(op, a->dtype, a->integer, b->integer));
  if (is_float) return number(a->dtype, float_binary(op, a->number, b->number));
  return integer(a->dtype, integer_binary(op, a->dtype, a->integer, b->integer));
}

Expr fold_dims(Op op, const Dim& a, const Dim& b) {
  switch (op) {
    case Op::kAdd: return dim(a + b);
    case Op::kSub: return dim(a - b);
    case Op::kMul: return dim(a * b);
    case Op::kMin: return dim(ir::min(a, b));
    case Op::kMax: return dim(ir::max(a, b));
    default: break;
  }
  if (!is_compare(op)) return nullptr;
  auto difference = (a - b).as_constant();
  return difference ? boolean(integer_compare(op, DType::kI64, *difference, 0)) : nullptr;
}

// x + 0, x * 1, ...: only where exact for every x.
Expr fold_neutral(Op op, const Expr& a, const Expr& b) {
  bool integers = !ir::is_float(a->dtype);
  switch (op) {
    case Op::kAdd:
      if (is_integer(b, 0)) return a;
      if (is_integer(a, 0)) return b;
      break;
    case Op::kSub:
      if (is_integer(b, 0) || is_number(b, 0.0)) return a;
      break;
    case Op::kMul:
      if (is_one(b)) return a;
      if (is_one(a)) return b;
      if (integers && (is_integer(a, 0) || is_integer(b, 0))) return integer(a->dtype, 0);
      break;
    case Op::kDiv:
      if (is_one(b)) return a;
      break;
    case Op::kRem:
    case Op::kMod:
      if (is_integer(b, 1)) return integer(a->dtype, 0);
      break;
    case Op::kAnd:
      if (is_const(a)) return a->integer ? b : a;
      if (is_const(b)) return b->integer ? a : b;
      break;
    case Op::kOr:
      if (is_const(a)) return a->integer ? a : b;
      if (is_const(b)) return b->integer ? b : a;
      break;
    case Op::kMin:
    case Op::kMax:
      if (a == b) return a;
      break;
    default: break;
  }
  return nullptr;
}

// (x + c) + d = x + (c + d), (x * c) * d = x * (c * d) over i64 indices and sizes.
Expr fold_chain(Op op, const Expr& a, const Expr& b) {
  if (op == Op::kSub) {
    if (auto d = as_dim(b)) return binary(Op::kAdd, a, dim(Dim(-1) * *d));
    return nullptr;
  }
  if (op != Op::kAdd && op != Op::kMul) return nullptr;
  if (as_dim(a)) return binary(op, b, a);  // sizes to the right
  auto outer = as_dim(b);
  if (!outer || a->op != op) return nullptr;
  auto inner = as_dim(a->args[1]);
  if (!inner) return nullptr;
  return binary(op, a->args[0], dim(op == Op::kAdd ? *inner + *outer : *inner * *outer));
}

}  // namespace

int fresh_var() {
  static std::atomic<int> next{0};
  return ++next;
}

Expr number(DType dtype, double value) {
  ExprNode node;
  node.op = Op::kConst;
  node.dtype = dtype;
  node.number = dtype == DType::kF32 ? static_cast<float>(value) : value;
  return make(std::move(node));
}

Expr integer(DType dtype, int64_t value) {
  ExprNode node;
  node.op = Op::kConst;
  node.dtype = dtype;
  node.integer = wrap_integer(dtype, value);
  return make(std::move(node));
}

Expr boolean(bool value) { return integer(DType::kBool, value); }

Expr dim(const Dim& value) {
  if (auto constant = value.as_constant()) return index(*constant);
  ExprNode node;
  node.op = Op::kDim;
  node.dtype = DType::kI64;
  node.dim = value;
  return make(std::move(node));
}

Expr var(int id) {
  ExprNode node;
  node.op = Op::kVar;
  node.dtype = DType::kI64;
  node.index = id;
  return make(std::move(node));
}

Expr read(int operand, DType storage, std::vector<Expr> index) {
  ExprNode node;
  node.op = Op::kRead;
  node.dtype = ir::compute_type(storage);
  node.args = std::move(index);
  node.index = operand;
  return make(std::move(node));
}

Expr cast(DType to, Expr x) {
  DType compute = ir::compute_type(to);
  bool from_float = ir::is_float(x->dtype);
  if (compute == to) {
    if (x->dtype == to) return x;
    if (is_const(x)) {
      if (ir::is_float(to)) {
        if (from_float) return number(to, x->number);
        return number(to, x->dtype == DType::kU64 ? static_cast<double>(static_cast<uint64_t>(x->integer))
                                                  : static_cast<double>(x->integer));
      }
      return integer(to, from_float           ? float_to_integer(to, x->number)
                         : to == DType::kBool ? x->integer != 0
                                              : x->integer);
    }
  } else if (is_const(x) && ir::is_float(to) && from_float) {
    return number(compute, round_to(to, x->number));
  } else if (x->op == Op::kCast && x->rounded_to == to) {
    return x;
  }
  ExprNode node;
  node.op = Op::kCast;
  node.dtype = compute;
  node.rounded_to = compute == to ? DType::kUndefined : to;
  node.args = {std::move(x)};
  return make(std::move(node));
}

Expr select(Expr cond, Expr x, Expr y) {
  assert(cond->dtype == DType::kBool && x->dtype == y->dtype);
  if (is_const(cond)) return cond->integer ? x : y;
  if (x == y) return x;
  DType dtype = x->dtype;
  return make(Op::kSelect, dtype, {std::move(cond), std::move(x), std::move(y)});
}

Expr reduce(ReduceOp op, std::vector<Axis> axes, Expr body) {
  assert((op != ReduceOp::kArgMin && op != ReduceOp::kArgMax) || axes.size() == 1);
  bool arg = op == ReduceOp::kArgMin || op == ReduceOp::kArgMax;
  if (axes.empty()) return body;
  ExprNode node;
  node.op = Op::kReduce;
  node.dtype = arg ? DType::kI64 : body->dtype;
  node.reduce = op;
  node.axes = std::move(axes);
  node.args = {std::move(body)};
  return make(std::move(node));
}

Expr unary(Op op, Expr x) {
  assert(is_unary(op));
  bool is_float = ir::is_float(x->dtype);
  bool to_bool = op == Op::kIsNan || op == Op::kIsInf;
  if (to_bool && !is_float) return boolean(false);
  if (is_const(x) && !to_bool)
    return is_float ? number(x->dtype, float_unary(op, x->number))
                    : integer(x->dtype, integer_unary(op, x->dtype, x->integer));
  if (op == Op::kNeg && x->op == Op::kNeg) return x->args[0];
  if (op == Op::kNot && x->op == Op::kNot) return x->args[0];
  if (!is_float && (op == Op::kFloor || op == Op::kCeil || op == Op::kRoundEven || op == Op::kTrunc)) return x;
  if (op == Op::kNeg)
    if (auto d = as_dim(x)) return dim(Dim(0) - *d);
  DType dtype = to_bool ? DType::kBool : x->dtype;
  return make(op, dtype, {std::move(x)});
}

Expr binary(Op op, Expr a, Expr b) {
  assert(is_binary(op) && a->dtype == b->dtype);
  if (is_const(a) && is_const(b)) {
    bool by_zero = (op == Op::kDiv || op == Op::kRem || op == Op::kMod) && is_integer(b, 0);
    if (!by_zero) return fold_constants(op, a, b);
  }
  auto da = as_dim(a), db = as_dim(b);
  if (da && db)
    if (Expr folded = fold_dims(op, *da, *db)) return folded;
  if (Expr folded = fold_neutral(op, a, b)) return folded;
  if (a->dtype == DType::kI64)
    if (Expr folded = fold_chain(op, a, b)) return folded;
  DType dtype = is_compare(op) ? DType::kBool : a->dtype;
  return make(op, dtype, {std::move(a), std::move(b)});
}

Expr in_range(const Expr& i, const Dim& extent) { return land(ge(i, index(0)), lt(i, dim(extent))); }

}  // namespace tvc::te
