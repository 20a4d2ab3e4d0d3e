// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/builder.h"

namespace tvc::onnx_format {

Result<ir::Attr> Builder::attribute(const pb::AttributeProto& proto) {
  if (!proto.ref_attr_name().empty()) return bad_input("attribute '{}' refers to one of a function", proto.name());
  switch (proto.type()) {
    case pb::AttributeProto::INT: return ir::Attr(static_cast<int64_t>(proto.i()));
    case pb::AttributeProto::FLOAT: return ir::Attr(static_cast<double>(proto.f()));
    case pb::AttributeProto::STRING: return ir::Attr(proto.s());
    case pb::AttributeProto::INTS: return ir::Attr(std::vector<int64_t>(proto.ints().begin(), proto.ints().end()));
    case pb::AttributeProto::FLOATS: return ir::Attr(std::vector<double>(proto.floats().begin(), proto.floats().end()));
    case pb::AttributeProto::STRINGS:
      return ir::Attr(std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
    case pb::AttributeProto::TENSOR: {
      TVC_TRY(auto tensor, tensors_.dense(proto.t()));
      return ir::Attr(std::make_shared<const ir::Tensor>(std::move(tensor)));
    }
    case pb::AttributeProto::SPARSE_TENSOR: {
      TVC_TRY(auto tensor, tensors_.sparse(proto.sparse_tensor()));
      return ir::Attr(std::make_shared<const ir::Tensor>(std::move(tensor)));
    }
    case pb::AttributeProto::GRAPH: {
      TVC_TRY(ir::GraphId graph, body(proto.g()));
      return ir::Attr(graph);
    }
    case pb::AttributeProto::TYPE_PROTO: {  // of Optional: {dtype, kind}, which is all that inference needs
      TVC_TRY(auto type, read_type(proto.tp()));
      return ir::Attr(std::vector<int64_t>{static_cast<int64_t>(type.dtype), static_cast<int64_t>(type.kind)});
    }
    default:
      return unsupported("attribute '{}' has type {}", proto.name(),
                         pb::AttributeProto::AttributeType_Name(proto.type()));
  }
}

Result<ir::Tensor> Builder::constant_value(const pb::AttributeProto& proto) {
  if (!proto.ref_attr_name().empty()) return bad_input("attribute '{}' refers to one of a function", proto.name());
  switch (proto.type()) {
    case pb::AttributeProto::TENSOR: return tensors_.dense(proto.t());
    case pb::AttributeProto::SPARSE_TENSOR: return tensors_.sparse(proto.sparse_tensor());
    case pb::AttributeProto::FLOAT: return ir::make_f32({}, {proto.f()});
    case pb::AttributeProto::INT: return ir::make_i64({}, {proto.i()});
    case pb::AttributeProto::FLOATS:
      return ir::make_f32({proto.floats_size()}, {proto.floats().begin(), proto.floats().end()});
    case pb::AttributeProto::INTS: return ir::make_i64({proto.ints_size()}, {proto.ints().begin(), proto.ints().end()});
    case pb::AttributeProto::STRING:
    case pb::AttributeProto::STRINGS: {
      ir::Tensor tensor;
      tensor.dtype = ir::DType::kString;
      tensor.strings.assign(proto.strings().begin(), proto.strings().end());
      if (proto.type() == pb::AttributeProto::STRING) tensor.strings = {proto.s()};
      else tensor.dims = {proto.strings_size()};
      return tensor;
    }
    default: return bad_input("attribute '{}' is no constant", proto.name());
  }
}

}  // namespace tvc::onnx_format
