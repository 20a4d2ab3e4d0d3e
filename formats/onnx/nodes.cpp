// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/builder.h"
#include "ops/op_def.h"

namespace tvc::onnx_format {

Result<void> Builder::nodes(const pb::GraphProto& graph, ir::GraphId id) {
  for (const auto& proto : graph.node()) {
    const std::string op = operator_name(proto);
    auto status = op == "Constant"           ? constant(proto, id)
                  : ops::find(op) == nullptr ? missing(proto, id)
                                             : node(proto, id);
    if (!status.ok()) return std::move(status).error().at(node_place(proto));
  }
  return {};
}

Result<void> Builder::node(const pb::NodeProto& proto, ir::GraphId id) {
  TVC_CHECK_OK(check_newest_form(proto));
  ir::NodeSpec spec;
  spec.op = operator_name(proto);
  spec.outputs = static_cast<size_t>(proto.output_size());
  spec.origin = {node_name(proto)};
  for (const auto& input : proto.input()) {
    TVC_TRY(ir::ValueId value, look_up(input));
    spec.inputs.push_back(value);
  }
  while (!spec.inputs.empty() && spec.inputs.back() == ir::kNone) spec.inputs.pop_back();
  for (const auto& proto_attribute : proto.attribute()) {
    TVC_TRY(auto value, attribute(proto_attribute));
    if (!spec.attrs.emplace(proto_attribute.name(), std::move(value)).second)
      return bad_input("attribute '{}' is given twice", proto_attribute.name());
  }
  const ir::NodeId made = ir::add_node(module_, id, std::move(spec));
  for (int k = 0; k < proto.output_size(); ++k) {
    ir::ValueId& out = module_.node(made).outputs[static_cast<size_t>(k)];
    if (proto.output(k).empty()) {
      module_.value(out).producer = ir::kNone;
      out = ir::kNone;
      continue;
    }
    module_.value(out).name = proto.output(k);
    TVC_CHECK_OK(define(proto.output(k), out));
  }
  return {};
}

// Noted, so that one message tells all of them; its results stand for themselves.
Result<void> Builder::missing(const pb::NodeProto& proto, ir::GraphId id) {
  const std::string domain = proto.domain().empty() ? "" : ", domain " + proto.domain();
  missing_.push_back(fmt::format("node '{}' ({}{})", node_name(proto), proto.op_type(), domain));
  for (const auto& attribute : proto.attribute())
    if (attribute.has_g()) {
      TVC_TRY(ir::GraphId graph, body(attribute.g()));
      static_cast<void>(graph);
    }
  for (const auto& output : proto.output())
    if (!output.empty()) TVC_CHECK_OK(define(output, ir::add_value(module_, output, {}, id)));
  return {};
}

Result<void> Builder::constant(const pb::NodeProto& proto, ir::GraphId id) {
  if (proto.attribute_size() != 1 || proto.output_size() != 1 || proto.output(0).empty())
    return bad_input("it has {} attributes and {} outputs instead of one each", proto.attribute_size(),
                     proto.output_size());
  TVC_TRY(auto tensor, constant_value(proto.attribute(0)));
  return define(proto.output(0), ir::add_constant(module_, proto.output(0), std::move(tensor), id));
}

}  // namespace tvc::onnx_format
