// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/scalar_text.h"

#include <fmt/format.h>

#include <cmath>

namespace tvc::codegen::loops {

using ir::DType;
using te::Op;

std::string scalar_type(DType compute) {
  switch (compute) {
    case DType::kF32: return "float";
    case DType::kF64: return "double";
    case DType::kI8: return "int8_t";
    case DType::kI16: return "int16_t";
    case DType::kI32: return "int32_t";
    case DType::kI64: return "int64_t";
    case DType::kU16: return "uint16_t";
    case DType::kU32: return "uint32_t";
    case DType::kU64: return "uint64_t";
    default: return "uint8_t";
  }
}

std::string literal_text(DType compute, double number, int64_t integer) {
  if (ir::is_float(compute)) {
    if (std::isnan(number)) return compute == DType::kF32 ? "NAN" : "(double)NAN";
    if (std::isinf(number)) return number > 0 ? "INFINITY" : "(-INFINITY)";
    std::string text = number == std::floor(number) && std::fabs(number) < 1e6 ? fmt::format("{:.1f}", number)
                                                                               : fmt::format("{:a}", number);
    if (compute == DType::kF32) text += "f";
    return std::signbit(number) ? "(" + text + ")" : text;
  }
  if (compute == DType::kU64) return fmt::format("UINT64_C({})", static_cast<uint64_t>(integer));
  if (integer == INT64_MIN) return "INT64_MIN";
  std::string text =
      integer > INT32_MAX || integer < -INT32_MAX ? fmt::format("INT64_C({})", integer) : std::to_string(integer);
  if (compute != DType::kI64 && compute != DType::kBool) text = fmt::format("(({}){})", scalar_type(compute), text);
  return integer < 0 ? "(" + text + ")" : text;
}

std::string ScalarText::var(int id) {
  name_variable(id);
  return variable(variables_[id]);
}

void ScalarText::name_variable(int id) { variables_.try_emplace(id, static_cast<int>(variables_.size())); }

std::string ScalarText::size(const ir::Dim& dim) {
  if (dim.is_constant()) return literal_text(DType::kI64, 0, dim.constant());
  auto [it, fresh] = size_index_.try_emplace(dim.text(), sizes_.size());
  if (fresh) sizes_.push_back(dim);
  return "n" + std::to_string(it->second);
}

std::string ScalarText::position(const Linear& linear) {
  std::string out;
  for (const auto& axis : nest_.axes) {
    auto it = linear.coefficients.find(axis.var);
    if (it != linear.coefficients.end())
      out += (out.empty() ? "" : " + ") + var(axis.var) + (it->second.is(1) ? "" : " * " + size(it->second));
  }
  for (const auto& [v, c] : linear.coefficients) {
    bool outer = false;
    for (const auto& axis : nest_.axes) outer = outer || axis.var == v;
    if (!outer) out += (out.empty() ? "" : " + ") + var(v) + (c.is(1) ? "" : " * " + size(c));
  }
  if (!linear.offset.is(0) || out.empty()) out += (out.empty() ? "" : " + ") + size(linear.offset);
  return out;
}

std::string ScalarText::load(int operand, const std::string& at) const {
  DType dtype = dtypes_[static_cast<size_t>(operand)];
  std::string x = "x" + std::to_string(operand);
  if (ir::compute_type(dtype) == dtype) return fmt::format("{}[{}]", x, at);
  return fmt::format("tv_load_{}({}, {})", ir::name(dtype), x, at);
}

std::string ScalarText::store(DType dtype, const std::string& at, const std::string& value) const {
  if (dtype == DType::kBool) return fmt::format("y[{}] = ({}) != 0;", at, value);
  if (ir::compute_type(dtype) == dtype) return fmt::format("y[{}] = {};", at, value);
  return fmt::format("tv_store_{}(y, {}, {});", ir::name(dtype), at, value);
}

std::string ScalarText::read(const te::Expr& e) {
  const auto& literal = literals_[static_cast<size_t>(e->index)];
  if (!literal.empty()) return literal;
  auto it = nest_.reads.find(e.get());
  if (it != nest_.reads.end()) return load(e->index, position(it->second));
  const auto& shape = shapes_[static_cast<size_t>(e->index)];
  std::string at;
  for (size_t k = 0; k < e->args.size(); ++k) {
    std::string index = expr(e->args[k]);
    at = at.empty() ? index : fmt::format("({}) * {} + {}", at, size(k < shape.size() ? shape[k] : ir::Dim(1)), index);
  }
  return load(e->index, at.empty() ? "0" : at);
}

std::string ScalarText::cast(const te::Expr& e) {
  DType from = e->args[0]->dtype, to = e->dtype;
  std::string x = expr(e->args[0]);
  if (to == DType::kBool) return fmt::format("(({}) != 0)", x);
  bool narrow = e->rounded_to != DType::kUndefined && e->rounded_to != to;
  if (ir::is_float(from) && !ir::is_float(to))
    x = fmt::format("tv_{}_from_{}({})", to == DType::kU64 ? "u64" : "i64", from == DType::kF32 ? "f32" : "f64", x);
  x = from == to ? x : fmt::format("(({}){})", scalar_type(to), x);
  return narrow ? fmt::format("tv_round_{}({})", ir::name(e->rounded_to), x) : x;
}

std::string ScalarText::reduce(const te::Expr& e) {
  using te::ReduceOp;
  std::string type = scalar_type(e->args[0]->dtype),
              result = fmt::format("r{}", e->axes.empty() ? 0 : (var(e->axes[0].var), variables_[e->axes[0].var]));
  bool arg = e->reduce == ReduceOp::kArgMin || e->reduce == ReduceOp::kArgMax;
  bool is_float = ir::is_float(e->args[0]->dtype);
  std::string start, combine, pragma;
  DType dtype = e->args[0]->dtype;
  auto lowest = [&](bool low) -> std::string {
    if (is_float) return low ? "-INFINITY" : "INFINITY";
    return low ? fmt::format("tv_lowest_{}", ir::name(dtype)) : fmt::format("tv_highest_{}", ir::name(dtype));
  };
  switch (e->reduce) {
    case ReduceOp::kSum:
      start = "0";
      combine = "{0} += {1};";
      pragma = "+";
      break;
    case ReduceOp::kProd:
      start = "1";
      combine = "{0} *= {1};";
      pragma = "*";
      break;
    case ReduceOp::kMin:
      start = lowest(false);
      combine = is_float ? "{0} = tv_fmin({0}, {1});" : "{{ const " + type + " t = {1}; {0} = t < {0} ? t : {0}; }}";
      break;
    case ReduceOp::kMax:
      start = lowest(true);
      combine = is_float ? "{0} = tv_fmax({0}, {1});" : "{{ const " + type + " t = {1}; {0} = t > {0} ? t : {0}; }}";
      break;
    case ReduceOp::kAny:
      start = "0";
      combine = "{0} |= ({1}) != 0;";
      break;
    case ReduceOp::kAll:
      start = "1";
      combine = "{0} &= ({1}) != 0;";
      break;
    case ReduceOp::kArgMin:
    case ReduceOp::kArgMax: break;
  }
  if (is_float && dtype == DType::kF64 && !arg)
    for (auto name : {"tv_fmin", "tv_fmax"})
      if (auto at = combine.find(name); at != std::string::npos) combine.insert(at + 7, "64");
  std::string out = arg ? fmt::format("({{ {0} {1}; int64_t {1}_at = -1; ", type, result)
                        : fmt::format("({{ {} {} = {}; ", type, result, start);
  for (size_t k = 0; k < e->axes.size(); ++k) {
    std::string v = var(e->axes[k].var);
    if (k + 1 == e->axes.size() && !pragma.empty() && is_float)
      out += fmt::format("_Pragma(\"omp simd reduction({}:{})\") ", pragma, result);
    out += fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) ", v, size(e->axes[k].extent));
  }
  std::string value = expr(e->args[0]);
  if (arg) {
    std::string v = var(e->axes[0].var), sign = e->reduce == ReduceOp::kArgMin ? "<" : ">";
    out += fmt::format(
        "{{ const {0} t = {1}; if ({2}_at < 0 || t {3} {2}) {{ {2} = t; {2}_at = {4}; }} }} {2}_at < 0 ? 0 : {2}_at; }})",
        type, value, result, sign, v);
  } else {
    out += fmt::format(fmt::runtime(combine), result, value) + fmt::format(" {}; }})", result);
  }
  return out;
}

std::string ScalarText::call(const te::Expr& e) {
  static const std::map<Op, std::string> kInfix = {
      {Op::kAdd, "+"}, {Op::kSub, "-"},    {Op::kMul, "*"},   {Op::kEq, "=="},   {Op::kNe, "!="},
      {Op::kLt, "<"},  {Op::kLe, "<="},    {Op::kGt, ">"},    {Op::kGe, ">="},   {Op::kAnd, "&&"},
      {Op::kOr, "||"}, {Op::kBitAnd, "&"}, {Op::kBitOr, "|"}, {Op::kBitXor, "^"}};
  static const std::map<Op, std::string> kNames = {
      {Op::kAbs, "abs"},        {Op::kSign, "sign"},         {Op::kFloor, "floor"},     {Op::kCeil, "ceil"},
      {Op::kRoundEven, "rint"}, {Op::kTrunc, "trunc"},       {Op::kSqrt, "sqrt"},       {Op::kExp, "exp"},
      {Op::kLog, "log"},        {Op::kSin, "sin"},           {Op::kCos, "cos"},         {Op::kTan, "tan"},
      {Op::kAsin, "asin"},      {Op::kAcos, "acos"},         {Op::kAtan, "atan"},       {Op::kSinh, "sinh"},
      {Op::kCosh, "cosh"},      {Op::kAsinh, "asinh"},       {Op::kAcosh, "acosh"},     {Op::kAtanh, "atanh"},
      {Op::kTanh, "tanh"},      {Op::kErf, "erf"},           {Op::kSigmoid, "sigmoid"}, {Op::kIsNan, "isnan"},
      {Op::kIsInf, "isinf"},    {Op::kPopcount, "popcount"}, {Op::kDiv, "div"},         {Op::kRem, "rem"},
      {Op::kMod, "mod"},        {Op::kPow, "pow"},           {Op::kAtan2, "atan2"},     {Op::kMin, "min"},
      {Op::kMax, "max"},        {Op::kShl, "shl"},           {Op::kShr, "shr"}};
  std::vector<std::string> a;
  for (const auto& arg : e->args) a.push_back(expr(arg));
  DType operand = e->args[0]->dtype;
  std::string narrow = !ir::is_float(e->dtype) && ir::bit_width(e->dtype) < 32 && e->dtype != DType::kBool
                           ? fmt::format("({})", scalar_type(e->dtype))
                           : "";
  if (e->op == Op::kNeg) return fmt::format("({}(-{}))", narrow, a[0]);
  if (e->op == Op::kNot) return fmt::format("(!{})", a[0]);
  if (e->op == Op::kBitNot) return fmt::format("({}(~{}))", narrow, a[0]);
  if (e->op == Op::kXor) return fmt::format("(({} != 0) != ({} != 0))", a[0], a[1]);
  if (e->op == Op::kDiv && ir::is_float(operand)) return fmt::format("({} / {})", a[0], a[1]);
  if (auto it = kInfix.find(e->op); it != kInfix.end())
    return fmt::format("({}({} {} {}))", narrow, a[0], it->second, a[1]);
  auto it = kNames.find(e->op);
  std::string args = a.size() == 2 ? a[0] + ", " + a[1] : a[0];
  return fmt::format("tv_{}_{}({})", it == kNames.end() ? "unknown" : it->second, ir::name(operand), args);
}

std::string ScalarText::expr(const te::Expr& e) {
  if (auto it = bound_.find(e.get()); it != bound_.end()) return it->second;
  switch (e->op) {
    case Op::kConst: return literal_text(e->dtype, e->number, e->integer);
    case Op::kDim: return size(e->dim);
    case Op::kVar: return var(e->index);
    case Op::kRead: return read(e);
    case Op::kCast: return cast(e);
    case Op::kReduce: return reduce(e);
    case Op::kSelect: return fmt::format("({} ? {} : {})", expr(e->args[0]), expr(e->args[1]), expr(e->args[2]));
    default: return call(e);
  }
}

}  // namespace tvc::codegen::loops
