// SPDX-License-Identifier: Apache-2.0
#include "codegen/contraction/gemm.h"

#include "codegen/arguments.h"
#include "codegen/contraction/conv.h"
#include "codegen/contraction/product.h"
#include "codegen/contraction/tasks.h"
#include "codegen/epilogue.h"

namespace tvc::codegen::contraction {
namespace {

constexpr int64_t kRowBytes = 256 << 10;  // of a chunk of A; it stays in L2
constexpr size_t kMaxBatch = 6;

// C as one vector for all rows; nullopt: it is something else.
std::optional<std::vector<float>> row_bias(const ir::Module& module, const ir::Node& node, const Product& p) {
  if (node.input(2) == ir::kNone || node.op != "Gemm") return std::vector<float>();
  const ir::Tensor* c = module.constant(node.inputs[2]);
  auto columns = p.columns.as_constant();
  if (c == nullptr || c->dtype != ir::DType::kF32 || !columns) return std::nullopt;
  const bool one_row = c->dims.empty() || c->dims.size() == 1 || c->dims[0] == 1;
  if (!one_row || (c->count() != 1 && c->count() != *columns)) return std::nullopt;
  std::vector<float> out(static_cast<size_t>((*columns + kBlock - 1) / kBlock * kBlock));
  auto from = c->as<float>();
  for (size_t n = 0; n < static_cast<size_t>(*columns); ++n)
    out[n] = static_cast<float>(p.beta) * from[c->count() == 1 ? 0 : n];
  return out;
}

struct RowEpilogue {
  std::string fields, function;
  std::vector<Arg> args;
  std::optional<Bounds> bounds;
};

std::string epilogue_loop(const Epilogue& epilogue, std::string_view load, std::string_view store,
                          std::string_view tail) {
  std::string outside, inside;
  for (size_t k = 0; k < epilogue.kinds.size(); ++k) switch (epilogue.kinds[k]) {
      case EpilogueOperand::kFull:
        inside += fmt::format("        const tv_f32 e{0} = {1}(a->e{0} + at + r * step + v{2});\n", k, load, tail);
        break;
      case EpilogueOperand::kPerChannel:
        outside += fmt::format("      const tv_f32 e{0} = {1}(a->e{0} + column + v{2});\n", k, load, tail);
        break;
      case EpilogueOperand::kScalar:
        outside += fmt::format("      const tv_f32 e{0} = tv_broadcast(a->e{0});\n", k);
        break;
    }
  return fmt::format(
      "{}      for (int64_t r = 0; r < rows; ++r) {{\n{}        tv_f32 acc = {}(y + r * step + v{});\n        {}\n"
      "        {}(y + r * step + v{}, acc);\n      }}\n",
      outside, inside, load, tail, epilogue.code, store, tail);
}

Result<RowEpilogue> row_epilogue(Lowering& lowering, ir::NodeId node) {
  RowEpilogue out;
  TVC_TRY(te::Expr body, epilogue_body(lowering.module(), node));
  if (!body) return out;
  out.bounds = bounds_of(body);
  if (out.bounds) return out;
  TVC_TRY(Epilogue epilogue, epilogue_of(lowering.module(), node, lowering.target()));
  for (size_t k = 0; k < epilogue.kinds.size(); ++k) {
    out.fields += fmt::format("  const float* e{};\n", k);
    out.args.push_back({"const float*", fmt::format("e{}", k), lowering.in(epilogue.values[k])});
  }
  out.function = fmt::format(
      "static void NAME_epilogue(const void* args_, float* y, int64_t at, int64_t column, int64_t columns, int64_t "
      "rows,\n"
      "                          int64_t step) {{\n"
      "  const NAME_args* const a = args_;\n  (void)a, (void)at, (void)column;\n"
      "  for (int64_t v = 0; v < columns; v += TV_LANES) {{\n"
      "    if (columns - v >= TV_LANES) {{\n{}    }} else {{\n{}    }}\n  }}\n}}\n\n",
      epilogue_loop(epilogue, "tv_load", "tv_store", ""),
      epilogue_loop(epilogue, "tv_load_n", "tv_store_n", ", columns - v"));
  return out;
}

// As many sizes as a tv_gemm has.
ir::Shape padded(const ir::Shape& values, const ir::Dim& otherwise) {
  ir::Shape out(kMaxBatch - values.size(), otherwise);
  out.insert(out.end(), values.begin(), values.end());
  return out;
}

std::string gemm_text(const std::vector<Arg>& args, const RowEpilogue& epilogue) {
  return fmt::format(
      "typedef struct NAME_args {{\n{}{}}} NAME_args;\n"
      "{}static void NAME(const void* args_, int64_t begin, int64_t end, int32_t thread) {{\n"
      "  const NAME_args* const a = args_;\n{}  tv_gemm_run(&g, args_, {}, begin, end, thread);\n}}\n",
      fields_text(args), epilogue.fields, epilogue.function, copy_text(args, "tv_gemm", "g", "a"),
      epilogue.function.empty() ? "NULL" : "NAME_epilogue");
}

// B as panels in scratch memory, made before the product; the host expression of the first.
std::string pack_at_run_time(Lowering& lowering, ir::NodeId node, const Product& p) {
  ir::Dim batches = ir::product(p.batch_b), blocks = ir::ceil_div(p.columns, kBlock);
  std::string panels = "(float*)" + lowering.scratch(ir::max(batches * blocks * p.depth * (kBlock * 4), 64));
  KernelText text{
      "pack_panels",
      "typedef struct NAME_args {\n  const float* b;\n  float* w;\n  int64_t depth, columns, step, column_step;\n} "
      "NAME_args;\n"
      "static void NAME(const void* args_, int64_t begin, int64_t end, int32_t thread) {\n"
      "  const NAME_args* const a = args_;\n  const int64_t blocks = (a->columns + 15) / 16;\n  (void)thread;\n"
      "  for (int64_t task = begin; task < end; ++task) {\n"
      "    const int64_t batch = task / blocks, block = task % blocks;\n"
      "    tv_gemm_pack(a->b + batch * a->depth * a->columns + block * 16 * a->column_step, a->depth,\n"
      "                 a->columns - block * 16, a->step, a->column_step, a->w + task * a->depth * 16);\n"
      "  }\n}\n",
      {std::string(lowering.target().isa_header), "isa/gemm.h"}};
  std::vector<Arg> args = {{"const float*", "b", lowering.in(lowering.module().node(node).inputs[1])},
                           {"float*", "w", panels},
                           {"int64_t", "depth", lowering.size(p.depth)},
                           {"int64_t", "columns", lowering.size(p.columns)},
                           {"int64_t", "step", lowering.size(p.transposed_b ? ir::Dim(1) : p.columns)},
                           {"int64_t", "column_step", lowering.size(p.transposed_b ? p.depth : ir::Dim(1))}};
  lowering.launch(text, args, batches * blocks, batches * p.depth * p.columns);
  return panels;
}

}  // namespace

bool claims_gemm(const ir::Module& module, ir::NodeId id, const Target& target) {
  const ir::Node& node = module.node(id);
  if ((node.op != "MatMul" && node.op != "Gemm") || target.isa_header.empty()) return false;
  for (size_t k = 0; k < 2; ++k)
    if (module.value(node.inputs[k]).type.dtype != ir::DType::kF32) return false;
  Product p = product_of(module, id);
  const ir::Tensor* b = module.constant(node.inputs[1]);
  if (p.batch.size() > kMaxBatch || (b == nullptr && p.alpha != 1)) return false;
  return row_bias(module, node, p).has_value() && has_vector_epilogue(module, id, target);
}

Result<void> lower_gemm(Lowering& lowering, ir::NodeId id) {
  const ir::Module& module = lowering.module();
  const ir::Node& node = module.node(id);
  Product p = product_of(module, id);
  TVC_TRY(RowEpilogue epilogue, row_epilogue(lowering, id));
  const ir::Tensor* b = module.constant(node.inputs[1]);
  std::string w = b != nullptr ? fmt::format("(const float*){}", lowering.weight(bytes_of(packed_panels(*b, p))))
                               : pack_at_run_time(lowering, id, p);
  std::vector<float> bias = *row_bias(module, node, p);
  const bool has_bias = !bias.empty();
  if (!has_bias) bias.resize(kBlock);
  ir::Dim blocks = ir::ceil_div(p.columns, kBlock);
  const int64_t most_blocks = column_parts(64, lowering.target()) == 64 ? 1 : 64 / column_parts(64, lowering.target());
  ir::Dim parts = ir::ceil_div(blocks, most_blocks);
  auto depth = p.depth.as_constant();
  const int64_t most = depth ? std::max<int64_t>(kRowBytes / std::max<int64_t>(*depth * 4, 1), 48) : 96;
  RowChunks rows = split_rows(p.rows, std::max<int64_t>(parts.as_constant().value_or(4), 1), most);
  ir::Dim scratch = p.transposed_a ? ir::max(ir::ceil_div(rows.chunk * p.depth, kBlock) * kBlock, kBlock) : ir::Dim(0);
  std::vector<Arg> args = {
      {"const float*", "a", lowering.in(node.inputs[0])},
      {"const float*", "w", w},
      {"const float*", "bias", fmt::format("(const float*){}", lowering.weight(bytes_of(bias)))},
      {"float*", "y", lowering.out(node.outputs[0])},
      {"float*", "scratch", p.transposed_a ? "(float*)" + lowering.scratch(scratch * 4, true) : "NULL"}};
  auto add = [&](const char* field, const ir::Dim& value) { args.push_back({"int64_t", field, lowering.size(value)}); };
  add("scratch_floats", scratch);
  add("rows", p.rows), add("depth", p.depth), add("columns", p.columns);
  add("parts", parts), add("chunks", rows.chunks), add("chunk", rows.chunk);
  add("a_row", p.transposed_a ? ir::Dim(1) : p.depth), add("a_step", p.transposed_a ? p.rows : ir::Dim(1));
  add("bias_block", has_bias ? kBlock : 0);
  args.push_back({"float", "low", float_text(epilogue.bounds ? epilogue.bounds->low : 0)});
  args.push_back({"float", "high", float_text(epilogue.bounds ? epilogue.bounds->high : 0)});
  args.push_back({"int", "clip", epilogue.bounds ? "1" : "0"});
  auto add_batch = [&](const char* field, const ir::Shape& values, int otherwise) {
    args.push_back({"int64_t[6]", field, array_text(lowering, padded(values, otherwise))});
  };
  add_batch("batch", p.batch, 1);
  add_batch("batch_a", batch_steps(p.batch_a, p.rows * p.depth), 0);
  add_batch("batch_w", batch_steps(p.batch_b, blocks * p.depth * kBlock), 0);
  KernelText text{"gemm", gemm_text(args, epilogue), {std::string(lowering.target().isa_header), "isa/gemm.h"}};
  if (!epilogue.function.empty()) text.includes.insert(text.includes.begin() + 1, "isa/math.h");
  for (const Arg& arg : epilogue.args) args.push_back(arg);
  ir::Dim batches = ir::product(p.batch);
  lowering.launch(text, args, batches * rows.chunks * parts, batches * p.rows * p.depth * p.columns);
  return {};
}

}  // namespace tvc::codegen::contraction
