// SPDX-License-Identifier: Apache-2.0
#include "codegen/epilogue.h"

#include <cmath>
#include <limits>
#include <map>

#include "ops/body.h"

namespace tvc::codegen {
namespace {

using te::Op;

// Functions of isa/<target>.h and isa/math.h for operators whose meaning they share.
const std::map<Op, std::string_view> kCalls = {
    {Op::kNeg, "tv_neg"},     {Op::kAbs, "tv_abs"},         {Op::kFloor, "tv_floor"},  {Op::kCeil, "tv_ceil"},
    {Op::kTrunc, "tv_trunc"}, {Op::kRoundEven, "tv_round"}, {Op::kSqrt, "tv_sqrt"},    {Op::kExp, "tv_exp"},
    {Op::kLog, "tv_log"},     {Op::kTanh, "tv_tanh"},       {Op::kErf, "tv_erf"},      {Op::kSigmoid, "tv_sigmoid"},
    {Op::kAdd, "tv_add"},     {Op::kSub, "tv_sub"},         {Op::kMul, "tv_mul"},      {Op::kDiv, "tv_div"},
    {Op::kLt, "tv_lt"},       {Op::kLe, "tv_le"},           {Op::kGt, "tv_gt"},        {Op::kGe, "tv_ge"},
    {Op::kEq, "tv_eq"},       {Op::kNe, "tv_ne"},           {Op::kIsNan, "tv_isnan"},  {Op::kAnd, "tv_and_mask"},
    {Op::kOr, "tv_or_mask"},  {Op::kXor, "tv_xor_mask"},    {Op::kNot, "tv_not_mask"}, {Op::kSelect, "tv_select"},
};

bool is_mask_op(Op op) { return op == Op::kAnd || op == Op::kOr || op == Op::kXor || op == Op::kNot; }

std::string number_text(double value) {
  if (std::isnan(value)) return "tv_set1(NAN)";
  if (std::isinf(value)) return value > 0 ? "tv_set1(INFINITY)" : "tv_set1(-INFINITY)";
  if (value == 0 && !std::signbit(value)) return "tv_zero()";
  std::string text = fmt::format("{:.9g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return fmt::format("tv_set1({}f)", text);
}

// Writes an expression as one local for each of its inner nodes.
class VectorText {
 public:
  explicit VectorText(const std::vector<std::string>& operands) : operands_(operands) {}

  Result<std::string> value(const te::Expr& e) {
    if (auto it = names_.find(e.get()); it != names_.end()) return it->second;
    if (e->op == Op::kConst && e->dtype == ir::DType::kF32) return number_text(e->number);
    if (e->op == Op::kRead) {
      if (e->dtype != ir::DType::kF32) return unsupported("vector text of a {} operand", ir::name(e->dtype));
      if (static_cast<size_t>(e->index) >= operands_.size()) return internal("operand {} has no text", e->index);
      return operands_[static_cast<size_t>(e->index)];
    }
    if (e->op == Op::kCast && e->dtype == ir::DType::kF32 && e->args[0]->dtype == ir::DType::kF32 &&
        e->rounded_to == ir::DType::kUndefined)
      return value(e->args[0]);
    TVC_TRY(std::string text, call(e));
    std::string name = fmt::format("t{}_", names_.size());
    const bool mask = e->dtype == ir::DType::kBool;
    statements += fmt::format("const {} {} = {}; ", mask ? "tv_mask" : "tv_f32", name, text);
    names_.emplace(e.get(), name);
    return name;
  }

  std::string statements;

 private:
  Result<std::string> call(const te::Expr& e) {
    if (e->dtype != ir::DType::kF32 && e->dtype != ir::DType::kBool)
      return unsupported("vector text of {} values", ir::name(e->dtype));
    std::vector<std::string> args;
    if (e->op == Op::kReduce) return unsupported("vector text of a reduction");
    for (const auto& arg : e->args) {
      if (arg->dtype != (is_mask_op(e->op) ? ir::DType::kBool : ir::DType::kF32) &&
          !(e->op == Op::kSelect && arg == e->args[0] && arg->dtype == ir::DType::kBool))
        return unsupported("vector text of {} values", ir::name(arg->dtype));
      TVC_TRY(std::string text, value(arg));
      args.push_back(std::move(text));
    }
    if (e->op == Op::kMin || e->op == Op::kMax) return extreme(e, args);
    if (e->op == Op::kPow) return power(e, args);
    auto it = kCalls.find(e->op);
    if (it == kCalls.end()) return unsupported("vector text of this operator");
    std::string list;
    for (const auto& arg : args) list += (list.empty() ? "" : ", ") + arg;
    return fmt::format("{}({})", it->second, list);
  }

  // The instructions give the second operand where either is NaN, so that a constant belongs first.
  static std::string extreme(const te::Expr& e, const std::vector<std::string>& args) {
    std::string_view name = e->op == Op::kMin ? "tv_min" : "tv_max";
    auto is_number = [](const te::Expr& x) { return x->op == Op::kConst && !std::isnan(x->number); };
    if (is_number(e->args[0])) return fmt::format("{}({}, {})", name, args[0], args[1]);
    if (is_number(e->args[1])) return fmt::format("{}({}, {})", name, args[1], args[0]);
    return fmt::format("{}_nan({}, {})", name, args[0], args[1]);
  }

  static Result<std::string> power(const te::Expr& e, const std::vector<std::string>& args) {
    if (e->args[1]->op != Op::kConst) return unsupported("vector text of a power with a variable exponent");
    const double exponent = e->args[1]->number;
    if (exponent == 2) return fmt::format("tv_mul({0}, {0})", args[0]);
    if (exponent == 3) return fmt::format("tv_mul(tv_mul({0}, {0}), {0})", args[0]);
    return unsupported("vector text of a power of {}", exponent);
  }

  const std::vector<std::string>& operands_;
  std::map<const te::ExprNode*, std::string> names_;
};

}  // namespace

Result<std::string> vector_text(const te::Expr& body, const std::vector<std::string>& operands) {
  VectorText text(operands);
  TVC_TRY(std::string value, text.value(body));
  return text.statements.empty() ? value : fmt::format("({{ {}{}; }})", text.statements, value);
}

std::optional<Bounds> bounds_of(const te::Expr& body) {
  if (body->op == Op::kRead && body->index == 0)
    return Bounds{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  if (body->op == Op::kCast && body->dtype == ir::DType::kF32 && body->rounded_to == ir::DType::kUndefined &&
      body->args[0]->dtype == ir::DType::kF32)
    return bounds_of(body->args[0]);
  if (body->op != Op::kMin && body->op != Op::kMax) return std::nullopt;
  const bool constant_first = body->args[0]->op == Op::kConst;
  const te::Expr &limit = body->args[constant_first ? 0 : 1], &inner = body->args[constant_first ? 1 : 0];
  if (limit->op != Op::kConst || std::isnan(limit->number)) return std::nullopt;
  auto bounds = bounds_of(inner);
  if (!bounds) return std::nullopt;
  if (body->op == Op::kMax)
    bounds->low = std::max(bounds->low, limit->number), bounds->high = std::max(bounds->high, limit->number);
  else bounds->high = std::min(bounds->high, limit->number), bounds->low = std::min(bounds->low, limit->number);
  return bounds;
}

std::optional<EpilogueOperand> operand_kind(const ir::Shape& output, const ir::Shape& operand) {
  if (operand == output) return EpilogueOperand::kFull;
  if (ir::product(operand).is(1)) return EpilogueOperand::kScalar;
  const size_t rank = output.size(), missing = rank - std::min(operand.size(), rank);
  if (operand.size() > rank || operand.empty()) return std::nullopt;
  const bool blocked = rank == 5 && output[4].is(16);
  for (size_t k = missing; k < rank; ++k) {
    const ir::Dim& size = operand[k - missing];
    const bool channel = k + 1 == rank || (blocked && k == 1);
    if (channel ? size != output[k] : !size.is(1)) return std::nullopt;
  }
  if (blocked && missing > 1) return std::nullopt;
  return EpilogueOperand::kPerChannel;
}

Result<te::Expr> epilogue_body(const ir::Module& module, ir::NodeId id) {
  auto body = module.node(id).subgraph("epilogue");
  if (!body) return te::Expr();
  const ir::Graph& graph = module.graphs[*body];
  if (graph.outputs.size() != 1 || graph.inputs.empty())
    return internal("an epilogue takes its result and gives one value");
  TVC_TRY(auto outputs, ops::express_body(module, *body, ops::axes_of(module.value(graph.inputs[0]).type.shape)));
  if (outputs[0].dtype != ir::DType::kF32) return unsupported("an epilogue that gives {}", ir::name(outputs[0].dtype));
  return outputs[0].body;
}

Result<Epilogue> epilogue_of(const ir::Module& module, ir::NodeId id, const Target&) {
  Epilogue out;
  TVC_TRY(te::Expr body, epilogue_body(module, id));
  if (!body) return out;
  const ir::Node& node = module.node(id);
  const ir::Graph& graph = module.graphs[*node.subgraph("epilogue")];
  const ir::Shape& shape = module.value(graph.inputs[0]).type.shape;
  std::vector<std::string> operands = {"acc"};
  for (auto k = static_cast<size_t>(node.i("epilogue_inputs", 0)); k < node.inputs.size(); ++k) {
    const ir::Type& type = module.value(node.inputs[k]).type;
    auto kind = operand_kind(shape, type.shape);
    if (!kind || type.dtype != ir::DType::kF32) return unsupported("an epilogue operand of this shape");
    operands.push_back(fmt::format("e{}", out.kinds.size()));
    out.kinds.push_back(*kind);
    out.values.push_back(node.inputs[k]);
  }
  TVC_TRY(std::string text, vector_text(body, operands));
  out.code = fmt::format("acc = {};", text);
  return out;
}

bool epilogue_supported(const ir::Module& module, ir::GraphId body) {
  const ir::Graph& graph = module.graphs[body];
  if (graph.outputs.size() != 1 || graph.inputs.empty()) return false;
  const ir::Shape& shape = module.value(graph.inputs[0]).type.shape;
  std::vector<std::string> operands(1, "acc");
  for (size_t k = 1; k < graph.inputs.size(); ++k) {
    const ir::Type& type = module.value(graph.inputs[k]).type;
    if (type.dtype != ir::DType::kF32 || !operand_kind(shape, type.shape)) return false;
    operands.push_back("e");
  }
  auto outputs = ops::express_body(module, body, ops::axes_of(shape));
  return outputs.ok() && (*outputs)[0].dtype == ir::DType::kF32 && vector_text((*outputs)[0].body, operands).ok();
}

bool takes_epilogue(const ir::Module& module, ir::NodeId node, ir::GraphId body, const Target& target) {
  const Family* family = family_of(module, node, target);
  return family != nullptr && family->epilogue && epilogue_supported(module, body);
}

}  // namespace tvc::codegen
