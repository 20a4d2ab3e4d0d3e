// SPDX-License-Identifier: Apache-2.0
// ai.onnx.ml: LabelEncoder, ArrayFeatureExtractor, Binarizer.
#include <algorithm>
#include <numeric>

#include "ops/op_def.h"

namespace tvc::ops {
namespace {

using Values = Result<std::vector<ir::ValueId>>;

ir::Tensor strings_of(std::vector<std::string> values) {
  ir::Tensor tensor;
  tensor.dtype = DType::kString;
  tensor.dims = {static_cast<int64_t>(values.size())};
  tensor.strings = std::move(values);
  return tensor;
}

// The list that `prefix` names in one of its forms: <prefix>_tensor, _strings, _int64s, _floats.
Result<ir::Tensor> list_of(const ir::Node& node, const std::string& prefix) {
  if (auto it = node.attrs.find(prefix + "_tensor"); it != node.attrs.end())
    if (auto tensor = std::get_if<std::shared_ptr<const ir::Tensor>>(&it->second)) return ir::Tensor(**tensor);
  if (node.has(prefix + "_strings")) return strings_of(node.strings(prefix + "_strings"));
  if (auto ints = node.ints(prefix + "_int64s"); node.has(prefix + "_int64s"))
    return ir::make_i64({static_cast<int64_t>(ints.size())}, ints);
  if (auto floats = node.floats(prefix + "_floats"); node.has(prefix + "_floats"))
    return ir::from_f64(DType::kF32, {static_cast<int64_t>(floats.size())}, floats);
  return bad_input("it has no {}", prefix);
}

Result<ir::Tensor> default_of(const ir::Node& node, DType dtype) {
  if (auto it = node.attrs.find("default_tensor"); it != node.attrs.end())
    if (auto tensor = std::get_if<std::shared_ptr<const ir::Tensor>>(&it->second)) {
      if ((*tensor)->dtype != dtype || (*tensor)->count() != 1) return bad_input("default_tensor is not one value");
      return ir::Tensor(**tensor);
    }
  if (dtype == DType::kString) return strings_of({node.s("default_string", "_Unused")});
  if (dtype == DType::kI64) return ir::make_i64({1}, {node.i("default_int64", -1)});
  if (ir::is_float(dtype)) return ir::from_f64(dtype, {1}, {node.f("default_float", -0.0)});
  return bad_input("it has no default of type {}", ir::name(dtype));
}

Result<void> infer_label_encoder(InferContext& c) {
  TVC_TRY(auto values, list_of(c.node(), "values"));
  c.set(0, values.dtype, c.shape(0));
  return {};
}

ir::Tensor taken(const ir::Tensor& from, const std::vector<size_t>& order) {
  ir::Tensor out;
  if (from.dtype == DType::kString) {
    out = strings_of(std::vector<std::string>(order.size()));
    for (size_t k = 0; k < order.size(); ++k) out.strings[k] = from.strings[order[k]];
    return out;
  }
  std::span<std::byte> bytes;
  out = ir::make_tensor(from.dtype, {static_cast<int64_t>(order.size())}, &bytes);
  const auto width = static_cast<size_t>(ir::bit_width(from.dtype)) / 8;
  for (size_t k = 0; k < order.size(); ++k)
    std::copy_n(from.bytes.data() + order[k] * width, width, bytes.data() + k * width);
  return out;
}

// The order in which the keys rise; of equal keys the first counts.
std::vector<size_t> rising(const ir::Tensor& keys) {
  std::vector<size_t> order(static_cast<size_t>(keys.count()));
  std::iota(order.begin(), order.end(), size_t{0});
  if (keys.dtype == DType::kString) {
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys.strings[a] < keys.strings[b]; });
  } else if (ir::is_float(keys.dtype)) {
    auto numbers = ir::to_f64(keys);
    auto before = [&](size_t a, size_t b) {  // NaN stands last
      return numbers[b] != numbers[b] ? numbers[a] == numbers[a] : numbers[a] < numbers[b];
    };
    std::stable_sort(order.begin(), order.end(), before);
  } else {
    auto numbers = ir::to_i64(keys);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  }
  return order;
}

// The mapping as operands, sorted by key: what the routine searches.
Values decompose_label_encoder(DecomposeContext& c) {
  TVC_TRY(auto keys, list_of(c.node(), "keys"));
  TVC_TRY(auto values, list_of(c.node(), "values"));
  TVC_TRY(auto otherwise, default_of(c.node(), values.dtype));
  if (keys.count() != values.count()) return bad_input("{} keys have {} values", keys.count(), values.count());
  if (keys.dtype != c.dtype(0)) return bad_input("the keys' type is not the operand's");
  if (values.dtype != DType::kString && ir::bit_width(values.dtype) < 8)
    return unsupported("values of type {} are not supported", ir::name(values.dtype));
  const auto order = rising(keys);
  TVC_TRY(auto y, c.add("tvc.LabelEncoder", {c.in(0), c.constant(taken(keys, order)), c.constant(taken(values, order)),
                                             c.constant(std::move(otherwise))}));
  return std::vector<ir::ValueId>{y};
}

Result<void> infer_lookup(InferContext& c) {
  c.set(0, c.dtype(2), c.shape(0));
  return {};
}
Result<RoutineCall> routine_lookup(const NodeView&) {
  return RoutineCall{"tvrt_op_LabelEncoder", "LabelEncoder.c", {}, {}, {}};
}

// Columns of the last axis, as [N, number of indices].
Result<void> infer_extractor(InferContext& c) {
  if (c.rank(0) < 1) return bad_input("the operand has rank 0");
  Shape shape = c.shape(0);
  shape.back() = ir::product(c.shape(1));
  if (shape.size() == 1) shape.insert(shape.begin(), Dim(1));
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}
Values decompose_extractor(DecomposeContext& c) {
  ir::ValueId x = c.in(0);
  TVC_TRY(auto indices, c.add("Reshape", {c.in(1), c.ints({-1})}));
  if (c.rank(0) == 1) {
    TVC_TRY(x, c.add("Unsqueeze", {x, c.ints({0})}));
  }
  TVC_TRY(auto y, c.add("Gather", {x, indices}, {{"axis", int64_t{-1}}}));
  return std::vector<ir::ValueId>{y};
}

Values decompose_binarizer(DecomposeContext& c) {
  TVC_TRY(auto above, c.add("Greater", {c.in(0), c.scalar(c.dtype(0), c.f("threshold", 0))}));
  TVC_TRY(auto y, c.add("Cast", {above}, {{"to", static_cast<int64_t>(c.dtype(0))}}));
  return std::vector<ir::ValueId>{y};
}

}  // namespace

TVC_DEFINE_OP(kMlLabelEncoder) = {
    .name = "ai.onnx.ml.LabelEncoder", .infer = infer_label_encoder, .decompose = decompose_label_encoder};
TVC_DEFINE_OP(kLabelEncoder) = {.name = "tvc.LabelEncoder", .infer = infer_lookup, .routine = routine_lookup};
TVC_DEFINE_OP(kMlArrayFeatureExtractor) = {
    .name = "ai.onnx.ml.ArrayFeatureExtractor", .infer = infer_extractor, .decompose = decompose_extractor};
TVC_DEFINE_OP(kMlBinarizer) = {
    .name = "ai.onnx.ml.Binarizer", .infer = infer_same_as_input, .decompose = decompose_binarizer};

}  // namespace tvc::ops
