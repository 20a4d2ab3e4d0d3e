// SPDX-License-Identifier: Apache-2.0
// StringConcat, StringSplit, StringNormalizer, RegexFullMatch.
#include "ops/op_def.h"
#include "ops/posix_regex.h"

namespace tvc::ops {
namespace {

RoutineCall call(std::string name, std::vector<int64_t> ints, std::vector<std::string> strings) {
  return {"tvrt_op_" + std::move(name), "String.c", std::move(ints), {}, std::move(strings)};
}

Result<RoutineCall> routine_concat(const NodeView&) { return call("StringConcat", {}, {}); }

Result<void> infer_split(InferContext& c) {
  Shape shape = c.shape(0);
  shape.push_back(c.fresh(0, c.rank(0)));
  c.set(0, DType::kString, std::move(shape));
  c.set(1, DType::kI64, c.shape(0));
  return {};
}
Result<RoutineCall> routine_split(const NodeView& v) {
  return call("StringSplit", {v.i("maxsplit", -1)}, {v.s("delimiter", "")});
}

Result<void> infer_normalizer(InferContext& c) {
  const int rank = c.rank(0);
  if (rank != 1 && !(rank == 2 && c.shape(0)[0].is(1))) return bad_input("the shape is neither [C] nor [1, C]");
  Shape shape = c.shape(0);
  shape[static_cast<size_t>(rank - 1)] = c.fresh(0, rank - 1);
  c.set(0, DType::kString, std::move(shape));
  return {};
}
Result<RoutineCall> routine_normalizer(const NodeView& v) {
  const std::string change = v.s("case_change_action", "NONE");
  const int64_t action = change == "NONE" ? 0 : change == "LOWER" ? 1 : change == "UPPER" ? 2 : -1;
  if (action < 0) return bad_input("case_change_action {} is not known", change);
  auto words = v.node().strings("stopwords");
  const bool sensitive = v.i("is_case_sensitive", 0) != 0;
  for (auto& word : words) {
    if (sensitive) break;
    for (char& c : word) {
      if (static_cast<unsigned char>(c) >= 0x80)
        return unsupported("stop words outside of ASCII are not supported without case");
      c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
  }
  return call("StringNormalizer", {action, sensitive}, std::move(words));
}

Result<void> infer_regex(InferContext& c) {
  c.set(0, DType::kBool, c.shape(0));
  return {};
}
Result<RoutineCall> routine_regex(const NodeView& v) {
  TVC_TRY(PosixRegex regex, to_posix_regex(v.s("pattern", "")));
  return RoutineCall{"tvrt_op_RegexFullMatch", "RegexFullMatch.c", {regex.ascii_only}, {}, {std::move(regex.pattern)}};
}

}  // namespace

TVC_DEFINE_OP(kRegexFullMatch) = {.name = "RegexFullMatch", .infer = infer_regex, .routine = routine_regex};
TVC_DEFINE_OP(kStringConcat) = {.name = "StringConcat", .infer = infer_broadcast, .routine = routine_concat};
TVC_DEFINE_OP(kStringNormalizer) = {
    .name = "StringNormalizer", .infer = infer_normalizer, .routine = routine_normalizer};
TVC_DEFINE_OP(kStringSplit) = {.name = "StringSplit", .infer = infer_split, .routine = routine_split};

}  // namespace tvc::ops
