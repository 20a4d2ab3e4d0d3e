// SPDX-License-Identifier: Apache-2.0
#include "codegen/contraction/conv_call.h"

#include "codegen/epilogue.h"

namespace tvc::codegen::contraction {
namespace {

constexpr int64_t kInputBytes = 256 << 10;  // of a chunk: copied rows, or pixels read in place; they stay in L2

int64_t floor_of(int64_t bytes, int64_t each) { return std::max<int64_t>(bytes / std::max<int64_t>(each, 1), 1); }

ir::Dim pitch_of(const ConvCall& c) { return (c.out[1] - 1) * c.stride[1] + ((c.kernel[1] - 1) * c.dilation[1] + 1); }

// Pixels of a chunk whose input fits kInputBytes.
ir::Dim most_pixels(const ConvCall& c) {
  const int64_t pixel_bytes = c.planes * c.pixel * 4;
  if (!c.padded) return std::max<int64_t>(floor_of(kInputBytes, pixel_bytes), 96);
  ir::Dim rows = ir::floor_div(kInputBytes, ir::max(pitch_of(c) * pixel_bytes, 1));
  ir::Dim out_rows = ir::floor_div(rows - ((c.kernel[0] - 1) * c.dilation[0] + 1), c.stride[0]);
  return ir::max(out_rows * c.out[1], 24);
}

// Floats that hold the padded input rows of any chunk.
ir::Dim scratch_floats(const ConvCall& c, const ir::Dim& chunk) {
  ir::Dim out_rows = ir::min(ir::ceil_div(chunk - 1, ir::max(c.out[1], 1)) + 1, ir::max(c.out[0], 1));
  ir::Dim rows = (out_rows - 1) * c.stride[0] + ((c.kernel[0] - 1) * c.dilation[0] + 1);
  return ir::max(ir::ceil_div(rows * pitch_of(c) * (c.planes * c.pixel), kBlock) * kBlock, kBlock);
}

// Fields of tv_conv beside its pointers and bounds, with their host expressions.
std::vector<Arg> size_args(Lowering& lowering, const ConvCall& c, int64_t parts, const RowChunks& rows,
                           const ir::Dim& scratch) {
  std::vector<Arg> args;
  auto add = [&](const char* field, const ir::Dim& value) { args.push_back({"int64_t", field, lowering.size(value)}); };
  add("scratch_floats", scratch);
  add("groups", c.groups), add("planes", c.planes), add("blocks", c.blocks), add("parts", parts);
  add("pixel", c.pixel), add("height", c.in[0]), add("width", c.in[1]);
  add("out_height", c.out[0]), add("out_width", c.out[1]);
  add("kernel_h", c.kernel[0]), add("kernel_w", c.kernel[1]);
  add("stride_h", c.stride[0]), add("stride_w", c.stride[1]);
  add("dilation_h", c.dilation[0]), add("dilation_w", c.dilation[1]);
  add("top", c.before[0]), add("left", c.before[1]);
  add("chunks", rows.chunks), add("chunk", rows.chunk);
  add("y_height", c.y_size[0]), add("y_width", c.y_size[1]);
  add("y_step_h", c.y_step[0]), add("y_step_w", c.y_step[1]);
  add("y_top", c.y_offset[0]), add("y_left", c.y_offset[1]);
  return args;
}

std::string conv_text(const std::vector<Arg>& args, const EpilogueText& epilogue) {
  std::string fields, fill;
  for (const Arg& arg : args) {
    fields += fmt::format("  {} {};\n", arg.type, arg.field);
    fill += fmt::format("    .{0} = a->{0},\n", arg.field);
  }
  return fmt::format(
      "typedef struct NAME_args {{\n{}{}}} NAME_args;\n"
      "{}static void NAME(const void* args_, int64_t begin, int64_t end, int32_t thread) {{\n"
      "  const NAME_args* const a = args_;\n"
      "  const tv_conv c = {{\n{}  }};\n"
      "  tv_conv_run(&c, args_, {}, begin, end, thread);\n}}\n",
      fields, epilogue.fields, epilogue.function, fill, epilogue.function.empty() ? "NULL" : "NAME_epilogue");
}

}  // namespace

std::vector<float> padded_bias(const ir::Tensor* bias, int64_t channels) {
  std::vector<float> out(static_cast<size_t>((channels + kBlock - 1) / kBlock * kBlock));
  if (bias != nullptr)
    std::copy_n(bias->as<float>().begin(), std::min(bias->as<float>().size(), out.size()), out.begin());
  return out;
}

Result<EpilogueText> blocked_epilogue(Lowering& lowering, ir::NodeId node) {
  EpilogueText out;
  TVC_TRY(te::Expr body, epilogue_body(lowering.module(), node));
  if (!body) return out;
  if (auto bounds = bounds_of(body)) {
    out.clip = true;
    out.low = bounds->low, out.high = bounds->high;
    return out;
  }
  TVC_TRY(Epilogue epilogue, epilogue_of(lowering.module(), node, lowering.target()));
  std::string outside, inside;
  for (size_t k = 0; k < epilogue.kinds.size(); ++k) {
    out.fields += fmt::format("  const float* e{};\n", k);
    out.args.push_back({"const float*", fmt::format("e{}", k), lowering.in(epilogue.values[k])});
    switch (epilogue.kinds[k]) {
      case EpilogueOperand::kFull:
        inside += fmt::format("      const tv_f32 e{0} = tv_load(a->e{0} + at + p);\n", k);
        break;
      case EpilogueOperand::kPerChannel:
        outside += fmt::format("    const tv_f32 e{0} = tv_load(a->e{0} + block * 16 + v);\n", k);
        break;
      case EpilogueOperand::kScalar:
        outside += fmt::format("    const tv_f32 e{0} = tv_broadcast(a->e{0});\n", k);
        break;
    }
  }
  out.function = fmt::format(
      "static void NAME_epilogue(const void* args_, float* y, int64_t at, int64_t block, int64_t count) {{\n"
      "  const NAME_args* const a = args_;\n  (void)a, (void)at, (void)block;\n"
      "  for (int64_t v = 0; v < 16; v += TV_LANES) {{\n{}"
      "    for (int64_t p = v; p < count * 16; p += 16) {{\n{}"
      "      tv_f32 acc = tv_load(y + p);\n      {}\n      tv_store(y + p, acc);\n    }}\n  }}\n}}\n\n",
      outside, inside, epilogue.code);
  return out;
}

Result<void> lower_conv_call(Lowering& lowering, ir::NodeId id, const ConvCall& c) {
  const ir::Node& node = lowering.module().node(id);
  TVC_TRY(EpilogueText epilogue, blocked_epilogue(lowering, id));
  const int64_t parts = column_parts(c.blocks, lowering.target());
  ir::Dim pixels = c.out[0] * c.out[1];
  RowChunks rows = split_rows(pixels, parts * c.groups, most_pixels(c));
  ir::Dim scratch = c.padded ? scratch_floats(c, rows.chunk) : ir::Dim(0);
  std::vector<Arg> args = {
      {"const float*", "x", c.x_text.empty() ? lowering.in(c.x) : c.x_text},
      {"const float*", "w", fmt::format("(const float*){}", lowering.weight(bytes_of(c.weights)))},
      {"const float*", "bias", fmt::format("(const float*){}", lowering.weight(bytes_of(c.bias)))},
      {"float*", "y", c.y_text.empty() ? lowering.out(node.outputs[0]) : c.y_text},
      {"float*", "scratch", c.padded ? fmt::format("(float*){}", lowering.scratch(scratch * 4, true)) : "NULL"}};
  for (Arg& arg : size_args(lowering, c, parts, rows, scratch)) args.push_back(std::move(arg));
  args.push_back({"float", "low", float_text(epilogue.low)});
  args.push_back({"float", "high", float_text(epilogue.high)});
  args.push_back({"int", "clip", epilogue.clip ? "1" : "0"});
  KernelText text{"conv", conv_text(args, epilogue), {std::string(lowering.target().isa_header), "isa/conv.h"}};
  if (!epilogue.function.empty()) text.includes.insert(text.includes.begin() + 1, "isa/math.h");
  for (const Arg& arg : epilogue.args) args.push_back(arg);
  ir::Dim work = c.images * pixels * (c.planes * c.pixel * c.kernel[0] * c.kernel[1] * c.blocks * c.groups);
  lowering.launch(text, args, c.images * rows.chunks * (c.groups * parts), work);
  return {};
}

}  // namespace tvc::codegen::contraction
