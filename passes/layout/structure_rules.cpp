// SPDX-License-Identifier: Apache-2.0
// Element-wise operators, joins, cuts and resizing in the blocked layout: the ONNX operators themselves on rank 5.
#include <algorithm>
#include <array>

#include "passes/layout/rules.h"

namespace tvc::passes::layout {
namespace {

// With channels that do not fill the last block, its padding goes through the operator too; these keep 0 finite there.
constexpr std::array kFiniteOnPadding = {
    "Abs",   "Add",      "Clip", "Elu", "Erf",  "Gelu",  "HardSigmoid", "HardSwish",       "LeakyRelu",
    "Max",   "Min",      "Mish", "Mul", "Neg",  "PRelu", "Relu",        "Sigmoid",         "Selu",
    "Celu",  "Softplus", "Sub",  "Sum", "Tanh", "Sin",   "Cos",         "ThresholdedRelu", "Softsign",
    "Swish", "Sqrt",     "Div"};

// Division by a constant keeps padding finite, as its padding is 1; by anything else it may not.
bool is_finite_on_padding(const ops::NodeView& view) {
  const std::string& op = view.node().op;
  if (std::find(kFiniteOnPadding.begin(), kFiniteOnPadding.end(), op) == kFiniteOnPadding.end()) return false;
  return op != "Div" || view.constant(1) != nullptr;
}

int64_t lifted_axis(int64_t axis, int rank) {
  if (axis < 0) axis += rank;
  return rank == 3 && axis == 2 ? 3 : axis;
}

bool all_f32(const ops::NodeView& view) {
  for (size_t k = 0; k < view.input_count(); ++k)
    if (view.has_input(k) && view.dtype(k) != ir::DType::kF32) return false;
  return view.out_type(0).dtype == ir::DType::kF32;
}

}  // namespace

Result<bool> block_elementwise(Twins& twins, ir::NodeId id) {
  ir::Module& module = twins.module();
  ops::NodeView view(module, id);
  if (view.output_count() != 1 || !has_planar_form(view.out_type(0)) || !all_f32(view)) return false;
  if (!is_aligned(view.out_type(0)) && !is_finite_on_padding(view)) return false;
  const auto planar = view.node().inputs;
  const ir::Shape shape = view.out_type(0).shape;
  const int rank = view.out_type(0).rank();
  bool follows = false;  // height and width may be broadcast, as free sizes can look
  for (ir::ValueId input : planar)
    follows |= input != ir::kNone && twins.find(input) != ir::kNone && module.value(input).type.rank() == rank &&
               module.value(input).type.shape[1] == shape[1];
  if (!follows) return false;
  const double padding = view.node().op == "Div" ? 1.0 : 0.0;
  std::vector<ir::ValueId> inputs;
  for (ir::ValueId input : planar) {
    ir::ValueId blocked = ir::kNone;
    if (input != ir::kNone) {
      TVC_TRY(blocked, twins.operand(input, id, padding));
      if (blocked == ir::kNone) return false;
    }
    inputs.push_back(blocked);
  }
  TVC_TRY(ir::ValueId y,
          ops::DecomposeContext(module, id).add(module.node(id).op, std::move(inputs), module.node(id).attrs));
  TVC_CHECK_OK(twins.replace(id, 0, y));
  return true;
}

Result<bool> block_concat(Twins& twins, ir::NodeId id) {
  ir::Module& module = twins.module();
  ops::NodeView view(module, id);
  if (!has_planar_form(view.out_type(0))) return false;
  const int rank = view.out_type(0).rank();
  const int64_t axis = lifted_axis(view.i("axis", 0), rank);
  const auto planar = view.node().inputs;
  std::vector<ir::ValueId> inputs;
  for (size_t k = 0; k < planar.size(); ++k) {
    inputs.push_back(twins.find(planar[k]));
    if (inputs.back() == ir::kNone) return false;
    if (axis == 1 && k + 1 < planar.size() && !is_aligned(view.type(k))) return false;
  }
  TVC_TRY(ir::ValueId y, ops::DecomposeContext(module, id).add("Concat", std::move(inputs), {{"axis", axis}}));
  TVC_CHECK_OK(twins.replace(id, 0, y));
  return true;
}

Result<bool> block_split(Twins& twins, ir::NodeId id) {
  ir::Module& module = twins.module();
  ops::NodeView view(module, id);
  ir::ValueId x = twins.find(view.node().inputs[0]);
  if (x == ir::kNone || lifted_axis(view.i("axis", 0), view.rank(0)) != 1) return false;
  std::vector<int64_t> blocks;
  for (size_t k = 0; k < view.output_count(); ++k) {
    if (!view.has_output(k) || !has_planar_form(view.out_type(k))) return false;
    if (k + 1 < view.output_count() && !is_aligned(view.out_type(k))) return false;
    blocks.push_back((channels_of(view.out_type(k)) + kBlock - 1) / kBlock);
  }
  ops::DecomposeContext builder(module, id);
  const size_t count = blocks.size();
  TVC_TRY(auto parts, builder.add_multi("Split", {x, builder.ints(blocks)}, {{"axis", int64_t{1}}}, count));
  for (size_t k = 0; k < count; ++k) TVC_CHECK_OK(twins.replace(id, k, parts[k]));
  return true;
}

Result<bool> block_slice(Twins& twins, ir::NodeId id) {
  ir::Module& module = twins.module();
  ops::NodeView view(module, id);
  ir::ValueId x = twins.find(view.node().inputs[0]);
  if (x == ir::kNone || !has_planar_form(view.out_type(0))) return false;
  auto starts = view.constant_ints(1), ends = view.constant_ints(2);
  auto axes = view.has_input(3) ? view.constant_ints(3) : std::nullopt;
  auto steps =
      view.has_input(4) ? view.constant_ints(4) : std::optional(std::vector<int64_t>(starts ? starts->size() : 0, 1));
  if (!starts || !ends || !axes || !steps) return false;
  const int64_t channels = channels_of(view.type(0));
  for (size_t k = 0; k < axes->size(); ++k) {
    (*axes)[k] = lifted_axis((*axes)[k], view.rank(0));
    if ((*axes)[k] != 1) continue;
    if ((*steps)[k] != 1 || (*starts)[k] < 0 || (*starts)[k] % kBlock != 0) return false;
    int64_t end = std::min((*ends)[k] < 0 ? (*ends)[k] + channels : (*ends)[k], channels);
    if (end % kBlock != 0 && end != channels) return false;
    (*starts)[k] /= kBlock;
    (*ends)[k] = (end + kBlock - 1) / kBlock;
  }
  ops::DecomposeContext builder(module, id);
  TVC_TRY(ir::ValueId y, builder.add("Slice", {x, builder.ints(*starts), builder.ints(*ends), builder.ints(*axes),
                                               builder.ints(*steps)}));
  TVC_CHECK_OK(twins.replace(id, 0, y));
  return true;
}

// Resize of height and width only; sizes or scales are cut down to these two axes.
Result<bool> block_resize(Twins& twins, ir::NodeId id) {
  ir::Module& module = twins.module();
  ops::NodeView view(module, id);
  ir::ValueId x = twins.find(view.node().inputs[0]);
  const ir::Node node = view.node();
  const bool region = view.has_input(1) && (view.constant(1) == nullptr || view.constant(1)->count() != 0);
  if (x == ir::kNone || view.rank(0) != 4 || !has_planar_form(view.out_type(0)) || region || node.has("axes"))
    return false;
  const ir::Shape &from = view.shape(0), &to = view.out_type(0).shape;
  if (from[0] != to[0] || from[1] != to[1] || node.s("keep_aspect_ratio_policy", "stretch") != "stretch") return false;
  ops::DecomposeContext builder(module, id);
  ir::ValueId scales = ir::kNone, sizes = ir::kNone;
  if (view.has_input(2) && (view.constant(2) == nullptr || view.constant(2)->count() != 0)) {
    const ir::Tensor* all = view.constant(2);
    if (all == nullptr || all->count() != 4) return false;
    auto values = ir::to_f64(*all);
    scales = builder.constant(ir::from_f64(ir::DType::kF32, {2}, {values[2], values[3]}));
  } else {
    TVC_TRY(sizes, builder.add("Slice", {node.inputs[3], builder.ints({2}), builder.ints({4}), builder.ints({0}),
                                         builder.ints({1})}));
  }
  auto attrs = node.attrs;
  attrs["axes"] = std::vector<int64_t>{2, 3};
  TVC_TRY(ir::ValueId y, builder.add("Resize", {x, ir::kNone, scales, sizes}, std::move(attrs)));
  TVC_CHECK_OK(twins.replace(id, 0, y));
  return true;
}

}  // namespace tvc::passes::layout
