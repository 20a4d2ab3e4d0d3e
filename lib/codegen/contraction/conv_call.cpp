// SPDX-License-Identifier: Apache-2.0
#include "codegen/contraction/conv_call.h"
#include "codegen/arguments.h"

#include "codegen/epilogue.h"

namespace tvc::codegen::contraction {
namespace {

constexpr int64_t kInputBytes = 256 << 10;        // of a chunk: copied rows, or pixels read in place; they stay in L2
constexpr int64_t kTransformedFloats = 96 << 10;  // of a chunk in Winograd's domain; they stay in L2
constexpr int64_t kWinogradRun = 24;              // TV_WINOGRAD_RUN
constexpr int64_t kWinogradPixels = 64;           // fewer outputs do not repay the transformation of the weights

int64_t floor_of(int64_t bytes, int64_t each) { return std::max<int64_t>(bytes / std::max<int64_t>(each, 1), 1); }

ir::Dim pitch_of(const ConvCall& c) { return (c.out[1] - 1) * c.stride[1] + ((c.kernel[1] - 1) * c.dilation[1] + 1); }

int64_t window_rows(const ConvCall& c) { return (c.kernel[0] - 1) * c.dilation[0] + 1; }

// Output rows whose padded input fits kInputBytes; less than 1 if not even one does.
ir::Dim rows_that_fit(const ConvCall& c) {
  ir::Dim rows = ir::floor_div(kInputBytes, ir::max(pitch_of(c) * (c.planes * c.pixel * 4), 1));
  return ir::floor_div(rows - window_rows(c), c.stride[0]);
}

int64_t columns_that_fit(const ConvCall& c) {
  int64_t columns = floor_of(kInputBytes, window_rows(c) * c.planes * c.pixel * 4) - (c.kernel[1] - 1) * c.dilation[1];
  return std::max<int64_t>((columns - 1) / c.stride[1], 24);
}

// Runs of output pixels, and the floats of a thread's scratch that hold the padded input of any of them.
struct Runs {
  RowChunks rows;
  ir::Dim pieces, scratch;
};

Runs runs_over_rows(const ConvCall& c, int64_t parts, const ir::Dim& most) {
  RowChunks rows = split_rows(c.out[0] * c.out[1], parts, most);
  ir::Dim out_rows = ir::min(ir::ceil_div(rows.chunk - 1, ir::max(c.out[1], 1)) + 1, ir::max(c.out[0], 1));
  ir::Dim in_rows = (out_rows - 1) * c.stride[0] + window_rows(c);
  return {rows, 0, in_rows * pitch_of(c) * (c.planes * c.pixel)};
}

Runs runs_in_rows(const ConvCall& c, int64_t parts) {
  RowChunks columns = split_rows(c.out[1], parts, columns_that_fit(c));
  ir::Dim pitch = (columns.chunk - 1) * c.stride[1] + ((c.kernel[1] - 1) * c.dilation[1] + 1);
  return {{columns.chunk, columns.chunks * c.out[0]},
          columns.chunks,
          pitch * (window_rows(c) * c.planes * c.pixel)};
}

Runs runs_of(const ConvCall& c, int64_t parts) {
  if (!c.padded) {
    const int64_t most = std::max<int64_t>(floor_of(kInputBytes, c.planes * c.pixel * 4), 96);
    return {split_rows(c.out[0] * c.out[1], parts, most), 0, 0};
  }
  Runs within = runs_in_rows(c, parts);
  if (!c.out[0].is(1)) {
    ir::Dim fit = rows_that_fit(c), narrow = ir::max(ir::min(fit, 1), 0), wide = 1 - narrow;
    Runs over = runs_over_rows(c, parts, ir::max(fit * c.out[1], 24));
    auto choose = [&](const ir::Dim& a, const ir::Dim& b) { return narrow * a + wide * b; };
    within = {{choose(over.rows.chunk, within.rows.chunk), choose(over.rows.chunks, within.rows.chunks)},
              choose(over.pieces, within.pieces),
              choose(over.scratch, within.scratch)};
  }
  within.scratch = ir::max(ir::ceil_div(within.scratch, kBlock) * kBlock, kBlock);
  return within;
}

// One way to compute a call: which function of which header, over what weights, cut how.
struct Route {
  std::string_view hint, header, run;
  std::string w;
  ir::Dim scratch;  // floats of one thread
  std::string scratch_text;
  RowChunks rows;
  ir::Dim pieces = 0;  // see isa/conv.h
};

// Fields of tv_conv beside its pointers and bounds, with their host expressions.
std::vector<Arg> size_args(Lowering& lowering, const ConvCall& c, int64_t parts, const Route& route) {
  std::vector<Arg> args;
  auto add = [&](const char* field, const ir::Dim& value) { args.push_back({"int64_t", field, lowering.size(value)}); };
  add("scratch_floats", route.scratch);
  add("groups", c.groups), add("planes", c.planes), add("blocks", c.blocks), add("parts", parts);
  add("pixel", c.pixel), add("height", c.in[0]), add("width", c.in[1]);
  add("out_height", c.out[0]), add("out_width", c.out[1]);
  add("kernel_h", c.kernel[0]), add("kernel_w", c.kernel[1]);
  add("stride_h", c.stride[0]), add("stride_w", c.stride[1]);
  add("dilation_h", c.dilation[0]), add("dilation_w", c.dilation[1]);
  add("top", c.before[0]), add("left", c.before[1]);
  add("chunks", route.rows.chunks), add("chunk", route.rows.chunk), add("pieces", route.pieces);
  add("y_height", c.y_size[0]), add("y_width", c.y_size[1]);
  add("y_step_h", c.y_step[0]), add("y_step_w", c.y_step[1]);
  add("y_top", c.y_offset[0]), add("y_left", c.y_offset[1]);
  add("y_channels", c.y_channels), add("y_phases", c.y_phases);
  return args;
}

std::string conv_text(const std::vector<Arg>& args, const EpilogueText& epilogue, const Route& route) {
  return fmt::format(
      "typedef struct NAME_args {{\n{}{}}} NAME_args;\n"
      "{}static void NAME(const void* args_, int64_t begin, int64_t end, int32_t thread) {{\n"
      "  const NAME_args* const a = args_;\n{}  {}(&c, args_, {}, begin, end, thread);\n}}\n",
      fields_text(args), epilogue.fields, epilogue.function, copy_text(args, "const tv_conv", "c", "a"), route.run,
      epilogue.function.empty() ? "NULL" : "NAME_epilogue");
}

void launch(Lowering& lowering, ir::NodeId id, const ConvCall& c, const EpilogueText& epilogue, const Route& route) {
  const ir::Node& node = lowering.module().node(id);
  const int64_t parts = column_parts(c.blocks, lowering.target());
  std::vector<Arg> args = {{"const float*", "x", lowering.in(c.x)},
                           {"const float*", "w", route.w},
                           {"const float*", "bias", fmt::format("(const float*){}", lowering.weight(bytes_of(c.bias)))},
                           {"float*", "y", lowering.out(node.outputs[0])},
                           {"float*", "scratch", route.scratch_text}};
  for (Arg& arg : size_args(lowering, c, parts, route)) args.push_back(std::move(arg));
  args.push_back({"float", "low", float_text(epilogue.low)});
  args.push_back({"float", "high", float_text(epilogue.high)});
  args.push_back({"int", "clip", epilogue.clip ? "1" : "0"});
  args.push_back({"int", "full", epilogue.full ? "1" : "0"});
  KernelText text{std::string(route.hint),
                  conv_text(args, epilogue, route),
                  {std::string(lowering.target().isa_header), std::string(route.header)}};
  if (!epilogue.function.empty()) text.includes.insert(text.includes.begin() + 1, "isa/math.h");
  for (const Arg& arg : epilogue.args) args.push_back(arg);
  ir::Dim work =
      c.images * c.out[0] * c.out[1] * (c.planes * c.pixel * c.kernel[0] * c.kernel[1] * c.blocks * c.groups);
  lowering.launch(text, args, c.images * route.rows.chunks * (c.groups * parts), work);
}

Route direct_route(Lowering& lowering, const ConvCall& c, const std::string& w) {
  Runs runs = runs_of(c, column_parts(c.blocks, lowering.target()) * c.groups);
  return {"conv", "isa/conv.h", "tv_conv_run", w, runs.scratch, "NULL", runs.rows, runs.pieces};
}

// Its w are the transformed weights, which transform_weights makes.
Route winograd_route(Lowering& lowering, const ConvCall& c) {
  const int64_t blocks = c.groups * c.blocks, depth = c.planes * kBlock;
  std::string u = "(const float*)" + lowering.scratch(blocks * depth * kBlock * 16 * 4);
  const int64_t parts = column_parts(c.blocks, lowering.target());
  ir::Dim tiles = ir::ceil_div(c.out[0], 2) * ir::ceil_div(c.out[1], 2);
  RowChunks rows =
      split_rows(tiles, parts * c.groups, std::max<int64_t>(kTransformedFloats / (16 * depth), kWinogradRun));
  ir::Dim scratch = rows.chunk * (16 * depth) + 16 * kWinogradRun * 4 * kBlock;
  return {"winograd", "isa/winograd.h", "tv_winograd_run", u, scratch, "NULL", rows};
}

// In each run: kept in the artifact, they would take 16/9 of the weights' place.
void transform_weights(Lowering& lowering, const ConvCall& c, const std::string& w, const std::string& u) {
  const int64_t blocks = c.groups * c.blocks, depth = c.planes * kBlock;
  KernelText text{
      "winograd_weights",
      "typedef struct NAME_args {\n  const float* w;\n  float* u;\n  int64_t planes, blocks;\n} NAME_args;\n"
      "static void NAME(const void* args_, int64_t begin, int64_t end, int32_t thread) {\n"
      "  const NAME_args* const a = args_;\n  const int64_t block = a->planes * 256;\n  (void)thread;\n"
      "  for (int64_t task = begin; task < end; ++task)\n"
      "    tv_winograd_weights(a->w + task * 9 * block, a->u + task * block, a->planes, a->blocks * block);\n}\n",
      {std::string(lowering.target().isa_header), "isa/winograd.h"}};
  std::vector<Arg> args = {{"", "w", w},
                           {"", "u", "(float*)" + u},
                           {"", "planes", lowering.size(c.planes)},
                           {"", "blocks", lowering.size(blocks)}};
  lowering.launch(text, args, blocks, blocks * depth * kBlock * 16);
}

bool suits_winograd(const ConvCall& c) {
  for (size_t k = 0; k < 2; ++k)
    if (c.kernel[k] != 3 || c.stride[k] != 1 || c.dilation[k] != 1 || c.y_step[k] != 1) return false;
  return c.pixel == kBlock && c.y_channels == 0;
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
        out.full = true;
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
  TVC_TRY(EpilogueText epilogue, blocked_epilogue(lowering, id));
  const std::string w = fmt::format("(const float*){}", lowering.weight(bytes_of(c.weights)));
  const ir::Dim pixels = c.out[0] * c.out[1];
  const auto count = pixels.as_constant();
  Route direct = direct_route(lowering, c, w);
  const bool winograd = suits_winograd(c) && (!count || *count >= kWinogradPixels);
  const bool both = winograd && !count;  // the run decides
  Route fast = winograd ? winograd_route(lowering, c) : direct;
  ir::Dim scratch = both ? ir::max(direct.scratch, fast.scratch) : fast.scratch;
  if (!scratch.is(0)) fast.scratch_text = direct.scratch_text = "(float*)" + lowering.scratch(scratch * 4, true);
  if (both) {
    fast.scratch = scratch;
    if (!direct.scratch.is(0)) direct.scratch = scratch;  // a thread's step: 0 says that nothing is copied
    lowering.line(fmt::format("if ({} >= {}) {{", lowering.size(pixels), kWinogradPixels));
  }
  if (winograd) transform_weights(lowering, c, w, fast.w);
  launch(lowering, id, c, epilogue, fast);
  if (both) {
    lowering.line("} else {");
    launch(lowering, id, c, epilogue, direct);
    lowering.line("}");
  }
  return {};
}

}  // namespace tvc::codegen::contraction
