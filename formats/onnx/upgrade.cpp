// SPDX-License-Identifier: Apache-2.0
// Older forms of operators brought to the newest: what was an attribute and is an input now, changed defaults, renamed
// values. An operator that is not in the table means the same in every opset from 7 on, or its newer form only added
// attributes.
#include <algorithm>

#include "formats/onnx/protos.h"

namespace tvc::onnx_format {
namespace {

using Nodes = std::vector<pb::NodeProto>;

const pb::AttributeProto* find_attribute(const pb::NodeProto& node, std::string_view name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

void remove_attribute(pb::NodeProto& node, std::string_view name) {
  auto* attributes = node.mutable_attribute();
  for (int k = attributes->size(); k-- > 0;)
    if ((*attributes)[k].name() == name) attributes->DeleteSubrange(k, 1);
}

void set_attribute(pb::NodeProto& node, const std::string& name, int64_t value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(pb::AttributeProto::INT);
  attribute->set_i(value);
}

void set_attribute(pb::NodeProto& node, const std::string& name, const std::string& value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(pb::AttributeProto::STRING);
  attribute->set_s(value);
}

// One node in the making: its replacement, and nodes before and after it.
class Upgrade {
 public:
  Upgrade(pb::NodeProto node, const UpgradeContext& context) : node(std::move(node)), context(context) {}

  pb::NodeProto node;
  const UpgradeContext& context;
  Nodes before, after;

  std::string fresh(std::string_view what) {
    return fmt::format("tvc_{}_{}_{}", node.output_size() > 0 ? node.output(0) : node.name(), what, counter_++);
  }

  std::string constant(const pb::TensorProto& tensor) {
    pb::NodeProto made;
    made.set_op_type("Constant");
    made.add_output(fresh("constant"));
    auto* attribute = made.add_attribute();
    attribute->set_name("value");
    attribute->set_type(pb::AttributeProto::TENSOR);
    *attribute->mutable_t() = tensor;
    before.push_back(made);
    return made.output(0);
  }

  std::string ints(const std::vector<int64_t>& values, bool scalar = false) {
    pb::TensorProto tensor;
    tensor.set_data_type(pb::TensorProto::INT64);
    if (!scalar) tensor.add_dims(static_cast<int64_t>(values.size()));
    for (int64_t v : values) tensor.add_int64_data(v);
    return constant(tensor);
  }

  // A scalar of the type of the named value.
  std::string number_like(float value, const std::string& like) {
    pb::TensorProto tensor;
    tensor.set_data_type(pb::TensorProto::FLOAT);
    tensor.add_float_data(value);
    std::string number = constant(tensor);
    const auto* type = context.type_of(like);
    if (type != nullptr && type->tensor_type().elem_type() == pb::TensorProto::FLOAT) return number;
    return add("CastLike", {number, like});
  }

  std::string add(const std::string& op, const std::vector<std::string>& inputs) {
    return append(before, op, inputs, fresh(op)).output(0);
  }

  pb::NodeProto& append(Nodes& nodes, const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& output) {
    pb::NodeProto made;
    made.set_op_type(op);
    made.set_name(node.name());
    for (const auto& input : inputs) made.add_input(input);
    made.add_output(output);
    nodes.push_back(std::move(made));
    return nodes.back();
  }

  void set_input(int index, const std::string& name) {
    while (node.input_size() <= index) node.add_input("");
    node.set_input(index, name);
  }

  // Integer-list attribute -> input.
  void ints_to_input(const char* name, int index) {
    if (const auto* attribute = find_attribute(node, name))
      set_input(index, ints({attribute->ints().begin(), attribute->ints().end()}));
    remove_attribute(node, name);
  }

  void float_to_input(const char* name, int index) {
    if (const auto* attribute = find_attribute(node, name))
      set_input(index, number_like(attribute->f(), node.input(0)));
    remove_attribute(node, name);
  }

  int rank(const std::string& name) const {
    const auto* type = context.type_of(name);
    return type != nullptr && type->has_tensor_type() && type->tensor_type().has_shape()
               ? type->tensor_type().shape().dim_size()
               : -1;
  }

 private:
  int counter_ = 0;
};

Result<void> axes_to_input(Upgrade& u) {
  u.ints_to_input("axes", 1);
  return {};
}

Result<void> upgrade_clip(Upgrade& u) {
  u.float_to_input("min", 1);
  u.float_to_input("max", 2);
  return {};
}

Result<void> upgrade_slice(Upgrade& u) {
  u.ints_to_input("starts", 1);
  u.ints_to_input("ends", 2);
  u.ints_to_input("axes", 3);
  return {};
}

Result<void> upgrade_pad(Upgrade& u) {
  u.ints_to_input("pads", 1);
  u.float_to_input("value", 2);
  return {};
}

Result<void> upgrade_split(Upgrade& u) {
  if (u.context.opset < 13) u.ints_to_input("split", 1);
  bool has_sizes = u.node.input_size() > 1 && !u.node.input(1).empty();
  if (!has_sizes) set_attribute(u.node, "num_outputs", u.node.output_size());
  return {};
}

Result<void> upgrade_top_k(Upgrade& u) {
  if (const auto* k = find_attribute(u.node, "k")) u.set_input(1, u.ints({k->i()}));
  remove_attribute(u.node, "k");
  return {};
}

Result<void> upgrade_dropout(Upgrade& u) {
  remove_attribute(u.node, "ratio");
  return {};
}

Result<void> upgrade_batch_norm(Upgrade& u) {
  if (const auto* spatial = find_attribute(u.node, "spatial"); spatial != nullptr && spatial->i() == 0)
    return unsupported("BatchNormalization with spatial = 0 is not supported");
  for (int k = 1; k < u.node.output_size(); ++k)
    if (!u.node.output(k).empty())
      return unsupported("BatchNormalization of opset {} in training form is not supported", u.context.opset);
  while (u.node.output_size() > 1) u.node.mutable_output()->RemoveLast();
  remove_attribute(u.node, "spatial");
  return {};
}

// Before opset 13 the axes from `axis` on were flattened into one row.
Result<void> upgrade_softmax(Upgrade& u) {
  const auto* given = find_attribute(u.node, "axis");
  int64_t axis = given != nullptr ? given->i() : 1;
  int rank = u.rank(u.node.input(0));
  remove_attribute(u.node, "axis");
  set_attribute(u.node, "axis", -1);
  if (axis == -1 || (rank >= 0 && axis == rank - 1)) return {};
  const std::string x = u.node.input(0), y = u.node.output(0);
  std::string rows = u.fresh("rows"), result = u.fresh("softmax");
  set_attribute(u.append(u.before, "Flatten", {x}, rows), "axis", axis);
  std::string shape = u.add("Shape", {x});
  u.node.set_input(0, rows);
  u.node.set_output(0, result);
  u.append(u.after, "Reshape", {result, shape}, y);
  return {};
}

Result<void> upgrade_upsample(Upgrade& u) {
  u.node.set_op_type("Resize");
  std::string mode = find_attribute(u.node, "mode") != nullptr ? find_attribute(u.node, "mode")->s() : "nearest";
  if (const auto* scales = find_attribute(u.node, "scales")) {
    pb::TensorProto tensor;
    tensor.set_data_type(pb::TensorProto::FLOAT);
    tensor.add_dims(scales->floats_size());
    *tensor.mutable_float_data() = scales->floats();
    u.set_input(1, u.constant(tensor));
  }
  if (u.node.input_size() < 2) return unsupported("Upsample without scales is not supported");
  std::string scales = u.node.input(1);
  u.node.set_input(1, "");
  u.set_input(2, scales);
  u.node.clear_attribute();
  set_attribute(u.node, "mode", mode == "bilinear" ? "linear" : mode);
  set_attribute(u.node, "coordinate_transformation_mode", "asymmetric");
  set_attribute(u.node, "nearest_mode", "floor");
  return {};
}

Result<void> upgrade_resize(Upgrade& u) { return u.context.opset < 11 ? upgrade_upsample(u) : Result<void>(); }

Result<void> rename_scatter(Upgrade& u) {
  u.node.set_op_type("ScatterElements");
  return {};
}

// Scale and bias were one number a group; they are one a channel now.
Result<void> upgrade_group_norm(Upgrade& u) {
  const auto* type = u.context.type_of(u.node.input(0));
  const auto* groups = find_attribute(u.node, "num_groups");
  if (groups == nullptr || groups->i() <= 0 || type == nullptr || type->tensor_type().shape().dim_size() < 2 ||
      !type->tensor_type().shape().dim(1).has_dim_value())
    return unsupported("GroupNormalization of opset {} without a known number of channels is not supported",
                       u.context.opset);
  int64_t channels = type->tensor_type().shape().dim(1).dim_value();
  for (int k : {1, 2}) {
    std::string column = u.add("Unsqueeze", {u.node.input(k), u.ints({1})});
    std::string wide = u.add("Expand", {column, u.ints({groups->i(), channels / groups->i()})});
    u.node.set_input(k, u.add("Reshape", {wide, u.ints({channels})}));
  }
  return {};
}

Result<void> upgrade_dft(Upgrade& u) {
  const auto* axis = find_attribute(u.node, "axis");
  u.set_input(2, u.ints({axis != nullptr ? axis->i() : 1}, true));
  remove_attribute(u.node, "axis");
  return {};
}

Result<void> upgrade_grid_sample(Upgrade& u) {
  for (auto& attribute : *u.node.mutable_attribute()) {
    if (attribute.name() != "mode") continue;
    if (attribute.s() == "bilinear") attribute.set_s("linear");
    if (attribute.s() == "bicubic") attribute.set_s("cubic");
  }
  return {};
}

Result<void> upgrade_roi_align(Upgrade& u) {
  set_attribute(u.node, "coordinate_transformation_mode", "output_half_pixel");
  return {};
}

Result<void> refuse_old_scan(Upgrade& u) { return unsupported("Scan of opset {} is not supported", u.context.opset); }

struct Row {
  std::string_view op;
  int below;  // applies to opsets below this one
  Result<void> (*apply)(Upgrade&);
};
constexpr Row kRows[] = {
    {"Squeeze", 13, axes_to_input},
    {"Unsqueeze", 13, axes_to_input},
    {"ReduceSum", 13, axes_to_input},
    {"ReduceMean", 18, axes_to_input},
    {"ReduceMax", 18, axes_to_input},
    {"ReduceMin", 18, axes_to_input},
    {"ReduceProd", 18, axes_to_input},
    {"ReduceL1", 18, axes_to_input},
    {"ReduceL2", 18, axes_to_input},
    {"ReduceLogSum", 18, axes_to_input},
    {"ReduceLogSumExp", 18, axes_to_input},
    {"ReduceSumSquare", 18, axes_to_input},
    {"Clip", 11, upgrade_clip},
    {"Slice", 10, upgrade_slice},
    {"Pad", 11, upgrade_pad},
    {"Split", 18, upgrade_split},
    {"TopK", 10, upgrade_top_k},
    {"Dropout", 12, upgrade_dropout},
    {"BatchNormalization", 14, upgrade_batch_norm},
    {"Softmax", 13, upgrade_softmax},
    {"LogSoftmax", 13, upgrade_softmax},
    {"Hardmax", 13, upgrade_softmax},
    {"Upsample", 10, upgrade_upsample},
    {"Resize", 11, upgrade_resize},
    {"Scatter", 100, rename_scatter},
    {"GroupNormalization", 21, upgrade_group_norm},
    {"DFT", 20, upgrade_dft},
    {"GridSample", 20, upgrade_grid_sample},
    {"RoiAlign", 16, upgrade_roi_align},
    {"Scan", 9, refuse_old_scan},
};

using Types = std::map<std::string, const pb::TypeProto*>;

void add_types(const pb::GraphProto& graph, Types& types) {
  for (const auto& value : graph.input()) types[value.name()] = &value.type();
  for (const auto& value : graph.value_info()) types[value.name()] = &value.type();
  for (const auto& value : graph.output()) types[value.name()] = &value.type();
}

Result<void> upgrade_graph(pb::GraphProto& graph, int opset, Types types) {
  add_types(graph, types);
  UpgradeContext context{opset, [&](const std::string& name) -> const pb::TypeProto* {
                           auto it = types.find(name);
                           return it == types.end() ? nullptr : it->second;
                         }};
  Nodes upgraded;
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) TVC_CHECK_OK(upgrade_graph(*attribute.mutable_g(), opset, types));
    TVC_TRY(auto nodes, upgrade_node(node, context));
    for (auto& made : nodes) upgraded.push_back(std::move(made));
  }
  graph.clear_node();
  for (auto& node : upgraded) *graph.add_node() = std::move(node);
  return {};
}

}  // namespace

Result<Nodes> upgrade_node(const pb::NodeProto& node, const UpgradeContext& context) {
  Nodes out;
  if (!node.domain().empty() && node.domain() != "ai.onnx") return Nodes{node};
  for (const Row& row : kRows) {
    if (row.op != node.op_type() || context.opset >= row.below) continue;
    Upgrade upgrade(node, context);
    if (auto status = row.apply(upgrade); !status.ok())
      return std::move(status).error().at(fmt::format("{} {}", node.op_type(), node.name()));
    out = std::move(upgrade.before);
    out.push_back(std::move(upgrade.node));
    for (auto& after : upgrade.after) out.push_back(std::move(after));
    return out;
  }
  return Nodes{node};
}

Result<void> upgrade_model(pb::ModelProto& model) {
  int opset = opset_of(model, "");
  if (opset == 0) opset = newest_opset();
  TVC_CHECK_OK(upgrade_graph(*model.mutable_graph(), opset, {}));
  for (auto& import : *model.mutable_opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx") import.set_version(newest_opset());
  return {};
}

}  // namespace tvc::onnx_format
