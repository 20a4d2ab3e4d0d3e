// SPDX-License-Identifier: Apache-2.0
// Tensor expressions: for each output element an index domain, reduction axes and a scalar body. The one text of an
// operator's meaning: constant folding interprets it, fusion inlines it into a neighbour, every target emits it.
//
// Scalars have the compute type of their element type (ir::compute_type): floats below 32 bits compute as f32 and are
// rounded when stored. Index arithmetic is i64. Integer division truncates towards zero, shifts and overflow wrap.
// select() evaluates only the chosen side: a guarded read may be out of range on the other.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/dim.h"
#include "ir/dtype.h"

namespace tvc::te {

using ir::Dim;
using ir::DType;

enum class Op : uint8_t {
  kConst,  // value
  kDim,    // a symbolic size, i64
  kVar,    // an index variable, i64
  kRead,   // operand[args...]; compute type of the operand's element type
  kCast,   // to dtype: float -> int truncates; to bool: x != 0; to a small float (`rounded_to`): rounds, computes on as
           // f32
  kSelect,  // (cond, x, y)
  kReduce,  // over axes
  // unary
  kNeg,
  kAbs,
  kSign,
  kFloor,
  kCeil,
  kRoundEven,
  kTrunc,
  kSqrt,
  kExp,
  kLog,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kTanh,
  kErf,
  kSigmoid,
  kNot,
  kBitNot,
  kIsNan,
  kIsInf,
  kPopcount,
  // binary
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,  // kRem: C's % and fmod
  kMod,  // Python's: the divisor's sign
  kPow,
  kAtan2,
  kMin,
  kMax,  // min and max pass NaN on
  kAnd,
  kOr,
  kXor,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShl,
  kShr,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
};

enum class ReduceOp : uint8_t { kSum, kProd, kMin, kMax, kAny, kAll, kArgMin, kArgMax };  // Arg*: first index; one axis

struct Axis {
  int var = 0;
  Dim extent;
};

struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;

struct ExprNode {
  Op op;
  DType dtype;  // the compute type of the value
  std::vector<Expr> args;
  double number = 0;    // kConst of float types
  int64_t integer = 0;  // kConst of integer types and bool (u64: the bits)
  Dim dim;              // kDim
  int index = 0;        // kVar: the variable; kRead: the operand
  ReduceOp reduce = ReduceOp::kSum;
  std::vector<Axis> axes;                // kReduce
  DType rounded_to = DType::kUndefined;  // kCast to a small float or int4: the storage type it passes through
};

// One output: element [v0, v1, ...] (the axes in order) is body.
struct TensorExpr {
  DType dtype = DType::kUndefined;  // storage type of the output
  std::vector<Axis> axes;
  Expr body;
};

// -- building: small foldings are done on the way ------------------------------------------------------------------
int fresh_var();  // process-wide unique; printed and hashed forms rename them
Expr number(DType dtype, double value);
Expr integer(DType dtype, int64_t value);
inline Expr index(int64_t value) { return integer(DType::kI64, value); }
Expr boolean(bool value);
Expr dim(const Dim& value);
Expr var(int id);
Expr read(int operand, DType storage, std::vector<Expr> index);
Expr cast(DType to, Expr x);  // to: any storage type; result has its compute type
Expr select(Expr cond, Expr x, Expr y);
Expr reduce(ReduceOp op, std::vector<Axis> axes, Expr body);
Expr unary(Op op, Expr x);
Expr binary(Op op, Expr a, Expr b);
inline Expr operator+(Expr a, Expr b) { return binary(Op::kAdd, std::move(a), std::move(b)); }
inline Expr operator-(Expr a, Expr b) { return binary(Op::kSub, std::move(a), std::move(b)); }
inline Expr operator*(Expr a, Expr b) { return binary(Op::kMul, std::move(a), std::move(b)); }
inline Expr operator/(Expr a, Expr b) { return binary(Op::kDiv, std::move(a), std::move(b)); }
inline Expr operator-(Expr a) { return unary(Op::kNeg, std::move(a)); }
inline Expr min(Expr a, Expr b) { return binary(Op::kMin, std::move(a), std::move(b)); }
inline Expr max(Expr a, Expr b) { return binary(Op::kMax, std::move(a), std::move(b)); }
inline Expr lt(Expr a, Expr b) { return binary(Op::kLt, std::move(a), std::move(b)); }
inline Expr le(Expr a, Expr b) { return binary(Op::kLe, std::move(a), std::move(b)); }
inline Expr ge(Expr a, Expr b) { return binary(Op::kGe, std::move(a), std::move(b)); }
inline Expr gt(Expr a, Expr b) { return binary(Op::kGt, std::move(a), std::move(b)); }
inline Expr eq(Expr a, Expr b) { return binary(Op::kEq, std::move(a), std::move(b)); }
inline Expr ne(Expr a, Expr b) { return binary(Op::kNe, std::move(a), std::move(b)); }
inline Expr land(Expr a, Expr b) { return binary(Op::kAnd, std::move(a), std::move(b)); }
inline Expr lor(Expr a, Expr b) { return binary(Op::kOr, std::move(a), std::move(b)); }
// 0 <= i < extent
Expr in_range(const Expr& i, const Dim& extent);

// -- rewriting -----------------------------------------------------------------------------------------------------
// Bottom-up rebuild: `visit` may return a replacement for a rebuilt node, or null to keep it.
Expr rewrite(const Expr& e, const std::function<Expr(const Expr&)>& visit);
Expr substitute_vars(const Expr& e, const std::function<Expr(int)>& map);  // null: keep
// Replaces reads of `operand` by the producer's body at that index (fusion). `renumber` maps the producer's operands.
Expr inline_operand(const Expr& consumer, int operand, const TensorExpr& producer,
                    const std::function<int(int)>& renumber);
Expr renumber_operands(const Expr& e, const std::function<int(int)>& map);
// Every operand read, in order of first occurrence.
std::vector<int> operands_of(const Expr& e);
bool has_reduce(const Expr& e);
bool uses_var(const Expr& e, int variable);
std::string text(const TensorExpr& e);  // for people, tests and hashing; variables renamed i0, i1, ...

// -- interpreting --------------------------------------------------------------------------------------------------
struct OperandData {
  DType dtype;
  std::vector<int64_t> dims;
  const std::byte* data;
};
// Evaluates e over concrete sizes; symbols through `lookup`. `out` receives packed elements of e.dtype, row-major.
// False: a symbol is unknown or an index is out of range.
bool interpret(const TensorExpr& e, const std::vector<OperandData>& operands, const ir::SymbolLookup& lookup,
               std::byte* out);
// Evaluates an integer expression over Dims (shape arithmetic): reads of operand k, flat element n, come from
// `element(k, n)`. nullopt where the element is unknown or the operation has no Dim form.
std::optional<std::vector<Dim>> interpret_dims(const TensorExpr& e,
                                               const std::vector<std::vector<int64_t>>& operand_dims,
                                               const std::function<std::optional<Dim>(int, int64_t)>& element);

}  // namespace tvc::te
