// SPDX-License-Identifier: Apache-2.0
// One call of the convolution kernel (isa/conv.h): all that it is told, as plain data.
#pragma once

#include <array>

#include "codegen/contraction/tasks.h"

namespace tvc::codegen::contraction {

struct ConvCall {
  ir::ValueId x = ir::kNone;
  std::string x_text;                          // instead of x: a host expression
  std::string y_text;                          // instead of the node's output
  std::vector<float> weights;                  // [blocks of all groups][planes][kernel][pixel][16]
  std::vector<float> bias;                     // [blocks of all groups][16]
  int64_t groups = 1, planes = 0, blocks = 0;  // of one group
  int64_t pixel = kBlock;
  ir::Dim images;
  std::array<ir::Dim, 2> in, out, before;  // sizes, padding before
  std::array<int64_t, 2> kernel{1, 1}, stride{1, 1}, dilation{1, 1};
  bool padded = false;  // taps may lie outside of the input
  // Where outputs lie in the whole: at offset + step * index.
  std::array<ir::Dim, 2> y_size;
  std::array<int64_t, 2> y_step{1, 1}, y_offset{0, 0};
  int64_t y_channels = 0;  // not 0: the output is planar and has so many
  int64_t y_phases = 1;    // of a transposed convolution in one block of a planar output
};

Result<void> lower_conv_call(Lowering& lowering, ir::NodeId node, const ConvCall& call);

// Bias as whole blocks, zeros without one.
std::vector<float> padded_bias(const ir::Tensor* bias, int64_t channels);

// The epilogue as kernel text: a function NAME_epilogue over the fields e0, e1, ... of NAME_args, and these arguments.
struct EpilogueText {
  std::string fields, function;  // "" without one
  std::vector<Arg> args;
  bool clip = false, full = false;  // full: reads operands of the output's shape
  double low = 0, high = 0;
};
Result<EpilogueText> blocked_epilogue(Lowering& lowering, ir::NodeId node);

}  // namespace tvc::codegen::contraction
