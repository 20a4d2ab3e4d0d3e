// SPDX-License-Identifier: Apache-2.0
// Evaluates a tensor expression element by element. The expression becomes a flat list of steps; a step's value is kept
// as long as no variable that it may depend on has changed, so that shared parts are computed once an element.
#include <cmath>
#include <unordered_map>

#include "ir/storage.h"
#include "tensorexpr/expr.h"
#include "tensorexpr/scalar.h"

namespace tvc::te {
namespace {

struct Scalar {
  double f = 0;
  int64_t i = 0;
};

struct Step {
  const ExprNode* node;
  std::vector<int> args;
  bool is_float;
  bool operand_is_float = false;  // of comparisons, casts, tests
  std::vector<int> slots;         // kReduce: places of its variables
  std::vector<int64_t> extents;   // kReduce
  std::vector<int64_t> strides;   // kRead, in elements
  int slot = 0;                   // kVar
  int64_t constant = 0;           // kDim
  uint64_t epoch = 0;
  Scalar value;
};

bool is_arg(ReduceOp op) { return op == ReduceOp::kArgMin || op == ReduceOp::kArgMax; }

class Machine {
 public:
  Machine(const std::vector<OperandData>& operands, const ir::SymbolLookup& lookup)
      : operands_(operands), lookup_(lookup) {}

  // The step of e; -1 where a symbol has no value.
  int compile(const Expr& e) {
    if (auto it = index_.find(e.get()); it != index_.end()) return it->second;
    Step step{e.get(), {}, ir::is_float(e->dtype), false, {}, {}, {}, 0, 0, 0, {}};
    for (const Axis& axis : e->axes) {
      auto extent = ir::evaluate(axis.extent, lookup_);
      if (!extent) return -1;
      step.slots.push_back(slot_of(axis.var));
      step.extents.push_back(*extent);
    }
    for (const Expr& arg : e->args) {
      int k = compile(arg);
      if (k < 0) return -1;
      step.args.push_back(k);
    }
    if (!e->args.empty()) step.operand_is_float = ir::is_float(e->args[0]->dtype);
    if (e->op == Op::kVar) step.slot = slot_of(e->index);
    if (e->op == Op::kDim) {
      auto value = ir::evaluate(e->dim, lookup_);
      if (!value) return -1;
      step.constant = *value;
    }
    if (e->op == Op::kRead) {
      const auto& dims = operands_[static_cast<size_t>(e->index)].dims;
      if (dims.size() != e->args.size()) return -1;
      step.strides.assign(dims.size(), 1);
      for (size_t k = dims.size(); k-- > 1;) step.strides[k - 1] = step.strides[k] * dims[k];
    }
    int id = static_cast<int>(steps_.size());
    steps_.push_back(std::move(step));
    index_.emplace(e.get(), id);
    return id;
  }

  int slot_of(int var) {
    auto [it, fresh] = slots_.try_emplace(var, static_cast<int>(vars.size()));
    if (fresh) vars.push_back(0);
    return it->second;
  }

  void next() { ++epoch_; }
  bool failed() const { return failed_; }

  Scalar eval(int id) {
    if (steps_[static_cast<size_t>(id)].epoch == epoch_) return steps_[static_cast<size_t>(id)].value;
    Scalar value = compute(id);
    Step& step = steps_[static_cast<size_t>(id)];
    step.epoch = epoch_;
    step.value = value;
    return value;
  }

  std::vector<int64_t> vars;

 private:
  Scalar real(const Step& step, double value) const {
    return {step.node->dtype == DType::kF32 ? static_cast<float>(value) : value, 0};
  }

  Scalar compute(int id) {
    const Step& step = steps_[static_cast<size_t>(id)];
    switch (step.node->op) {
      case Op::kConst: return {step.node->number, step.node->integer};
      case Op::kDim: return {0, step.constant};
      case Op::kVar: return {0, vars[static_cast<size_t>(step.slot)]};
      case Op::kRead: return read(step);
      case Op::kCast: return cast(step);
      case Op::kSelect: return eval(step.args[0]).i != 0 ? eval(step.args[1]) : eval(step.args[2]);
      case Op::kReduce: return reduce(id);
      default: return call(step);
    }
  }

  Scalar read(const Step& step) {
    const auto& operand = operands_[static_cast<size_t>(step.node->index)];
    int64_t at = 0;
    for (size_t k = 0; k < step.args.size(); ++k) {
      int64_t index = eval(step.args[k]).i;
      if (index < 0 || index >= operand.dims[k]) {
        failed_ = true;
        return {};
      }
      at += index * step.strides[k];
    }
    if (step.is_float) return {ir::load_float(operand.dtype, operand.data, at), 0};
    return {0, ir::load_integer(operand.dtype, operand.data, at)};
  }

  Scalar cast(const Step& step) {
    Scalar x = eval(step.args[0]);
    DType from = steps_[static_cast<size_t>(step.args[0])].node->dtype, to = step.node->dtype,
          storage = step.node->rounded_to;
    if (step.is_float) {
      double value = step.operand_is_float ? x.f
                     : from == DType::kU64 ? static_cast<double>(static_cast<uint64_t>(x.i))
                                           : static_cast<double>(x.i);
      return real(step, storage == DType::kUndefined ? value : round_to(storage, value));
    }
    int64_t value = step.operand_is_float ? float_to_integer(to, x.f) : wrap_integer(to, x.i);
    return {0, storage == DType::kUndefined ? value : wrap_integer(storage, value)};
  }

  Scalar call(const Step& step) {
    const Op op = step.node->op;
    Scalar a = eval(step.args[0]);
    if (step.args.size() == 1) {
      if (op == Op::kIsNan) return {0, std::isnan(a.f)};
      if (op == Op::kIsInf) return {0, std::isinf(a.f)};
      return step.is_float ? real(step, float_unary(op, a.f)) : Scalar{0, integer_unary(op, step.node->dtype, a.i)};
    }
    Scalar b = eval(step.args[1]);
    if (is_compare(op)) {
      DType operand = steps_[static_cast<size_t>(step.args[0])].node->dtype;
      return {0, step.operand_is_float ? float_compare(op, a.f, b.f) : integer_compare(op, operand, a.i, b.i)};
    }
    return step.is_float ? real(step, float_binary(op, a.f, b.f))
                         : Scalar{0, integer_binary(op, step.node->dtype, a.i, b.i)};
  }

  Scalar start(const Step& step) const {
    const DType dtype = step.node->dtype;
    const bool is_unsigned = ir::is_unsigned_int(dtype) || dtype == DType::kBool;
    const int bits = ir::bit_width(dtype);
    int64_t highest = dtype == DType::kU64 ? -1
                      : is_unsigned        ? (int64_t{1} << bits) - 1
                      : bits == 64         ? INT64_MAX
                                           : (int64_t{1} << (bits - 1)) - 1;
    int64_t lowest = is_unsigned ? 0 : bits == 64 ? INT64_MIN : -highest - 1;
    if (dtype == DType::kBool) highest = 1;
    switch (step.node->reduce) {
      case ReduceOp::kProd: return {1, 1};
      case ReduceOp::kMin: return {INFINITY, highest};
      case ReduceOp::kMax: return {-INFINITY, lowest};
      case ReduceOp::kAll: return {0, 1};
      default: return {};
    }
  }

  void combine(const Step& step, Scalar& total, Scalar x) const {
    const DType dtype = step.node->dtype;
    auto apply = [&](Op op) {
      if (step.is_float) total.f = float_binary(op, total.f, x.f);
      else total.i = integer_binary(op, dtype, total.i, x.i);
    };
    switch (step.node->reduce) {
      case ReduceOp::kSum: return apply(Op::kAdd);
      case ReduceOp::kProd: return apply(Op::kMul);
      case ReduceOp::kMin: return apply(Op::kMin);
      case ReduceOp::kMax: return apply(Op::kMax);
      case ReduceOp::kAny: total.i |= x.i != 0; return;
      case ReduceOp::kAll: total.i &= x.i != 0; return;
      default: return;
    }
  }

  // Whether x is strictly better than the best so far.
  bool improves(const Step& step, Scalar x, Scalar best) const {
    const bool less = step.node->reduce == ReduceOp::kArgMin;
    if (step.operand_is_float) return less ? x.f < best.f : x.f > best.f;
    DType dtype = steps_[static_cast<size_t>(step.args[0])].node->dtype;
    return integer_compare(less ? Op::kLt : Op::kGt, dtype, x.i, best.i);
  }

  Scalar reduce(int id) {
    // A copy of what the loop needs: evaluation below may not move steps, but variables change.
    const Step& step = steps_[static_cast<size_t>(id)];
    Scalar total = start(step), best;
    bool any = false;
    for (int64_t extent : step.extents)
      if (extent <= 0) return is_arg(step.node->reduce) ? Scalar{} : total;
    std::vector<int64_t> saved;
    for (int slot : step.slots) {
      saved.push_back(vars[static_cast<size_t>(slot)]);
      vars[static_cast<size_t>(slot)] = 0;
    }
    for (bool more = true; more;) {
      ++epoch_;
      Scalar x = eval(step.args[0]);
      if (is_arg(step.node->reduce)) {
        if (!any || improves(step, x, best)) {
          best = x;
          total.i = vars[static_cast<size_t>(step.slots[0])];
        }
        any = true;
      } else {
        combine(step, total, x);
      }
      more = advance(step);
    }
    for (size_t k = 0; k < saved.size(); ++k) vars[static_cast<size_t>(step.slots[k])] = saved[k];
    ++epoch_;
    return step.is_float && step.node->dtype == DType::kF32 ? Scalar{static_cast<float>(total.f), 0} : total;
  }

  bool advance(const Step& step) {
    for (size_t k = step.slots.size(); k-- > 0;) {
      int64_t& v = vars[static_cast<size_t>(step.slots[k])];
      if (++v < step.extents[k]) return true;
      v = 0;
    }
    return false;
  }

  const std::vector<OperandData>& operands_;
  const ir::SymbolLookup& lookup_;
  std::vector<Step> steps_;
  std::unordered_map<const ExprNode*, int> index_;
  std::unordered_map<int, int> slots_;
  uint64_t epoch_ = 1;
  bool failed_ = false;
};

}  // namespace

bool interpret(const TensorExpr& e, const std::vector<OperandData>& operands, const ir::SymbolLookup& lookup,
               std::byte* out) {
  Machine machine(operands, lookup);
  std::vector<int64_t> extents;
  std::vector<size_t> slots;
  int64_t count = 1;
  for (const Axis& axis : e.axes) {
    auto extent = ir::evaluate(axis.extent, lookup);
    if (!extent) return false;
    extents.push_back(*extent);
    slots.push_back(static_cast<size_t>(machine.slot_of(axis.var)));
    count *= std::max<int64_t>(*extent, 0);
  }
  int body = machine.compile(e.body);
  if (body < 0) return false;
  const bool is_float = ir::is_float(e.dtype);
  for (int64_t at = 0; at < count && !machine.failed(); ++at) {
    machine.next();
    Scalar value = machine.eval(body);
    if (is_float) ir::store_float(e.dtype, out, at, value.f);
    else ir::store_integer(e.dtype, out, at, value.i);
    for (size_t k = extents.size(); k-- > 0;) {
      if (++machine.vars[slots[k]] < extents[k]) break;
      machine.vars[slots[k]] = 0;
    }
  }
  return !machine.failed();
}

}  // namespace tvc::te
