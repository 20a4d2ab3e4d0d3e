// SPDX-License-Identifier: Apache-2.0
// Dropout: in inference the input as it is; in training y = x * mask / (1 - ratio), mask 0 with probability ratio.
#include "ops/dropout.h"

namespace tvc::ops {
namespace {

Result<void> infer_dropout(InferContext& c) {
  c.set(0, c.type(0));
  c.set(1, DType::kBool, c.shape(0));
  return {};
}

Result<std::vector<ir::ValueId>> decompose_dropout(DecomposeContext& c) {
  std::vector<ir::ValueId> out(c.output_count(), ir::kNone);
  if (drops_nothing(c)) {
    out[0] = c.in(0);
    if (c.has_output(1)) {
      TVC_TRY(auto shape, c.add("Shape", {c.in(0)}));
      TVC_TRY(out[1], c.add("Expand", {c.scalar(DType::kBool, 1), shape}));
    }
    return out;
  }
  ir::ValueId ratio = c.has_input(1) ? c.in(1) : c.scalar(DType::kF32, 0.5);
  TVC_TRY(auto x, c.add("Cast", {c.in(0)}, {{"to", static_cast<int64_t>(DType::kF32)}}));
  std::map<std::string, ir::Attr, std::less<>> attrs;
  if (c.node().has("seed")) attrs["seed"] = c.i("seed", 0);
  TVC_TRY(auto parts, c.add_multi("tvc.Dropout", {x, ratio, c.in(2)}, std::move(attrs), 2));
  TVC_TRY(out[0], c.add("Cast", {parts[0]}, {{"to", static_cast<int64_t>(c.dtype(0))}}));
  if (c.has_output(1)) out[1] = parts[1];
  return out;
}

Result<RoutineCall> routine_dropout(const NodeView& v) {
  RoutineCall call;
  call.symbol = "tvrt_op_Dropout";
  call.file = "Dropout.c";
  call.ints = {v.node().has("seed") ? 1 : 0, v.i("seed", 0)};
  return call;
}

}  // namespace

bool drops_nothing(const NodeView& view) {
  if (!view.has_input(2)) return true;
  const ir::Tensor* training = view.constant(2);
  if (training != nullptr && training->count() == 1 && ir::to_i64(*training)[0] == 0) return true;
  const ir::Tensor* ratio = view.has_input(1) ? view.constant(1) : nullptr;
  return ratio != nullptr && ratio->count() == 1 && ir::to_f64(*ratio)[0] == 0;
}

TVC_DEFINE_OP(kDropout) = {
    .name = "Dropout", .infer = infer_dropout, .decompose = decompose_dropout, .samples = {"f32[3,4]"}};
// Of f32; ratio and training mode may be the run's.
TVC_DEFINE_OP(kRandomDropout) = {
    .name = "tvc.Dropout", .infer = infer_dropout, .routine = routine_dropout, .random = true};

}  // namespace tvc::ops
