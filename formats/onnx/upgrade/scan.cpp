// SPDX-License-Identifier: Apache-2.0
// Scan of opset 8 ran over axis 1 of each item of a batch: a Scan over the batch, whose body is the Scan over the rest.
#include "formats/onnx/upgrade/upgrade.h"

namespace tvc::onnx_format {
namespace {

// A value of the body of the outer Scan; its type comes from the value that is sliced or stacked.
void declare(pb::ValueInfoProto& value, const std::string& name, const pb::ValueInfoProto& like) {
  value.set_name(name);
  const int type = like.type().tensor_type().elem_type();
  value.mutable_type()->mutable_tensor_type()->set_elem_type(type);
}

}  // namespace

Result<void> upgrade_scan(Upgrade& u) {
  const auto* body = u.find("body");
  const int64_t scanned = u.i("num_scan_inputs", 0);
  if (body == nullptr || !body->has_g()) return bad_input("it has no body");
  if (!u.input(0).empty()) return unsupported("a Scan of opset 8 with sequence_lens");
  const int count = u.node.input_size() - 1, results = u.node.output_size();
  if (scanned <= 0 || scanned > count || count != body->g().input_size() || results != body->g().output_size())
    return bad_input("its values do not match its body's");

  pb::NodeProto inner;
  inner.set_op_type("Scan");
  inner.set_name(u.node.name());
  pb::AttributeProto outer_body;
  outer_body.set_name("body");
  outer_body.set_type(pb::AttributeProto::GRAPH);
  auto& graph = *outer_body.mutable_g();
  graph.set_name(u.fresh("batch"));
  for (int k = 0; k < count; ++k) {
    inner.add_input(u.fresh("item"));
    declare(*graph.add_input(), inner.input(k), body->g().input(k));
  }
  for (int k = 0; k < results; ++k) {
    inner.add_output(u.fresh("result"));
    declare(*graph.add_output(), inner.output(k), body->g().output(k));
  }
  *inner.add_attribute() = *body;
  set_int(inner, "num_scan_inputs", scanned);
  if (const auto* directions = u.find("directions")) {
    *inner.add_attribute() = *directions;
    inner.mutable_attribute(inner.attribute_size() - 1)->set_name("scan_input_directions");
  }
  *graph.add_node() = std::move(inner);

  u.node.mutable_input()->DeleteSubrange(0, 1);
  u.node.clear_attribute();
  *u.node.add_attribute() = std::move(outer_body);
  u.set("num_scan_inputs", int64_t{count});
  return {};
}

}  // namespace tvc::onnx_format
