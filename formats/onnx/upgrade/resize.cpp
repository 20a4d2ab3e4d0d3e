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

// The scales where they are known, and else the value that gives them.
struct Scales {
  std::vector<float> known;
  std::string value;
};

Result<Scales> scales_of(const Upgrade& u) {
  if (const auto* scales = u.find("scales")) return Scales{{scales->floats().begin(), scales->floats().end()}, ""};
  const auto *height = u.find("height_scale"), *width = u.find("width_scale");
  if (height != nullptr && width != nullptr) return Scales{{1, 1, height->f(), width->f()}, ""};
  if (u.input(1).empty()) return bad_input("it has no scales");
  const auto* known = u.context.types.floats(u.input(1));
  return Scales{known != nullptr ? *known : std::vector<float>(), u.input(1)};
}

template <typename Limit>
std::string limited(Upgrade& u, const Scales& scales, const char* op, Limit limit) {
  if (scales.known.empty()) return u.add(op, {scales.value, u.floats({1})});
  std::vector<float> values;
  for (float scale : scales.known) values.push_back(limit(scale, 1.0f));
  return u.floats(values);
}

}  // namespace

Result<void> upgrade_upsample(Upgrade& u) {
  TVC_TRY(const Scales scales, scales_of(u));
  std::string mode = u.s("mode", "nearest");
  if (mode == "bilinear") mode = "linear";
  const std::string x = u.input(0), y = u.node.output(0);
  const auto all = [&](auto holds) {
    return !scales.known.empty() && std::all_of(scales.known.begin(), scales.known.end(), holds);
  };
  const bool enlarges = (scales.known.empty() && u.node.op_type() == "Upsample") || all([](float s) { return s >= 1; });
  if (mode != "nearest" || enlarges || all([](float s) { return s <= 1; })) {
    const std::string value = scales.known.empty() ? scales.value : u.floats(scales.known);
    u.node = resize(u, x, value, mode, enlarges ? "floor" : "ceil", y);
    return {};
  }
  const std::string enlarged = u.fresh("enlarged");
  const std::string up = limited(u, scales, "Max", [](float a, float b) { return std::max(a, b); });
  const std::string down = limited(u, scales, "Min", [](float a, float b) { return std::min(a, b); });
  u.before.push_back(resize(u, x, up, mode, "floor", enlarged));
  u.node = resize(u, enlarged, down, mode, "ceil", y);
  return {};
}

Result<void> upgrade_resize(Upgrade& u) { return upgrade_upsample(u); }

}  // namespace tvc::onnx_format
