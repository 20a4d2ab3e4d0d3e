// SPDX-License-Identifier: Apache-2.0
#include "runtime/values.h"

#include <string.h>

namespace tvrt {
namespace {

struct DTypeRow {
  const char* name;
  int32_t bits;
};
// By ONNX's number.
const DTypeRow kDTypes[] = {
    {"undefined", 0},  {"f32", 32},   {"u8", 8},         {"i8", 8},     {"u16", 16},  {"i16", 16},
    {"i32", 32},       {"i64", 64},   {"str", 128},      {"bool", 8},   {"f16", 16},  {"f64", 64},
    {"u32", 32},       {"u64", 64},   {"c64", 64},       {"c128", 128}, {"bf16", 16}, {"f8e4m3fn", 8},
    {"f8e4m3fnuz", 8}, {"f8e5m2", 8}, {"f8e5m2fnuz", 8}, {"u4", 4},     {"i4", 4},    {"f4e2m1", 4},
    {"f8e8m0", 8},     {"u2", 2},     {"i2", 2},
};
constexpr int32_t kDTypeCount = static_cast<int32_t>(sizeof kDTypes / sizeof kDTypes[0]);

const char* dtype_name(int32_t dtype) { return dtype > 0 && dtype < kDTypeCount ? kDTypes[dtype].name : "?"; }

class TextBuilder {
 public:
  explicit TextBuilder(TypeText& out) : out_(out) { out_.text[0] = 0; }
  __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
    va_list args;
    va_start(args, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is started one line above
    int n = vsnprintf(out_.text + used_, sizeof out_.text - used_, format, args);
    va_end(args);
    size_t left = sizeof out_.text - 1 - used_;
    if (n > 0) used_ += static_cast<size_t>(n) < left ? static_cast<size_t>(n) : left;
  }

 private:
  TypeText& out_;
  size_t used_ = 0;
};

int32_t refuse(const ValueSpec& spec, const tvrt_value& value, Message& message) {
  return message.set(TVRT_BAD_ARGUMENT, "input '%.64s' takes %s, got %s", spec.info.name, describe(spec).text,
                     describe(value).text);
}

// A tensor's own consistency: type, rank, dims, size of its buffer.
int32_t check_tensor(const char* name, const tvrt_value& value, Message& message) {
  if (element_bits(value.dtype) == 0 || value.rank < 0 || value.rank > TVRT_MAX_RANK)
    return message.set(TVRT_BAD_ARGUMENT, "input '%.64s': no such type or rank: %d, %d", name, value.dtype, value.rank);
  int64_t bytes = tensor_bytes(value.dtype, value.rank, value.dims);
  if (bytes < 0)
    return message.set(TVRT_BAD_ARGUMENT, "input '%.64s': impossible sizes: %s", name, describe(value).text);
  if (value.bytes < bytes || (bytes > 0 && !value.data))
    return message.set(TVRT_BAD_ARGUMENT, "input '%.64s': %s needs %lld bytes, the buffer has %lld", name,
                       describe(value).text, static_cast<long long>(bytes),
                       static_cast<long long>(value.data ? value.bytes : 0));
  return TVRT_OK;
}

int32_t check_items(const ValueSpec& spec, const tvrt_value& value, Message& message) {
  if (value.count < 0 || (value.count > 0 && !value.items)) return refuse(spec, value, message);
  for (int64_t k = 0; k < value.count && !spec.holds_sequences; ++k) {
    const tvrt_value& item = value.items[k];
    if (item.kind != TVRT_KIND_TENSOR || item.dtype != spec.info.dtype)
      return message.set(TVRT_BAD_ARGUMENT, "input '%.64s' takes %s, item %lld is %s", spec.info.name,
                         describe(spec).text, static_cast<long long>(k), describe(item).text);
    if (int32_t status = check_tensor(spec.info.name, item, message)) return status;
  }
  return TVRT_OK;
}

}  // namespace

int32_t element_bits(int32_t dtype) { return dtype > 0 && dtype < kDTypeCount ? kDTypes[dtype].bits : 0; }

int64_t tensor_bytes(int32_t dtype, int32_t rank, const int64_t* dims) {
  int64_t bits = element_bits(dtype);
  bool empty = false;
  for (int32_t k = 0; k < rank; ++k) {
    if (dims[k] < 0) return -1;
    empty = empty || dims[k] == 0;
  }
  for (int32_t k = 0; k < rank && !empty; ++k)
    if (__builtin_mul_overflow(bits, dims[k], &bits)) return -1;
  if (empty) return 0;
  return bits / 8 + (bits % 8 != 0);
}

TypeText describe(const ValueSpec& spec) {
  TypeText out;
  TextBuilder text(out);
  if (spec.info.flags & TVRT_INFO_OPTIONAL) text.add("optional ");
  if (spec.info.kind == TVRT_KIND_SEQUENCE) {
    text.add("sequence of %s", dtype_name(spec.info.dtype));
    return out;
  }
  text.add("%s", dtype_name(spec.info.dtype));
  if (spec.info.rank < 0) return out;
  text.add("[");
  for (int32_t k = 0; k < spec.info.rank; ++k) {
    const char* comma = k ? ", " : "";
    if (spec.dims[k].constant >= 0) text.add("%s%lld", comma, static_cast<long long>(spec.dims[k].constant));
    else text.add("%s%s", comma, spec.dim_names[k] ? spec.dim_names[k] : "?");
  }
  text.add("]");
  return out;
}

TypeText describe(const tvrt_value& value) {
  TypeText out;
  TextBuilder text(out);
  if (value.kind == TVRT_KIND_NONE) {
    text.add("nothing");
  } else if (value.kind == TVRT_KIND_SEQUENCE) {
    text.add("sequence of %s", dtype_name(value.dtype));
  } else {
    text.add("%s[", dtype_name(value.dtype));
    for (int32_t k = 0; k < value.rank && k < TVRT_MAX_RANK; ++k)
      text.add("%s%lld", k ? ", " : "", static_cast<long long>(value.dims[k]));
    text.add("]");
  }
  return out;
}

int32_t check_value(const ValueSpec& spec, const tvrt_value& value, Message& message) {
  if (value.kind == TVRT_KIND_NONE && (spec.info.flags & TVRT_INFO_OPTIONAL)) return TVRT_OK;
  if (value.kind != spec.info.kind) return refuse(spec, value, message);
  if (value.kind == TVRT_KIND_SEQUENCE) return check_items(spec, value, message);
  if (value.dtype != spec.info.dtype) return refuse(spec, value, message);
  // What an optional holds has no declared shape.
  if (!(spec.info.flags & TVRT_INFO_OPTIONAL)) {
    if (value.rank != spec.info.rank) return refuse(spec, value, message);
    for (int32_t k = 0; k < spec.info.rank; ++k)
      if (spec.dims[k].constant >= 0 && spec.dims[k].constant != value.dims[k]) return refuse(spec, value, message);
  }
  return check_tensor(spec.info.name, value, message);
}

namespace {

using artifact::DimOp;

bool floor_divide(int64_t a, int64_t b, int64_t* q) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) return false;
  *q = a / b - (a % b != 0 && (a < 0) != (b < 0));
  return true;
}

bool apply(DimOp op, int64_t a, int64_t b, int64_t* out) {
  switch (op) {
    case DimOp::add: return !__builtin_add_overflow(a, b, out);
    case DimOp::multiply: return !__builtin_mul_overflow(a, b, out);
    case DimOp::floor_divide: return floor_divide(a, b, out);
    case DimOp::modulo:
      if (!floor_divide(a, b, out)) return false;
      *out = a - *out * b;
      return true;
    case DimOp::minimum: *out = a < b ? a : b; return true;
    case DimOp::maximum: *out = a > b ? a : b; return true;
    case DimOp::broadcast: *out = a == 1 ? b : a; return true;
    default: return false;
  }
}

}  // namespace

bool evaluate(const flatbuffers::Vector<int64_t>& code, const int64_t* symbols, int32_t symbol_count, int64_t* value) {
  int64_t stack[64] = {};
  uint32_t depth = 0;
  for (uint32_t k = 0; k < code.size(); ++k) {
    auto op = static_cast<DimOp>(code[k]);
    if (op == DimOp::constant || op == DimOp::symbol) {
      if (++k >= code.size() || depth == 64) return false;
      int64_t operand = code[k];
      if (op == DimOp::symbol) {
        if (operand < 0 || operand >= symbol_count) return false;
        operand = symbols[operand];
      }
      stack[depth++] = operand;
    } else if (op == DimOp::if_equal || op == DimOp::if_less) {
      if (depth < 4) return false;
      depth -= 3;
      int64_t* at = stack + depth - 1;
      bool holds = op == DimOp::if_equal ? at[0] == at[1] : at[0] < at[1];
      at[0] = holds ? at[2] : at[3];
    } else {
      if (depth < 2) return false;
      --depth;
      if (!apply(op, stack[depth - 1], stack[depth], &stack[depth - 1])) return false;
    }
  }
  if (depth != 1) return false;
  *value = stack[0];
  return true;
}

}  // namespace tvrt
