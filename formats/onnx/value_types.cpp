// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/value_types.h"

#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <cstring>
#include <exception>

namespace tvc::onnx_format {
namespace {

bool is_known_domain(const pb::NodeProto& node) {
  const auto& known = pb::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  return known.find(node.domain()) != known.end();
}

}  // namespace

void infer_value_types(pb::ModelProto& model) {
  // Declared shapes of outputs and of values between are wrong in many models; what is inferred is not.
  auto& graph = *model.mutable_graph();
  for (auto& output : *graph.mutable_output())
    if (output.type().has_tensor_type()) output.mutable_type()->mutable_tensor_type()->clear_shape();
  if (std::all_of(graph.node().begin(), graph.node().end(), is_known_domain)) graph.clear_value_info();
  try {
    // No data propagation: it makes an object of each element of a shape, however many the model claims.
    const pb::ShapeInferenceOptions options{/*check_type=*/false, /*strict_mode=*/0, /*data_prop=*/false};
    pb::shape_inference::InferShapes(model, pb::OpSchemaRegistry::Instance(), options);
  } catch (const std::exception&) {
  }
}

void ValueTypes::add(const pb::GraphProto& graph) {
  for (const auto& value : graph.output()) types_[value.name()] = &value.type();
  for (const auto& value : graph.value_info()) types_[value.name()] = &value.type();
  for (const auto& value : graph.input()) types_[value.name()] = &value.type();
  for (const auto& tensor : graph.initializer()) {
    pb::TypeProto& type = of_initializers_.emplace_back();
    type.mutable_tensor_type()->set_elem_type(tensor.data_type());
    auto* shape = type.mutable_tensor_type()->mutable_shape();
    for (int64_t d : tensor.dims()) shape->add_dim()->set_dim_value(d);
    types_[tensor.name()] = &type;
    add_constant(tensor.name(), tensor);
  }
  for (const auto& node : graph.node())
    if (operator_name(node) == "Constant" && node.output_size() == 1 && node.attribute_size() == 1 &&
        node.attribute(0).has_t())
      add_constant(node.output(0), node.attribute(0).t());
}

void ValueTypes::add_constant(const std::string& name, const pb::TensorProto& tensor) {
  constexpr size_t kMaxBytes = 16 * sizeof(float);
  if (tensor.data_type() != pb::TensorProto::FLOAT || tensor.data_location() == pb::TensorProto::EXTERNAL) return;
  const std::string& raw = tensor.raw_data();
  if (tensor.float_data_size() * sizeof(float) > kMaxBytes || raw.size() > kMaxBytes) return;
  std::vector<float> elements(tensor.float_data().begin(), tensor.float_data().end());
  if (tensor.has_raw_data()) {
    elements.resize(raw.size() / sizeof(float));
    std::memcpy(elements.data(), raw.data(), elements.size() * sizeof(float));
  }
  floats_[name] = std::move(elements);
}

const std::vector<float>* ValueTypes::floats(const std::string& name) const {
  for (const ValueTypes* scope = this; scope != nullptr; scope = scope->outer_) {
    if (auto it = scope->floats_.find(name); it != scope->floats_.end()) return &it->second;
    if (scope->types_.find(name) != scope->types_.end()) return nullptr;
  }
  return nullptr;
}

const pb::TypeProto* ValueTypes::find(const std::string& name) const {
  for (const ValueTypes* scope = this; scope != nullptr; scope = scope->outer_)
    if (auto it = scope->types_.find(name); it != scope->types_.end()) return it->second;
  return nullptr;
}

int ValueTypes::rank(const std::string& name) const {
  const auto* type = find(name);
  bool known = type != nullptr && type->has_tensor_type() && type->tensor_type().has_shape();
  return known ? type->tensor_type().shape().dim_size() : -1;
}

int ValueTypes::element_type(const std::string& name) const {
  const auto* type = find(name);
  return type != nullptr && type->has_tensor_type() ? type->tensor_type().elem_type() : 0;
}

}  // namespace tvc::onnx_format
