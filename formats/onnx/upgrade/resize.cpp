// SPDX-License-Identifier: Apache-2.0
// Upsample, and Resize of opset 10: output element o lies at o / scale of the input. `nearest` takes the element below
// where it enlarges and the one above where it shrinks, so that a node which may do both becomes two.
#include <algorithm>

#include "formats/onnx/upgrade/upgrade.h"

namespace tvc::onnx_format {
namespace {

pb::NodeProto resize(const Upgrade& u, const std::string& x, const std::string& scales, const std::string& mode,
                     const std::string& nearest_mode, const std::string& y) {
  pb::NodeProto made;
  made.set_op_type("Resize");
  made.set_name(u.node.name());
  for (const auto& input : {x, std::string(), scales}) made.add_input(input);
  made.add_output(y);
  Upgrade form(made, u.context);
  form.set("mode", mode);
  form.set("coordinate_transformation_mode", std::string("asymmetric"));
  form.set("nearest_mode", nearest_mode);
  return form.node;
}

Result<std::string> scales_of(Upgrade& u) {
  if (const auto* scales = u.find("scales")) return u.floats({scales->floats().begin(), scales->floats().end()});
  const auto *height = u.find("height_scale"), *width = u.find("width_scale");
  if (height != nullptr && width != nullptr) return u.floats({1, 1, height->f(), width->f()});
  if (u.input(1).empty()) return bad_input("it has no scales");
  return u.input(1);
}

}  // namespace

Result<void> upgrade_upsample(Upgrade& u) {
  TVC_TRY(const std::string scales, scales_of(u));
  std::string mode = u.s("mode", "nearest");
  if (mode == "bilinear") mode = "linear";
  const std::string x = u.input(0), y = u.node.output(0);
  const auto* given = u.find("scales");
  const bool only_enlarges =
      u.node.op_type() == "Upsample" &&
      (given == nullptr || std::all_of(given->floats().begin(), given->floats().end(), [](float f) { return f >= 1; }));
  if (mode != "nearest" || only_enlarges) {
    u.node = resize(u, x, scales, mode, "floor", y);
    return {};
  }
  const std::string enlarged = u.fresh("enlarged"), one = u.floats({1});
  const std::string up = u.add("Max", {scales, one}), down = u.add("Min", {scales, one});
  u.before.push_back(resize(u, x, up, mode, "floor", enlarged));
  u.node = resize(u, enlarged, down, mode, "ceil", y);
  return {};
}

Result<void> upgrade_resize(Upgrade& u) { return upgrade_upsample(u); }

}  // namespace tvc::onnx_format
