// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/upgrade/upgrade.h"

#include <fmt/format.h>

namespace tvc::onnx_format {

const pb::AttributeProto* Upgrade::find(std::string_view name) const {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

int64_t Upgrade::i(std::string_view name, int64_t otherwise) const {
  const auto* attribute = find(name);
  return attribute == nullptr ? otherwise : attribute->i();
}

std::string Upgrade::s(std::string_view name, std::string_view otherwise) const {
  const auto* attribute = find(name);
  return attribute == nullptr ? std::string(otherwise) : attribute->s();
}

void Upgrade::remove(std::string_view name) {
  auto* attributes = node.mutable_attribute();
  for (int k = attributes->size(); k-- > 0;)
    if ((*attributes)[k].name() == name) attributes->DeleteSubrange(k, 1);
}

void set_int(pb::NodeProto& node, const std::string& name, int64_t value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(pb::AttributeProto::INT);
  attribute->set_i(value);
}

void Upgrade::set(const std::string& name, int64_t value) {
  remove(name);
  set_int(node, name, value);
}

void Upgrade::set(const std::string& name, const std::string& value) {
  remove(name);
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(pb::AttributeProto::STRING);
  attribute->set_s(value);
}

void Upgrade::set_input(int k, const std::string& name) {
  while (node.input_size() <= k) node.add_input("");
  node.set_input(k, name);
}

std::string Upgrade::fresh(std::string_view what) const {
  return context.names.fresh(fmt::format("{}/{}", node_name(node), what));
}

pb::NodeProto& Upgrade::append(std::vector<pb::NodeProto>& to, const std::string& op,
                               const std::vector<std::string>& inputs, const std::string& output) const {
  pb::NodeProto made;
  made.set_op_type(op);
  made.set_name(node.name());
  for (const auto& input : inputs) made.add_input(input);
  made.add_output(output);
  to.push_back(std::move(made));
  return to.back();
}

std::string Upgrade::add(const std::string& op, const std::vector<std::string>& inputs) {
  return append(before, op, inputs, fresh(op)).output(0);
}

std::string Upgrade::constant(const pb::TensorProto& tensor) {
  pb::NodeProto& made = append(before, "Constant", {}, fresh("constant"));
  auto* attribute = made.add_attribute();
  attribute->set_name("value");
  attribute->set_type(pb::AttributeProto::TENSOR);
  *attribute->mutable_t() = tensor;
  return made.output(0);
}

std::string Upgrade::ints(const std::vector<int64_t>& values) {
  pb::TensorProto tensor;
  tensor.set_data_type(pb::TensorProto::INT64);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  for (int64_t v : values) tensor.add_int64_data(v);
  return constant(tensor);
}

std::string Upgrade::integer(int64_t value) {
  pb::TensorProto tensor;
  tensor.set_data_type(pb::TensorProto::INT64);
  tensor.add_int64_data(value);
  return constant(tensor);
}

std::string Upgrade::floats(const std::vector<float>& values) {
  pb::TensorProto tensor;
  tensor.set_data_type(pb::TensorProto::FLOAT);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  for (float v : values) tensor.add_float_data(v);
  return constant(tensor);
}

std::string Upgrade::number_like(float value, const std::string& like) {
  pb::TensorProto tensor;
  tensor.set_data_type(pb::TensorProto::FLOAT);
  tensor.add_float_data(value);
  std::string number = constant(tensor);
  return context.types.element_type(like) == pb::TensorProto::FLOAT ? number : add("CastLike", {number, like});
}

void Upgrade::ints_to_input(const char* attribute, int k) {
  if (const auto* given = find(attribute)) {
    set_input(k, ints({given->ints().begin(), given->ints().end()}));
    remove(attribute);
  }
}

void Upgrade::float_to_input(const char* attribute, int k) {
  if (const auto* given = find(attribute)) {
    set_input(k, number_like(given->f(), input(0)));
    remove(attribute);
  }
}

}  // namespace tvc::onnx_format
