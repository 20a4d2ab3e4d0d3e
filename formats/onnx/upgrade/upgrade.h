// SPDX-License-Identifier: Apache-2.0
// One node on its way to the newest form: its replacement, and nodes before and after it. rows.inc lists which function
// applies to which operator below which opset.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/onnx/upgrade/upgrade_node.h"

namespace tvc::onnx_format {

class Upgrade {
 public:
  Upgrade(pb::NodeProto of, const UpgradeContext& where) : node(std::move(of)), context(where) {}

  pb::NodeProto node;
  const UpgradeContext& context;
  std::vector<pb::NodeProto> before, after;

  const pb::AttributeProto* find(std::string_view name) const;  // null: absent
  int64_t i(std::string_view name, int64_t otherwise) const;
  std::string s(std::string_view name, std::string_view otherwise) const;
  void remove(std::string_view name);
  void set(const std::string& name, int64_t value);
  void set(const std::string& name, const std::string& value);

  std::string input(int k) const { return k < node.input_size() ? node.input(k) : ""; }
  bool wants_output(int k) const { return k < node.output_size() && !node.output(k).empty(); }
  void set_input(int k, const std::string& name);
  int rank(int k) const { return context.types.rank(input(k)); }  // -1: unknown

  // Values made before the node.
  std::string fresh(std::string_view what) const;
  std::string ints(const std::vector<int64_t>& values);           // 1-D
  std::string integer(int64_t value);                             // a scalar
  std::string floats(const std::vector<float>& values);           // 1-D
  std::string number_like(float value, const std::string& like);  // a scalar of the type of the value `like`
  std::string add(const std::string& op, const std::vector<std::string>& inputs);
  pb::NodeProto& append(std::vector<pb::NodeProto>& to, const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& output) const;

  // An attribute becomes input k; nothing where it is absent.
  void ints_to_input(const char* attribute, int k);
  void float_to_input(const char* attribute, int k);

 private:
  std::string constant(const pb::TensorProto& tensor);
};

void set_int(pb::NodeProto& node, const std::string& name, int64_t value);

#define TVC_UPGRADE(op, below, function, stage) Result<void> function(Upgrade& u);
#include "formats/onnx/upgrade/rows.inc"
#undef TVC_UPGRADE

}  // namespace tvc::onnx_format
