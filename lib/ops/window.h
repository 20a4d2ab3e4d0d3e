// SPDX-License-Identifier: Apache-2.0
// Geometry of convolution and pooling windows over any number of spatial axes.
#pragma once

#include <vector>

#include "ops/op_def.h"

namespace tvc::ops {

struct Window {
  std::vector<int64_t> kernel, stride, dilation;
  Shape pad_begin, pad_end, out;
  size_t rank() const { return kernel.size(); }
  int64_t extent(size_t k) const { return (kernel[k] - 1) * dilation[k] + 1; }
};

// From kernel_shape (or `kernel`), strides, dilations, pads, auto_pad, ceil_mode, over input sizes `in`.
Result<Window> window_of(const NodeView& view, const Shape& in, std::vector<int64_t> kernel = {});
// Of ConvTranspose: out = stride * (in - 1) + output_padding + extent - pads, or output_shape.
Result<Window> transposed_window_of(const NodeView& view, const Shape& in, std::vector<int64_t> kernel);
// The spatial axes of an [N, C, ...] operand.
Shape spatial_shape(const Shape& shape);

// Position in the input of tap `tap` for output position `out` along axis k, without bounds.
te::Expr tap_position(const Window& w, size_t k, const te::Expr& out, const te::Expr& tap);
// Axes over the kernel's taps.
std::vector<te::Axis> tap_axes(const Window& w);

}  // namespace tvc::ops
