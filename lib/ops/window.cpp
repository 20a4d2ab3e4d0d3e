// SPDX-License-Identifier: Apache-2.0
#include "ops/window.h"

namespace tvc::ops {
namespace {

Result<std::vector<int64_t>> list_of(const NodeView& v, std::string_view key, size_t count, int64_t otherwise,
                                     int64_t low) {
  auto values = v.ints(key);
  if (values.empty()) values.assign(count, otherwise);
  if (values.size() != count) return bad_input("{} has {} numbers instead of {}", key, values.size(), count);
  for (int64_t x : values)
    if (x < low) return bad_input("{} holds {}, less than {}", key, x, low);
  return values;
}

Result<Window> sizes_of(const NodeView& v, size_t rank, std::vector<int64_t> kernel) {
  Window w;
  if (v.node().has("kernel_shape")) kernel = v.ints("kernel_shape");
  if (kernel.size() != rank) return bad_input("the kernel has {} axes, the input {}", kernel.size(), rank);
  for (int64_t k : kernel)
    if (k < 1) return bad_input("kernel_shape holds {}", k);
  w.kernel = std::move(kernel);
  TVC_TRY(w.stride, list_of(v, "strides", rank, 1, 1));
  TVC_TRY(w.dilation, list_of(v, "dilations", rank, 1, 1));
  TVC_TRY(auto pads, list_of(v, "pads", 2 * rank, 0, INT32_MIN));
  for (size_t k = 0; k < rank; ++k) {
    w.pad_begin.emplace_back(pads[k]);
    w.pad_end.emplace_back(pads[k + rank]);
  }
  return w;
}

// An odd number goes behind for SAME_UPPER, before otherwise.
void split_padding(Window& w, size_t k, const Dim& total, bool upper) {
  Dim less = ir::floor_div(total, 2);
  w.pad_begin[k] = upper ? less : total - less;
  w.pad_end[k] = total - w.pad_begin[k];
}

Result<std::string> auto_pad_of(const NodeView& v) {
  std::string mode = v.s("auto_pad", "NOTSET");
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER")
    return bad_input("auto_pad {} is not known", mode);
  return mode;
}

}  // namespace

Shape spatial_shape(const Shape& shape) {
  return {shape.begin() + std::min<ptrdiff_t>(2, static_cast<ptrdiff_t>(shape.size())), shape.end()};
}

Result<Window> window_of(const NodeView& v, const Shape& in, std::vector<int64_t> kernel) {
  TVC_TRY(Window w, sizes_of(v, in.size(), std::move(kernel)));
  TVC_TRY(std::string mode, auto_pad_of(v));
  const bool ceil_mode = v.i("ceil_mode", 0) != 0;
  for (size_t k = 0; k < in.size(); ++k) {
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      w.out.push_back(ir::ceil_div(in[k], w.stride[k]));
      split_padding(w, k, ir::max((w.out[k] - 1) * w.stride[k] + w.extent(k) - in[k], 0), mode == "SAME_UPPER");
      continue;
    }
    if (mode == "VALID") w.pad_begin[k] = w.pad_end[k] = 0;
    Dim room = in[k] + w.pad_begin[k] + w.pad_end[k] - w.extent(k);
    if (ceil_mode) {  // a last window must start inside the input or the padding before it
      Dim last = ir::ceil_div(room, w.stride[k]);
      w.out.push_back(ir::if_lt(last * w.stride[k], in[k] + w.pad_begin[k], last + 1, last));
    } else {
      w.out.push_back(ir::floor_div(room, w.stride[k]) + 1);
    }
    if (auto n = w.out[k].as_constant(); n && *n < 0) return bad_input("the window is larger than its input");
  }
  return w;
}

Result<Window> transposed_window_of(const NodeView& v, const Shape& in, std::vector<int64_t> kernel) {
  TVC_TRY(Window w, sizes_of(v, in.size(), std::move(kernel)));
  TVC_TRY(auto output_padding, list_of(v, "output_padding", in.size(), 0, 0));
  TVC_TRY(std::string mode, auto_pad_of(v));
  const auto wanted = v.ints("output_shape");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!wanted.empty() && wanted.size() < in.size()) return bad_input("output_shape has {} numbers", wanted.size());
  for (size_t k = 0; k < in.size(); ++k) {
    Dim full = (in[k] - 1) * w.stride[k] + output_padding[k] + w.extent(k);
    if (wanted.empty() && !same) {
      if (mode == "VALID") w.pad_begin[k] = w.pad_end[k] = 0;
      w.out.push_back(full - w.pad_begin[k] - w.pad_end[k]);
      continue;
    }
    w.out.push_back(wanted.empty() ? in[k] * w.stride[k] : Dim(wanted[wanted.size() - in.size() + k]));
    split_padding(w, k, ir::max(full - w.out[k], 0), mode == "SAME_UPPER");
  }
  return w;
}

te::Expr tap_position(const Window& w, size_t k, const te::Expr& out, const te::Expr& tap) {
  return out * te::index(w.stride[k]) + tap * te::index(w.dilation[k]) - te::dim(w.pad_begin[k]);
}

std::vector<te::Axis> tap_axes(const Window& w) {
  std::vector<te::Axis> axes;
  for (int64_t k : w.kernel) axes.push_back({te::fresh_var(), k});
  return axes;
}

}  // namespace tvc::ops
