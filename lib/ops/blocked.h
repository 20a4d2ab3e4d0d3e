// SPDX-License-Identifier: Apache-2.0
// The blocked layout of activations: [N, C, H, W] as [N, ceil(C / 16), H, W, 16]. Places of the last block without a
// channel hold finite numbers that mean nothing.
#pragma once

#include "ops/window.h"

namespace tvc::ops {

inline constexpr int64_t kChannelBlock = 16;

// Height and width of a blocked tensor, or of a planar one of rank 4.
inline Shape blocked_spatial_shape(const Shape& shape) { return {shape[2], shape[3]}; }
// The window of a node over its operand 0; two spatial axes, or bad_input.
Result<Window> blocked_window(const NodeView& view);
// The same for a transposed convolution, whose kernel sizes are those of operand 1.
Result<Window> blocked_transposed_window(const NodeView& view);

}  // namespace tvc::ops
