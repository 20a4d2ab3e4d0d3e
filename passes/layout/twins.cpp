// SPDX-License-Identifier: Apache-2.0
#include "passes/layout/twins.h"

namespace tvc::passes::layout {

bool has_planar_form(const ir::Type& type) {
  return type.kind == ir::Kind::kTensor && type.dtype == ir::DType::kF32 && (type.rank() == 3 || type.rank() == 4) &&
         type.shape[1].is_constant() && type.shape[1].constant() > 0;
}

int64_t channels_of(const ir::Type& type) { return type.shape[1].constant(); }

ir::ValueId Twins::find(ir::ValueId planar) const {
  auto it = twin_.find(planar);
  return it == twin_.end() ? ir::kNone : it->second;
}

Result<ir::ValueId> Twins::get(ir::ValueId planar, ir::NodeId at) {
  if (ir::ValueId twin = find(planar); twin != ir::kNone) return twin;
  ops::DecomposeContext builder(module_, at);
  ir::ValueId source = planar;
  if (module_.value(planar).type.rank() == 3) {
    TVC_TRY(source, builder.add("Unsqueeze", {planar, builder.ints({2})}));
  }
  TVC_TRY(ir::ValueId twin, builder.add("tvc.ToBlocked", {source}));
  twin_.emplace(planar, twin);
  return twin;
}

Result<void> Twins::replace(ir::NodeId node, size_t k, ir::ValueId blocked) {
  ir::ValueId old = module_.node(node).outputs[k];
  const ir::Type type = module_.value(old).type;
  ops::DecomposeContext builder(module_, node);
  TVC_TRY(ir::ValueId planar, builder.add("tvc.FromBlocked", {blocked}, {{"channels", channels_of(type)}}));
  if (type.rank() == 3) {
    TVC_TRY(planar, builder.add("Squeeze", {planar, builder.ints({2})}));
  }
  ir::replace_uses(module_, old, planar);
  if (module_.value(planar).name.empty()) module_.value(planar).name = module_.value(old).name;
  twin_.emplace(planar, blocked);
  return {};
}

Result<ir::ValueId> Twins::operand(ir::ValueId planar, ir::NodeId at, double padding) {
  const ir::Type type = module_.value(planar).type, result = module_.value(module_.node(at).outputs[0]).type;
  const int rank = result.rank();
  // One plane for all channels: in its twin it stands in one of 16 places.
  const bool repeats = type.rank() == rank && type.shape[1].is(1) && !result.shape[1].is(1);
  if (ir::ValueId twin = find(planar); twin != ir::kNone && !repeats) return twin;
  const ir::Tensor* tensor = module_.constant(planar);
  if (tensor != nullptr && tensor->count() == 1) {
    if (type.rank() <= 1) return planar;
    return ir::add_constant(module_, "", ir::from_f64(tensor->dtype, {}, ir::to_f64(*tensor)), module_.node(at).graph);
  }
  if (type.dtype != ir::DType::kF32 || type.rank() > rank) return ir::kNone;
  if (tensor != nullptr) {
    ir::Tensor lifted = *tensor;
    lifted.dims.insert(lifted.dims.begin(), static_cast<size_t>(rank - type.rank()), 1);
    if (rank == 3) lifted.dims.insert(lifted.dims.begin() + 2, 1);
    return constant(lifted, padding, module_.node(at).graph);
  }
  if (type.rank() == 0) return planar;
  if (type.rank() != rank) return ir::kNone;
  if (type.shape[1].is(1)) {
    ops::DecomposeContext builder(module_, at);
    return builder.add("Unsqueeze",
                       {planar, builder.ints(rank == 3 ? std::vector<int64_t>{2, 4} : std::vector<int64_t>{4})});
  }
  // A small gate, one number a channel, is worth a copy; a full plane is not.
  bool small = has_planar_form(type) && type.shape.back().is(1) &&
               type.shape[static_cast<size_t>(rank) - 2].is(rank == 3 ? channels_of(type) : 1);
  if (small) return get(planar, at);
  return ir::kNone;
}

// [a, b, c, d] -> [a, ceil(b / 16), c, d, 16], or [a, 1, c, d, 1] where one plane serves all channels.
Result<ir::ValueId> Twins::constant(const ir::Tensor& tensor, double padding, ir::GraphId graph) {
  auto values = ir::to_f64(tensor);
  const int64_t n = tensor.dims[0], channels = tensor.dims[1], h = tensor.dims[2], w = tensor.dims[3];
  const int64_t block = channels == 1 ? 1 : kBlock, blocks = (channels + block - 1) / block;
  std::vector<double> out(static_cast<size_t>(n * blocks * h * w * block), padding);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t p = 0; p < h * w; ++p)
        out[static_cast<size_t>((((i * blocks + c / block) * h * w) + p) * block + c % block)] =
            values[static_cast<size_t>((i * channels + c) * h * w + p)];
  return ir::add_constant(module_, "", ir::from_f64(ir::DType::kF32, {n, blocks, h, w, block}, out), graph);
}

}  // namespace tvc::passes::layout
