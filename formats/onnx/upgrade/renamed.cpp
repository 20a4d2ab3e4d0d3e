// SPDX-License-Identifier: Apache-2.0
// Operators, attributes and their values that have other names or defaults now.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "formats/onnx/upgrade/upgrade.h"

namespace tvc::onnx_format {

Result<void> rename_scatter(Upgrade& u) {
  u.node.set_op_type("ScatterElements");
  return {};
}

Result<void> rename_sampling_modes(Upgrade& u) {
  const std::string mode = u.s("mode", "bilinear");
  if (mode == "bilinear") u.set("mode", std::string("linear"));
  if (mode == "bicubic") u.set("mode", std::string("cubic"));
  return {};
}

// The default became half_pixel.
Result<void> keep_half_pixel_outputs(Upgrade& u) {
  u.set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return {};
}

Result<void> cast_by_name(Upgrade& u) {
  std::string name = u.s("to", "");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  pb::TensorProto::DataType type{};
  if (!pb::TensorProto::DataType_Parse(name, &type)) return bad_input("'{}' is no type", name.substr(0, 40));
  u.set("to", int64_t{type});
  return {};
}

Result<void> set_concat_axis(Upgrade& u) {
  if (u.find("axis") == nullptr) u.set("axis", 1);
  return {};
}

// p was a real number.
Result<void> whole_norm_order(Upgrade& u) {
  const auto* p = u.find("p");
  if (p == nullptr) return {};
  if (!(p->f() >= 1 && p->f() < 1e6f) || p->f() != std::floor(p->f())) return unsupported("a norm of order {}", p->f());
  u.set("p", static_cast<int64_t>(p->f()));
  return {};
}

Result<void> drop_output_sequence(Upgrade& u) {
  u.remove("output_sequence");
  return {};
}

Result<void> set_selu_constants(Upgrade& u) {
  const std::pair<const char*, float> constants[] = {{"alpha", 1.6732f}, {"gamma", 1.0507f}};
  for (auto [name, value] : constants) {
    if (u.find(name) != nullptr) continue;
    auto* attribute = u.node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(pb::AttributeProto::FLOAT);
    attribute->set_f(value);
  }
  return {};
}

Result<void> refuse_tile_by_axis(Upgrade& u) {
  return unsupported("Tile of opset {} repeats along an axis that is an input", u.context.opset);
}

}  // namespace tvc::onnx_format
