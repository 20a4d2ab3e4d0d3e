// SPDX-License-Identifier: Apache-2.0
// QLinearMatMul, QLinearConv: y = saturate(round(s * sum of (a - za) (b - zb)) + zy), s = sa sb / sy. The integers are
// summed as floats, exactly up to 2^24, so that the kernels for floats serve; the bias of QLinearConv is in units of
// sa sb.
#include <algorithm>

#include "ops/products.h"

namespace tvc::ops {
namespace {

using Values = Result<std::vector<ir::ValueId>>;
constexpr auto kFloat = static_cast<int64_t>(DType::kF32);

struct Operand {
  size_t value, scale, zero;
};
constexpr Operand kA = {0, 1, 2}, kB = {3, 4, 5};
constexpr size_t kScale = 6, kZero = 7;

// A scale or zero point of one element, or of one for each place along axis `axis` of `rank`, so that it broadcasts.
Result<ir::ValueId> spread(DecomposeContext& c, ir::ValueId x, int64_t rank, int64_t axis) {
  const ir::Type& type = c.module().value(x).type;
  if (type.rank() != 1) return x;
  if (type.shape[0].is(1)) return c.add("Squeeze", {x, c.ints({0})});
  std::vector<int64_t> sizes(static_cast<size_t>(rank), 1);
  sizes[static_cast<size_t>(axis)] = -1;
  return c.add("Reshape", {x, c.ints(sizes)});
}

// The operand less its zero point, as f32.
Result<ir::ValueId> centred(DecomposeContext& c, const Operand& operand, int64_t axis) {
  TVC_TRY(auto x, c.add("Cast", {c.in(operand.value)}, {{"to", kFloat}}));
  TVC_TRY(auto zero, c.add("Cast", {c.in(operand.zero)}, {{"to", kFloat}}));
  const int64_t rank = c.rank(operand.value);
  TVC_TRY(zero, spread(c, zero, rank, axis));
  return c.add("Sub", {x, zero});
}

// `axis`: of a result of rank `rank`, along which a scale of `operand` may differ.
Result<ir::ValueId> scale_of(DecomposeContext& c, size_t operand, int64_t rank, int64_t axis) {
  TVC_TRY(auto scale, c.add("Cast", {c.in(operand)}, {{"to", kFloat}}));
  return spread(c, scale, rank, axis);
}

struct Places {
  int64_t a, b, y;  // axes of the result along which the operands' scales differ
};

// sum * sa sb / sy, rounded, plus zy.
Values requantized(DecomposeContext& c, ir::ValueId sum, const Places& places) {
  const int64_t rank = c.out_type(0).rank();
  TVC_TRY(auto a, scale_of(c, kA.scale, rank, places.a));
  TVC_TRY(auto b, scale_of(c, kB.scale, rank, places.b));
  TVC_TRY(auto y, scale_of(c, kScale, rank, places.y));
  TVC_TRY(auto product, c.add("Mul", {a, b}));
  TVC_TRY(auto factor, c.add("Div", {product, y}));
  TVC_TRY(auto scaled, c.add("Mul", {sum, factor}));
  std::vector<ir::ValueId> inputs = {scaled, c.scalar(DType::kF32, 1), c.in(kZero)};
  std::map<std::string, ir::Attr, std::less<>> attrs;
  if (!c.shape(kZero).empty()) {
    TVC_TRY(inputs[2], spread(c, inputs[2], 1, 0));
    const ir::Type& zero = c.module().value(inputs[2]).type;
    if (zero.rank() > 1) return unsupported("a zero point of the result of rank {} is not supported", zero.rank());
    if (zero.rank() == 1) {
      TVC_TRY(auto shape, c.add("Shape", {inputs[2]}));
      TVC_TRY(inputs[1], c.add("Expand", {inputs[1], shape}));
      attrs["axis"] = places.y;
    }
  }
  TVC_TRY(auto result, c.add("QuantizeLinear", inputs, std::move(attrs)));
  return std::vector<ir::ValueId>{result};
}

Result<void> check_operands(const NodeView& v) {
  for (size_t k = 0; k < 8; ++k)
    if (!v.has_input(k)) return bad_input("operand {} is missing", k);
  return {};
}

Result<void> infer_matmul(InferContext& c) {
  TVC_CHECK_OK(check_operands(c));
  return infer_product(c, c.dtype(kZero), kB.value);
}
Result<void> infer_conv(InferContext& c) {
  TVC_CHECK_OK(check_operands(c));
  return infer_convolution(c, c.dtype(kZero), kB.value);
}

Values decompose_matmul(DecomposeContext& c) {
  const int64_t rank = c.out_type(0).rank();
  TVC_TRY(auto a, centred(c, kA, std::max(c.rank(0) - 2, 0)));
  TVC_TRY(auto b, centred(c, kB, c.rank(3) - 1));
  TVC_TRY(auto sum, c.add("MatMul", {a, b}));
  const int64_t row = std::max<int64_t>(rank - 2, 0), column = std::max<int64_t>(rank - 1, 0);
  return requantized(c, sum, {row, column, row});
}

Values decompose_conv(DecomposeContext& c) {
  TVC_TRY(auto x, centred(c, kA, 1));
  TVC_TRY(auto w, centred(c, kB, 0));
  std::vector<ir::ValueId> inputs = {x, w};
  if (c.has_input(8)) {
    TVC_TRY(auto bias, c.add("Cast", {c.in(8)}, {{"to", kFloat}}));
    inputs.push_back(bias);
  }
  TVC_TRY(auto sum, c.add("Conv", inputs, c.node().attrs));
  return requantized(c, sum, {1, 1, 1});
}

}  // namespace

// Products are summed in f32: by one step of the result where a sum lies between two.
TVC_DEFINE_OP(kQLinearMatMul) = {.name = "QLinearMatMul",
                                 .infer = infer_matmul,
                                 .decompose = decompose_matmul,
                                 .samples = {"u8[2,3,5], f32[], u8[], i8[5,4], f32[4], i8[4], f32[], i8[]",
                                             "i8[3,5], f32[3], i8[3], i8[5,2], f16[], i8[], f16[], u8[]"}};
TVC_DEFINE_OP(kQLinearConv) = {
    .name = "QLinearConv",
    .infer = infer_conv,
    .decompose = decompose_conv,
    .samples = {"u8[1,2,5,5], f32[], u8[], u8[3,2,3,3], f32[3], u8[3], f32[], u8[], i32[3] | pads=[1,1,1,1]",
                "i8[2,4,6], f32[], i8[], i8[2,2,3], f32[], i8[], f32[1], i8[1] | group=2 strides=[2]"}};

}  // namespace tvc::ops
