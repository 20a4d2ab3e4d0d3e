// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/upgrade/upgrade.h"

namespace tvc::onnx_format {
namespace {

// spatial = 0: mean, variance, scale and bias are given for each element of an item: y = (x - m) / sqrt(v + eps) * s +
// b.
void normalize_each_element(Upgrade& u) {
  const auto* given = u.find("epsilon");
  std::string epsilon = u.number_like(given != nullptr ? given->f() : 1e-5f, u.input(0));
  std::string deviation = u.add("Sqrt", {u.add("Add", {u.input(4), epsilon})});
  std::string centred = u.add("Sub", {u.input(0), u.input(3)});
  std::string scaled = u.add("Mul", {u.add("Div", {centred, deviation}), u.input(1)});
  pb::NodeProto add;
  add.set_op_type("Add");
  add.set_name(u.node.name());
  add.add_input(scaled);
  add.add_input(u.input(2));
  add.add_output(u.node.output(0));
  u.node = std::move(add);
}

}  // namespace

// Below opset 14 a node that has more outputs than y is in training: it uses and returns statistics of the batch.
Result<void> upgrade_batch_normalization(Upgrade& u) {
  const bool per_channel = u.i("spatial", 1) != 0;
  bool training = false;
  for (int k = 1; k < u.node.output_size(); ++k) training |= u.wants_output(k);
  if (u.wants_output(3) || u.wants_output(4))
    return unsupported("it returns the statistics of one batch, saved_mean and saved_var");
  while (u.node.output_size() > (training ? 3 : 1)) u.node.mutable_output()->RemoveLast();
  u.remove("spatial");
  u.remove("is_test");
  u.remove("consumed_inputs");
  if (training && !per_channel) return unsupported("training with spatial = 0");
  if (training) u.set("training_mode", 1);
  if (!per_channel) normalize_each_element(u);
  return {};
}

// Scale and bias were one number a group and are one a channel now: each is repeated C / groups times.
Result<void> upgrade_group_normalization(Upgrade& u) {
  const int64_t groups = u.i("num_groups", 0);
  if (groups <= 0) return bad_input("num_groups is {}", groups);
  pb::NodeProto& shape = u.append(u.before, "Shape", {u.input(0)}, u.fresh("channels"));
  set_int(shape, "start", 1);
  set_int(shape, "end", 2);
  const std::string channels = shape.output(0);
  const std::string repeated = u.add("Div", {channels, u.ints({groups})});
  pb::NodeProto& concat = u.append(u.before, "Concat", {u.ints({groups}), repeated}, u.fresh("groups"));
  set_int(concat, "axis", 0);
  const std::string by_group = concat.output(0);
  for (int k : {1, 2}) {
    std::string column = u.add("Unsqueeze", {u.input(k), u.ints({1})});
    u.set_input(k, u.add("Reshape", {u.add("Expand", {column, by_group}), channels}));
  }
  return {};
}

// Before opset 13 the axes from `axis` on counted as one row.
Result<void> upgrade_softmax(Upgrade& u) {
  const int64_t axis = u.i("axis", 1);
  const int rank = u.rank(0);
  u.set("axis", -1);
  if (axis == -1 || (rank > 0 && axis == rank - 1)) return {};
  const std::string x = u.input(0), y = u.node.output(0), rows = u.fresh("rows"), result = u.fresh("result");
  set_int(u.append(u.before, "Flatten", {x}, rows), "axis", axis);
  const std::string shape = u.add("Shape", {x});
  u.node.set_input(0, rows);
  u.node.set_output(0, result);
  set_int(u.append(u.after, "Reshape", {result, shape}, y), "allowzero", 1);
  return {};
}

}  // namespace tvc::onnx_format
