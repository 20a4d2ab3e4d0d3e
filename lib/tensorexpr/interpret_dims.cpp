// SPDX-License-Identifier: Apache-2.0
// Evaluation of an expression over Dims: shape arithmetic, element by element. Floats are followed as long as they hold
// whole numbers, so that Cast -> Mul -> Floor -> Cast chains of exporters stay known.
#include <cmath>
#include <unordered_map>

#include "tensorexpr/expr.h"
#include "tensorexpr/scalar.h"

namespace tvc::te {
namespace {

constexpr int64_t kMaxSteps = 1 << 16;
using Value = std::optional<Dim>;

using ir::not_negative;

class DimInterpreter {
 public:
  DimInterpreter(const std::vector<std::vector<int64_t>>& operand_dims,
                 const std::function<std::optional<Dim>(int, int64_t)>& element)
      : operand_dims_(operand_dims), element_(element) {}

  std::unordered_map<int, int64_t> vars;
  Value eval(const Expr& e);

 private:
  Value eval_read(const ExprNode& e);
  Value eval_cast(const ExprNode& e);
  Value eval_unary(const ExprNode& e);
  Value eval_binary(const ExprNode& e);
  Value eval_divide(const ExprNode& e, const Dim& a, const Dim& b);
  Value eval_compare(Op op, const Dim& a, const Dim& b);
  Value eval_reduce(const ExprNode& e);
  Value combine(ReduceOp op, const Dim& a, const Dim& b);

  const std::vector<std::vector<int64_t>>& operand_dims_;
  const std::function<std::optional<Dim>(int, int64_t)>& element_;
  int64_t steps_ = 0;
};

Value DimInterpreter::eval(const Expr& e) {
  if (++steps_ > kMaxSteps) return std::nullopt;
  switch (e->op) {
    case Op::kConst:
      if (!ir::is_float(e->dtype)) return Dim(e->integer);
      if (std::fabs(e->number) < 0x1p53 && e->number == std::floor(e->number))
        return Dim(static_cast<int64_t>(e->number));
      return std::nullopt;
    case Op::kDim: return e->dim;
    case Op::kVar: {
      auto it = vars.find(e->index);
      return it == vars.end() ? std::nullopt : Value(Dim(it->second));
    }
    case Op::kRead: return eval_read(*e);
    case Op::kCast: return eval_cast(*e);
    case Op::kSelect: {
      Value cond = eval(e->args[0]);
      if (!cond) return std::nullopt;
      if (cond->is_constant()) return eval(e->args[cond->is(0) ? 2 : 1]);
      Value x = eval(e->args[1]), y = eval(e->args[2]);
      if (!x || !y) return std::nullopt;
      return ir::if_eq(*cond, 0, *y, *x);
    }
    case Op::kReduce: return eval_reduce(*e);
    default: break;
  }
  return is_unary(e->op) ? eval_unary(*e) : eval_binary(*e);
}

Value DimInterpreter::eval_read(const ExprNode& e) {
  if (e.index < 0 || e.index >= static_cast<int>(operand_dims_.size())) return std::nullopt;
  const auto& dims = operand_dims_[e.index];
  if (dims.size() != e.args.size()) return std::nullopt;
  int64_t flat = 0;
  for (size_t k = 0; k < dims.size(); ++k) {
    Value i = eval(e.args[k]);
    if (!i || !i->is_constant() || i->constant() < 0 || i->constant() >= dims[k]) return std::nullopt;
    flat = flat * dims[k] + i->constant();
  }
  return element_(e.index, flat);
}

Value DimInterpreter::eval_cast(const ExprNode& e) {
  Value x = eval(e.args[0]);
  if (!x) return std::nullopt;
  DType to = e.rounded_to == DType::kUndefined ? e.dtype : e.rounded_to;
  if (to == DType::kI64 || to == DType::kF64 || e.args[0]->dtype == DType::kBool) return x;
  if (to == DType::kBool) return ir::if_eq(*x, 0, 0, 1);
  if (x->is_constant()) {
    if (!ir::is_float(to)) return Dim(wrap_integer(to, x->constant()));
    double rounded = round_to(to, static_cast<double>(x->constant()));
    return std::fabs(rounded) < 0x1p53 && rounded == static_cast<double>(x->constant()) ? x : std::nullopt;
  }
  // Sizes fit 31 bits, and 24 wherever a model takes them through f32.
  if (to == DType::kI32 || to == DType::kF32) return x;
  return std::nullopt;
}

Value DimInterpreter::eval_unary(const ExprNode& e) {
  Value x = eval(e.args[0]);
  if (!x) return std::nullopt;
  switch (e.op) {
    case Op::kNeg: return Dim(0) - *x;
    case Op::kAbs: return not_negative(*x) ? *x : ir::max(*x, Dim(0) - *x);
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRoundEven:
    case Op::kTrunc: return x;
    case Op::kNot: return Dim(1) - *x;
    case Op::kSign: return ir::if_lt(*x, 0, -1, ir::if_eq(*x, 0, 0, 1));
    case Op::kIsNan:
    case Op::kIsInf: return Dim(0);
    case Op::kBitNot:
    case Op::kPopcount:
      if (x->is_constant() && !ir::is_float(e.dtype)) return Dim(integer_unary(e.op, e.dtype, x->constant()));
      return std::nullopt;
    default: {
      if (!x->is_constant()) return std::nullopt;
      double y = float_unary(e.op, static_cast<double>(x->constant()));
      if (std::fabs(y) < 0x1p53 && y == std::floor(y)) return Dim(static_cast<int64_t>(y));
      return std::nullopt;
    }
  }
}

Value DimInterpreter::eval_binary(const ExprNode& e) {
  Value a = eval(e.args[0]);
  // The second operand of and / or may be guarded by the first.
  if (a && a->is(0) && e.op == Op::kAnd) return a;
  if (a && a->is(1) && e.op == Op::kOr) return a;
  Value b = a ? eval(e.args[1]) : std::nullopt;
  if (!a || !b) return std::nullopt;
  DType operands = e.args[0]->dtype;
  switch (e.op) {
    case Op::kAdd: return *a + *b;
    case Op::kSub: return *a - *b;
    case Op::kMul: return *a * *b;
    case Op::kDiv: return eval_divide(e, *a, *b);
    case Op::kMin: return ir::min(*a, *b);
    case Op::kMax: return ir::max(*a, *b);
    case Op::kMod: return b->is(0) ? std::nullopt : Value(ir::mod(*a, *b));
    case Op::kAnd: return *a * *b;
    case Op::kOr: return *a + *b - *a * *b;
    case Op::kXor: return *a + *b - Dim(2) * *a * *b;
    case Op::kRem:
      if (not_negative(*a) && not_negative(*b) && !b->is(0)) return ir::mod(*a, *b);
      break;
    default: break;
  }
  if (is_compare(e.op)) return eval_compare(e.op, *a, *b);
  if (!a->is_constant() || !b->is_constant()) return std::nullopt;
  if (ir::is_float(operands)) {
    double y = float_binary(e.op, static_cast<double>(a->constant()), static_cast<double>(b->constant()));
    if (std::fabs(y) < 0x1p53 && y == std::floor(y)) return Dim(static_cast<int64_t>(y));
    return std::nullopt;
  }
  return Dim(integer_binary(e.op, operands, a->constant(), b->constant()));
}

Value DimInterpreter::eval_divide(const ExprNode& e, const Dim& a, const Dim& b) {
  if (b.is(0)) return std::nullopt;
  if (ir::is_float(e.dtype)) {  // only where it divides exactly, whatever the symbols are
    Dim q = ir::floor_div(a, b);
    return q * b == a ? Value(q) : std::nullopt;
  }
  if (a.is_constant() && b.is_constant()) return Dim(integer_binary(Op::kDiv, e.dtype, a.constant(), b.constant()));
  if (not_negative(a) && not_negative(b)) return ir::floor_div(a, b);
  // Truncation: a quotient below zero is the negated quotient of the opposite.
  return ir::if_lt(a * b, 0, Dim(0) - ir::floor_div(Dim(0) - a, b), ir::floor_div(a, b));
}

Value DimInterpreter::eval_compare(Op op, const Dim& a, const Dim& b) {
  switch (op) {
    case Op::kEq: return ir::if_eq(a, b, 1, 0);
    case Op::kNe: return ir::if_eq(a, b, 0, 1);
    default: break;
  }
  // A size is never below 0, whatever it is.
  Dim difference = a - b;
  if (op == Op::kLt || op == Op::kGe) {
    bool never_less = not_negative(difference);
    if (never_less) return Dim(op == Op::kGe ? 1 : 0);
    return op == Op::kLt ? ir::if_lt(a, b, 1, 0) : ir::if_lt(a, b, 0, 1);
  }
  if (not_negative(Dim(0) - difference)) return Dim(op == Op::kLe ? 1 : 0);
  return op == Op::kGt ? ir::if_lt(b, a, 1, 0) : ir::if_lt(b, a, 0, 1);
}

Value DimInterpreter::combine(ReduceOp op, const Dim& a, const Dim& b) {
  switch (op) {
    case ReduceOp::kSum: return a + b;
    case ReduceOp::kProd: return a * b;
    case ReduceOp::kMin: return ir::min(a, b);
    case ReduceOp::kMax: return ir::max(a, b);
    case ReduceOp::kAny: return a + b - a * b;
    case ReduceOp::kAll: return a * b;
    default: return std::nullopt;
  }
}

Value DimInterpreter::eval_reduce(const ExprNode& e) {
  if (e.reduce == ReduceOp::kArgMin || e.reduce == ReduceOp::kArgMax) return std::nullopt;
  int64_t count = 1;
  std::vector<int64_t> extents;
  for (const auto& axis : e.axes) {
    auto extent = axis.extent.as_constant();
    if (!extent || *extent < 0 || *extent > 1024) return std::nullopt;
    extents.push_back(*extent);
    count *= *extent;
    if (count > 1024) return std::nullopt;
  }
  Value sum;
  if (e.reduce == ReduceOp::kSum || e.reduce == ReduceOp::kAny) sum = Dim(0);
  if (e.reduce == ReduceOp::kProd || e.reduce == ReduceOp::kAll) sum = Dim(1);
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n;
    for (size_t k = extents.size(); k-- > 0; rest /= extents[k]) vars[e.axes[k].var] = rest % extents[k];
    Value x = eval(e.args[0]);
    if (!x) return std::nullopt;
    sum = sum ? combine(e.reduce, *sum, *x) : x;
  }
  return sum;
}

}  // namespace

std::optional<std::vector<Dim>> interpret_dims(const TensorExpr& e,
                                               const std::vector<std::vector<int64_t>>& operand_dims,
                                               const std::function<std::optional<Dim>(int, int64_t)>& element) {
  DimInterpreter interpreter(operand_dims, element);
  std::vector<int64_t> extents;
  int64_t count = 1;
  for (const auto& axis : e.axes) {
    auto extent = axis.extent.as_constant();
    if (!extent || *extent < 0 || *extent > 4096) return std::nullopt;
    extents.push_back(*extent);
    count *= *extent;
    if (count > 4096) return std::nullopt;
  }
  std::vector<Dim> out;
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n;
    for (size_t k = extents.size(); k-- > 0; rest /= extents[k]) interpreter.vars[e.axes[k].var] = rest % extents[k];
    auto value = interpreter.eval(e.body);
    if (!value) return std::nullopt;
    out.push_back(std::move(*value));
  }
  return out;
}

}  // namespace tvc::te
