// SPDX-License-Identifier: Apache-2.0
// tvc.Attention in f32: isa/row_attention.h over the operands where they lie, transposed or not. Keys and values are
// laid out in panels first, but for few query rows.
#include "codegen/arguments.h"
#include "codegen/contraction/tasks.h"
#include "codegen/lower.h"
#include "ops/op_def.h"

namespace tvc::codegen {
namespace {

constexpr int64_t kRows = 48, kBlock = 128, kFew = 3;  // TV_ATTENTION_ROWS, _BLOCK, _FEW

bool claims(const ir::Module& module, ir::NodeId id, const Target& target) {
  const ir::Node& node = module.node(id);
  if (node.op != "tvc.Attention" || target.isa_header.empty()) return false;
  const auto y_perm = node.ints("y_perm");
  for (size_t k = 0; k < 3; ++k)
    if (module.value(node.inputs[k]).type.dtype != ir::DType::kF32) return false;
  return y_perm.back() + 1 == static_cast<int64_t>(y_perm.size());  // rows of y are written whole
}

// A tensor as [outer, head, row, column], with the elements from one to the next along each.
struct Operand {
  ir::Shape shape, steps;
};

Operand operand(const ir::Shape& shape, const std::vector<int64_t>& perm) {
  ir::Shape steps(shape.size());
  ir::Dim step = 1;
  for (size_t k = shape.size(); k-- > 0;) {
    steps[k] = step;
    step = step * shape[k];
  }
  Operand out{ir::Shape(4 - shape.size(), 1), ir::Shape(4 - shape.size(), 0)};
  for (int64_t axis : perm) {
    out.shape.push_back(shape[static_cast<size_t>(axis)]);
    out.steps.push_back(steps[static_cast<size_t>(axis)]);
  }
  return out;
}

std::vector<int64_t> inverse(const std::vector<int64_t>& perm) {
  std::vector<int64_t> out(perm.size());
  for (size_t k = 0; k < perm.size(); ++k) out[static_cast<size_t>(perm[k])] = static_cast<int64_t>(k);
  return out;
}

// Steps of 0 along the axes in which the operand repeats.
ir::Shape repeating(const Operand& o, const ir::Shape& as) {
  ir::Shape steps = o.steps;
  for (size_t k = 0; k < 4; ++k)
    if (o.shape[k] != as[k]) steps[k] = o.shape[k].is(1) ? ir::Dim(0) : ir::if_eq(o.shape[k], 1, 0, steps[k]);
  return steps;
}

Operand broadcast_operand(const ir::Shape& shape) {
  std::vector<int64_t> perm;
  for (size_t k = 0; k < shape.size(); ++k) perm.push_back(static_cast<int64_t>(k));
  return operand(shape, perm);
}

KernelText kernel_text(const Target& target, const std::vector<Arg>& args, std::string_view hint,
                       std::string_view call) {
  return {std::string(hint),
          fmt::format("typedef struct NAME_args {{\n{}}} NAME_args;\n"
                      "static void NAME(const void* args_, int64_t begin, int64_t end, int32_t thread) {{\n"
                      "  const NAME_args* const p = args_;\n  (void)thread;\n{}  {};\n}}\n",
                      fields_text(args), copy_text(args, "tv_attention", "a", "p"), call),
          {std::string(target.isa_header), "isa/row_attention.h"}};
}

// The fields of a tv_attention, and the sizes that the launches need.
struct Call {
  ir::Dim batches, rows, keys, depth, width, chunks;
  std::vector<Arg> args;
  bool rows_lie_together = false;  // of keys and of values
};

Call call_of(Lowering& lowering, ir::NodeId id) {
  const ir::Module& module = lowering.module();
  const ir::Node& node = module.node(id);
  auto shape = [&](size_t k) -> const ir::Shape& { return module.value(node.inputs[k]).type.shape; };
  const Operand q = operand(shape(0), node.ints("q_perm")), k = operand(shape(1), node.ints("k_perm")),
                v = operand(shape(2), node.ints("v_perm")),
                y = operand(module.value(node.outputs[0]).type.shape, inverse(node.ints("y_perm")));
  Call call{y.shape[0] * y.shape[1], q.shape[2], k.shape[2], q.shape[3], v.shape[3], 0, {}, false};
  // Enough tasks for a few threads, none longer than a thread's scratch.
  ir::Dim wanted = ir::max(ir::ceil_div(8, ir::max(call.batches, 1)), ir::ceil_div(call.rows, kRows));
  call.chunks = ir::max(ir::min(wanted, ir::max(ir::floor_div(call.rows, 12), ir::ceil_div(call.rows, kRows))), 1);
  call.rows_lie_together = k.steps[3].is(1) && v.steps[3].is(1);
  auto panels = [](const ir::Dim& columns) { return ir::ceil_div(columns, 16) * 16; };
  auto scratch = [&](const ir::Dim& floats, bool per_thread) {
    return "(float*)" + lowering.scratch(ir::max(floats, 16) * 4, per_thread);
  };
  auto field = [&](std::string type, std::string name, std::string value) {
    call.args.push_back({std::move(type), std::move(name), std::move(value)});
  };
  auto size = [&](std::string name, const ir::Dim& value) { field("int64_t", std::move(name), lowering.size(value)); };
  field("const float*", "q", lowering.in(node.inputs[0])), field("const float*", "k", lowering.in(node.inputs[1]));
  field("const float*", "v", lowering.in(node.inputs[2])), field("float*", "y", lowering.out(node.outputs[0]));
  field("float*", "key_panels", scratch(call.batches * panels(call.keys) * call.depth, false));
  field("float*", "value_panels", scratch(call.batches * panels(call.width) * call.keys, false));
  field("float*", "scratch", scratch((call.depth + kBlock + panels(call.width)) * kRows, true));
  size("outer", y.shape[0]), size("heads", y.shape[1]);
  size("rows", call.rows), size("keys", call.keys);
  size("depth", call.depth), size("width", call.width);
  size("chunks", call.chunks);
  field("int64_t[4]", "q_step", array_text(lowering, repeating(q, {y.shape[0], y.shape[1], q.shape[2], q.shape[3]})));
  field("int64_t[4]", "k_step", array_text(lowering, repeating(k, {y.shape[0], y.shape[1], k.shape[2], k.shape[3]})));
  field("int64_t[4]", "v_step", array_text(lowering, repeating(v, {y.shape[0], y.shape[1], v.shape[2], v.shape[3]})));
  field("int64_t[4]", "y_step", array_text(lowering, y.steps));
  const ir::Shape scores = {y.shape[0], y.shape[1], call.rows, call.keys};
  const char *const names[] = {"bias", "mask"}, *const types[] = {"const float*", "const uint8_t*"};
  for (size_t extra = 0; extra < 2; ++extra) {
    if (node.input(3 + extra) == ir::kNone) continue;
    field(types[extra], names[extra], lowering.in(node.inputs[3 + extra]));
    field("int64_t[4]", std::string(names[extra]) + "_step",
          array_text(lowering, repeating(broadcast_operand(shape(3 + extra)), scores)));
  }
  field("float", "scale", contraction::float_text(node.f("scale", 1))),
      field("float", "masked", contraction::float_text(node.f("masked", 0)));
  field("int", "zero_nan", node.i("zero_nan", 0) != 0 ? "1" : "0");
  return call;
}

Result<void> lower(Lowering& lowering, ir::NodeId id) {
  const Call call = call_of(lowering, id);
  auto text = [&](std::string_view hint, std::string_view body) {
    return kernel_text(lowering.target(), call.args, hint, body);
  };
  const ir::Dim tasks = call.batches * (ir::ceil_div(call.keys, 16) + ir::ceil_div(call.width, 16));
  const bool may_read_in_place = call.rows_lie_together && !(call.rows.is_constant() && call.rows.constant() > kFew);
  if (!may_read_in_place || !call.rows.is_constant()) {
    if (may_read_in_place) lowering.line(fmt::format("if ({} > {})", lowering.size(call.rows), kFew));
    lowering.launch(text("attention_panels", "tv_attention_pack(&a, begin, end)"), call.args, tasks,
                    call.batches * call.keys * (call.depth + call.width));
  }
  lowering.launch(text("attention", "tv_attention_run(&a, begin, end, thread)"), call.args, call.batches * call.chunks,
                  call.batches * call.rows * call.keys * (call.depth + call.width));
  return {};
}

}  // namespace

extern const Family kAttentionFamily;
const Family kAttentionFamily = {.name = "attention", .claims = claims, .lower = lower};

}  // namespace tvc::codegen
