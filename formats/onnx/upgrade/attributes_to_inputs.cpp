// SPDX-License-Identifier: Apache-2.0
// Operators that once took as an attribute what is an input now.
#include "formats/onnx/upgrade/upgrade.h"

namespace tvc::onnx_format {

Result<void> axes_to_input(Upgrade& u) {
  u.ints_to_input("axes", 1);
  return {};
}

Result<void> shape_to_input(Upgrade& u) {
  u.ints_to_input("shape", 1);
  return {};
}

Result<void> limits_to_input(Upgrade& u) {
  u.float_to_input("min", 1);
  u.float_to_input("max", 2);
  return {};
}

Result<void> slice_to_input(Upgrade& u) {
  u.ints_to_input("starts", 1);
  u.ints_to_input("ends", 2);
  u.ints_to_input("axes", 3);
  return {};
}

Result<void> rename_paddings(Upgrade& u) {
  for (auto& attribute : *u.node.mutable_attribute())
    if (attribute.name() == "paddings") attribute.set_name("pads");
  return {};
}

Result<void> pads_to_input(Upgrade& u) {
  u.ints_to_input("pads", 1);
  u.float_to_input("value", 2);
  return {};
}

Result<void> refuse_split_input(Upgrade& u) {
  if (!u.input(1).empty()) return unsupported("its sizes are an input in opset {}", u.context.opset);
  return {};
}

Result<void> split_to_input(Upgrade& u) {
  u.ints_to_input("split", 1);
  return {};
}

Result<void> count_outputs(Upgrade& u) {
  if (u.input(1).empty()) u.set("num_outputs", int64_t{u.node.output_size()});
  return {};
}

Result<void> k_to_input(Upgrade& u) {
  u.set_input(1, u.ints({u.i("k", 0)}));
  u.remove("k");
  return {};
}

Result<void> dft_axis_to_input(Upgrade& u) {
  u.set_input(2, u.integer(u.i("axis", 1)));
  u.remove("axis");
  return {};
}

// The ratio matters in training only, and an opset below 12 has no training here. Below 10 the mask has x's type.
Result<void> upgrade_dropout(Upgrade& u) {
  u.remove("ratio");
  u.remove("is_test");
  if (u.context.opset >= 10 || !u.wants_output(1)) return {};
  const std::string mask = u.node.output(1), kept = u.fresh("mask");
  u.node.set_output(1, kept);
  u.append(u.after, "CastLike", {kept, u.input(0)}, mask);
  return {};
}

}  // namespace tvc::onnx_format
