// SPDX-License-Identifier: Apache-2.0
#include "runtime/planner.h"

#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <vector>

namespace {

struct Problem {
  std::vector<int64_t> bytes;
  std::vector<int32_t> first, last;
  void add(int64_t size, int32_t from, int32_t to) {
    bytes.push_back(size);
    first.push_back(from);
    last.push_back(to);
  }
  int32_t count() const { return static_cast<int32_t>(bytes.size()); }
  int64_t plan(std::vector<int64_t>& offsets) const {
    offsets.assign(bytes.size() + 1, -1);
    return tvrt::plan(count(), bytes.data(), first.data(), last.data(), offsets.data());
  }
  int64_t bound() const { return tvrt::largest_live_set(count(), bytes.data(), first.data(), last.data()); }
};

bool is_valid(const Problem& p, const std::vector<int64_t>& offsets, int64_t total) {
  for (size_t i = 0; i < p.bytes.size(); ++i) {
    if (offsets[i] < 0 || offsets[i] % 64 != 0 || offsets[i] + p.bytes[i] > total) return false;
    for (size_t j = 0; j < i; ++j) {
      bool meet = p.first[i] <= p.last[j] && p.first[j] <= p.last[i];
      bool apart = offsets[i] + p.bytes[i] <= offsets[j] || offsets[j] + p.bytes[j] <= offsets[i];
      if (meet && !apart && p.bytes[i] > 0 && p.bytes[j] > 0) return false;
    }
  }
  return true;
}

// A network: each layer reads the one before it, some are read again much later.
Problem network(uint32_t seed, int layers) {
  std::mt19937 random(seed);
  Problem p;
  for (int k = 0; k < layers; ++k) {
    int64_t size = static_cast<int64_t>(random() % 64 + 1) << (random() % 12 + 4);
    int life = random() % 8 == 0 ? static_cast<int>(random() % 40) : 2;
    p.add(size, 2 * k, std::min(2 * (k + life), 2 * layers));
    if (random() % 4 == 0) p.add(static_cast<int64_t>(random() % 100000), 2 * k, 2 * k);
  }
  return p;
}

}  // namespace

TEST_CASE("a plan keeps what lives together apart, near the largest live set") {
  std::vector<int64_t> offsets;
  double sum = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Problem p = network(seed, seed % 3 == 0 ? 20 : 200);
    int64_t total = p.plan(offsets), bound = p.bound();
    CHECK(is_valid(p, offsets, total));
    CHECK(total >= bound);
    double ratio = static_cast<double>(total) / static_cast<double>(bound);
    CHECK(ratio <= 1.10);
    sum += ratio;
  }
  CHECK(sum / 60 <= 1.02);
}

TEST_CASE("small plans are exact") {
  std::vector<int64_t> offsets;
  Problem chain;
  for (int k = 0; k < 10; ++k) chain.add(100, k, k + 1);
  CHECK(chain.plan(offsets) == 256);
  Problem together;
  for (int k = 0; k < 5; ++k) together.add(64 * (k + 1), 0, 9);
  CHECK(together.plan(offsets) == 64 * 15);
  Problem empty;
  CHECK(empty.plan(offsets) == 0);
  Problem zero;
  zero.add(0, 0, 1);
  CHECK(zero.plan(offsets) == 0);
  CHECK(offsets[0] == 0);
}

TEST_CASE("impossible sizes are refused") {
  std::vector<int64_t> offsets;
  for (int64_t size : {int64_t{-1}, INT64_MIN, INT64_MAX, INT64_MAX - 62}) {
    Problem p;
    p.add(64, 0, 1);
    p.add(size, 0, 1);
    CHECK(p.plan(offsets) < 0);
  }
  Problem sum;
  for (int k = 0; k < 3; ++k) sum.add(INT64_MAX / 2, k, k);
  CHECK(sum.plan(offsets) < 0);
  CHECK(tvrt::plan(-1, nullptr, nullptr, nullptr, nullptr) < 0);
}

TEST_CASE("a plan of many buffers is quick") {
  std::vector<int64_t> offsets;
  for (auto [layers, limit_ms] : {std::pair{400, 60}, {2400, 1000}}) {  // limits for sanitizers; see docs for figures
    Problem p = network(7, layers);
    auto begin = std::chrono::steady_clock::now();
    int64_t total = p.plan(offsets);
    double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    MESSAGE(p.count(), " buffers: ", ms, " ms, ", static_cast<double>(total) / static_cast<double>(p.bound()));
    CHECK(ms < limit_ms);
  }
}
