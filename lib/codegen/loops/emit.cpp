// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/emit.h"

#include <algorithm>
#include <map>

#include "codegen/host/emitter.h"
#include "codegen/loops/scalar_text.h"

namespace tvc::codegen::loops {
namespace {

// Elements that one task should at least compute, and the length of a piece of a single long axis.
constexpr int64_t kTaskElements = 256;
constexpr int64_t kChunk = 4096;

struct Split {
  std::vector<te::Axis> outer, inner;
};

Split split(const std::vector<te::Axis>& axes) {
  Split s;
  size_t first_inner = axes.size();
  int64_t count = 1;
  while (first_inner > 0 && (first_inner == axes.size() || count < kTaskElements)) {
    auto extent = axes[--first_inner].extent.as_constant();
    count *= extent ? std::max<int64_t>(*extent, 1) : kTaskElements;
  }
  s.outer.assign(axes.begin(), axes.begin() + static_cast<long>(first_inner));
  s.inner.assign(axes.begin() + static_cast<long>(first_inner), axes.end());
  return s;
}

// Counts how often each node's value is wanted unconditionally: what stands under a select's branches or in a reduction
// stays where it is.
void count_uses(const te::Expr& e, std::map<const te::ExprNode*, int>& uses, std::vector<te::Expr>& order) {
  if (uses[e.get()]++ > 0) return;
  if (e->op == te::Op::kSelect) count_uses(e->args[0], uses, order);
  else if (e->op != te::Op::kReduce && e->op != te::Op::kRead)
    for (const auto& arg : e->args) count_uses(arg, uses, order);
  order.push_back(e);
}

int count_operations(const te::Expr& e) {
  int n = e->op >= te::Op::kExp && e->op <= te::Op::kSigmoid ? 10 : 1;
  for (const auto& arg : e->args) n += count_operations(arg);
  return std::min(n, 1000);
}

ir::Dim reduction_size(const te::Expr& e) {
  ir::Dim n = 1;
  if (e->op == te::Op::kReduce)
    for (const auto& axis : e->axes) n = n * axis.extent;
  ir::Dim most = 1;
  for (const auto& arg : e->args)
    if (auto m = reduction_size(arg); !m.is(1)) most = m;
  return n * most;
}

class Writer {
 public:
  Writer(const te::TensorExpr& e, const Operands& operands)
      : operands_(operands),
        nest_(make_nest(e, operands.shapes)),
        text_(nest_, operands.shapes, operands.dtypes, operands.literals) {}

  LoopKernel write(std::string hint) {
    LoopKernel k;
    k.operands = read_operands();
    Split s = split(nest_.axes);
    for (const auto& axis : nest_.axes) text_.name_variable(axis.var);
    bool sub_byte = ir::bit_width(nest_.dtype) < 8;
    bool chunked = s.outer.empty() && s.inner.size() == 1 && !sub_byte;
    std::string loops = sub_byte ? sequential(s) : chunked ? chunk(s.inner[0]) : nested(s);
    ir::Dim inner = 1, outer = 1;
    for (const auto& axis : s.inner) inner = inner * axis.extent;
    for (const auto& axis : s.outer) outer = outer * axis.extent;
    k.tasks = sub_byte ? ir::Dim(1) : chunked ? ir::ceil_div(inner, kChunk) : outer;
    k.work = sub_byte ? ir::Dim(0) : inner * outer * reduction_size(nest_.body) * ir::Dim(count_operations(nest_.body));
    k.sizes = text_.sizes();
    k.text.hint = std::move(hint);
    k.text.includes = {"isa/scalar.h"};
    k.text.text = header(k) + loops + "}\n";
    return k;
  }

 private:
  std::vector<int> read_operands() const {
    std::vector<int> out;
    for (int k : te::operands_of(nest_.body))
      if (operands_.literals[static_cast<size_t>(k)].empty()) out.push_back(k);
    return out;
  }

  std::string header(const LoopKernel& k) const {
    std::string fields, locals;
    for (int x : k.operands) {
      std::string type = c_type(operands_.dtypes[static_cast<size_t>(x)]);
      fields += fmt::format("  const {}* x{};\n", type, x);
      locals += fmt::format("  const {0}* const x{1} = a->x{1};\n", type, x);
    }
    std::string out_type = c_type(nest_.dtype);
    fields += fmt::format("  {}* y;\n", out_type);
    locals += fmt::format("  {}* const y = a->y;\n", out_type);
    for (size_t n = 0; n < k.sizes.size(); ++n) {
      fields += fmt::format("  int64_t n{};\n", n);
      locals += fmt::format("  const int64_t n{0} = a->n{0};\n", n);
    }
    return fmt::format(
        "typedef struct NAME_args {{\n{}}} NAME_args;\nstatic void NAME(const void* args_, int64_t begin, int64_t end, int32_t thread) {{\n"
        "  const NAME_args* const a = args_;\n  (void)thread;\n{}",
        fields, locals);
  }

  std::string variable(const te::Axis& axis) { return text_.expr(te::var(axis.var)); }

  std::string element(const std::string& indent, const std::string& at) {
    std::map<const te::ExprNode*, int> uses;
    std::vector<te::Expr> order;
    count_uses(nest_.body, uses, order);
    std::string out = indent + "{\n";
    for (const auto& e : order) {
      bool leaf = e->op == te::Op::kConst || e->op == te::Op::kVar || e->op == te::Op::kDim;
      if (leaf || uses[e.get()] < 2 || e == nest_.body) continue;
      std::string value = text_.expr(e);
      std::string local = "t" + std::to_string(text_.bound_count());
      out += fmt::format("{}  const {} {} = {};\n", indent, scalar_type(e->dtype), local, value);
      text_.bind(e.get(), local);
    }
    out += fmt::format("{}  {}\n{}}}\n", indent, text_.store(nest_.dtype, at, text_.expr(nest_.body)), indent);
    return out;
  }

  std::string output_position() {
    std::string at;
    for (const auto& axis : nest_.axes)
      at = at.empty() ? variable(axis) : fmt::format("({}) * {} + {}", at, text_.size(axis.extent), variable(axis));
    return at.empty() ? "0" : at;
  }

  std::string chunk(const te::Axis& axis) {
    std::string v = variable(axis);
    return fmt::format(
        "  const int64_t last = tv_size_min(end * {0}, {1});\n#pragma GCC ivdep\n  for (int64_t {2} = begin * {0}; {2} < last; ++{2})\n{3}",
        kChunk, text_.size(axis.extent), v, element("  ", v));
  }

  std::string nested(const Split& s) {
    std::string out = "  for (int64_t task = begin; task < end; ++task) {\n";
    if (!s.outer.empty()) out += "    int64_t rest = task;\n";
    for (size_t k = s.outer.size(); k-- > 0;) {
      std::string v = variable(s.outer[k]);
      if (k == 0) out += fmt::format("    const int64_t {} = rest;\n", v);
      else
        out += fmt::format("    const int64_t {0} = rest % {1};\n    rest /= {1};\n", v, text_.size(s.outer[k].extent));
    }
    std::string indent = "    ";
    for (size_t k = 0; k < s.inner.size(); ++k, indent += "  ") {
      if (k + 1 == s.inner.size()) out += "#pragma GCC ivdep\n";
      out += fmt::format("{0}for (int64_t {1} = 0; {1} < {2}; ++{1})\n", indent, variable(s.inner[k]),
                         text_.size(s.inner[k].extent));
    }
    return out + element(indent, output_position()) + "  }\n";
  }

  // Elements below a byte share one: a single task writes them in order.
  std::string sequential(const Split& s) {
    std::string out = "  (void)begin; (void)end;\n";
    std::vector<te::Axis> all = s.outer;
    all.insert(all.end(), s.inner.begin(), s.inner.end());
    std::string indent = "  ";
    for (const auto& axis : all) {
      out +=
          fmt::format("{0}for (int64_t {1} = 0; {1} < {2}; ++{1})\n", indent, variable(axis), text_.size(axis.extent));
      indent += "  ";
    }
    return out + element(indent, output_position());
  }

  const Operands& operands_;
  Nest nest_;
  ScalarText text_;
};

}  // namespace

LoopKernel emit_loops(const te::TensorExpr& e, const Operands& operands, std::string hint) {
  return Writer(e, operands).write(std::move(hint));
}

}  // namespace tvc::codegen::loops
