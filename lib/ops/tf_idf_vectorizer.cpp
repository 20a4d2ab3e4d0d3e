// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer: [C] or [B, C] tokens to [W] or [B, W] counts of the pool's n-grams, weighted or not.
#include <algorithm>

#include "ops/op_def.h"

namespace tvc::ops {
namespace {

struct Grams {
  int64_t shortest, longest, skip, mode, width;
  std::vector<int64_t> counts, columns, numbers;
  std::vector<std::string> texts;
};

Result<int64_t> mode_of(const std::string& name) {
  if (name == "TF") return int64_t{0};
  if (name == "IDF") return int64_t{1};
  if (name == "TFIDF") return int64_t{2};
  return bad_input("mode {} is not known", name);
}

Result<Grams> grams_of(const NodeView& v) {
  Grams g{v.i("min_gram_length", 1), v.i("max_gram_length", 1), v.i("max_skip_count", 0), 0, 0,
          v.ints("ngram_counts"),    v.ints("ngram_indexes"),   v.ints("pool_int64s"),    {}};
  g.texts = v.node().strings("pool_strings");
  TVC_TRY(g.mode, mode_of(v.s("mode", "TF")));
  if (g.shortest < 1 || g.longest < g.shortest || g.skip < 0) return bad_input("the lengths of grams are not in order");
  const auto pool = static_cast<int64_t>(v.dtype(0) == DType::kString ? g.texts.size() : g.numbers.size());
  int64_t grams = 0;
  for (size_t k = 0; k < g.counts.size(); ++k) {
    const int64_t end = k + 1 < g.counts.size() ? g.counts[k + 1] : pool;
    if (g.counts[k] < 0 || end < g.counts[k] || end > pool) return bad_input("ngram_counts does not fit the pool");
    grams += (end - g.counts[k]) / static_cast<int64_t>(k + 1);
  }
  if (static_cast<int64_t>(g.columns.size()) < grams) return bad_input("ngram_indexes is too short");
  for (int64_t column : g.columns) {
    if (column < 0 || column >= INT32_MAX) return bad_input("ngram_indexes holds {}", column);
    g.width = std::max(g.width, column + 1);
  }
  if (g.longest > static_cast<int64_t>(g.counts.size())) return bad_input("ngram_counts is too short");
  return g;
}

Result<void> infer_tf_idf(InferContext& c) {
  TVC_TRY(Grams g, grams_of(c));
  if (c.rank(0) > 2) return bad_input("the tokens have rank {}", c.rank(0));
  Shape shape = {g.width};
  if (c.rank(0) == 2) shape.insert(shape.begin(), c.shape(0)[0]);
  c.set(0, DType::kF32, std::move(shape));
  return {};
}

Result<RoutineCall> routine_tf_idf(const NodeView& v) {
  TVC_TRY(Grams g, grams_of(v));
  RoutineCall call{"tvrt_op_TfIdfVectorizer", "TfIdfVectorizer.c", {}, v.node().floats("weights"), {}};
  const bool strings = v.dtype(0) == DType::kString;
  call.ints = {g.shortest, g.longest, g.skip, g.mode, g.width, strings};
  call.ints.push_back(static_cast<int64_t>(g.counts.size()));
  call.ints.push_back(static_cast<int64_t>(g.columns.size()));
  call.ints.insert(call.ints.end(), g.counts.begin(), g.counts.end());
  call.ints.insert(call.ints.end(), g.columns.begin(), g.columns.end());
  if (strings) call.strings = std::move(g.texts);
  else call.ints.insert(call.ints.end(), g.numbers.begin(), g.numbers.end());
  return call;
}

}  // namespace

TVC_DEFINE_OP(kTfIdfVectorizer) = {.name = "TfIdfVectorizer", .infer = infer_tf_idf, .routine = routine_tf_idf};

}  // namespace tvc::ops
