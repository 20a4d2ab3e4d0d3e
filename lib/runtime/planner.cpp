// SPDX-License-Identifier: Apache-2.0
// Offline interval packing: buffers in a fixed order, each into the smallest gap between those already placed that are
// alive at the same time (best fit). Several orders are tried, largest first being the best of them as a rule; where
// the result is not near the largest live set, a local search over the order of the largest buffers follows. Source of
// the first order: Pisarchyk, Lee, Efficient Memory Management for Deep Neural Net Inference (2020).
#include "runtime/planner.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>

namespace tvrt {
namespace {

struct Buffers {
  int32_t n;
  const int64_t* sizes;  // multiples of 64
  const int32_t *first, *last;

  bool meet(int32_t a, int32_t b) const { return first[a] <= last[b] && first[b] <= last[a]; }
  int64_t steps(int32_t k) const { return int64_t{last[k]} - first[k] + 1; }
};

// One allocation for all that a plan needs.
class Workspace {
 public:
  explicit Workspace(size_t n) : memory_(calloc(n + 1, 3 * sizeof(int64_t) + 3 * sizeof(int32_t))) {
    sizes = static_cast<int64_t*>(memory_);
    if (!memory_) return;
    trial = sizes + n;
    kept = trial + n;
    order = reinterpret_cast<int32_t*>(kept + n);
    best_order = order + n;
    placed = best_order + n;
  }
  ~Workspace() { free(memory_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  bool ok() const { return memory_ != nullptr; }

  int64_t *sizes = nullptr, *trial = nullptr, *kept = nullptr;
  int32_t *order = nullptr, *best_order = nullptr, *placed = nullptr;

 private:
  void* memory_;
};

// Rounds sizes up to 64; false: one is negative or the sum overflows.
bool round_sizes(int32_t n, const int64_t* bytes, int64_t* sizes) {
  int64_t sum = 0;
  for (int32_t k = 0; k < n; ++k) {
    if (bytes[k] < 0 || bytes[k] > INT64_MAX - 63) return false;
    sizes[k] = (bytes[k] + 63) / 64 * 64;
    if (__builtin_add_overflow(sum, sizes[k], &sum)) return false;
  }
  return true;
}

// `by_first` and `by_last` are permutations to be filled.
int64_t live_bound(const Buffers& b, int32_t* by_first, int32_t* by_last) {
  for (int32_t k = 0; k < b.n; ++k) by_first[k] = by_last[k] = k;
  std::sort(by_first, by_first + b.n, [&](int32_t x, int32_t y) { return b.first[x] < b.first[y]; });
  std::sort(by_last, by_last + b.n, [&](int32_t x, int32_t y) { return b.last[x] < b.last[y]; });
  int64_t live = 0, most = 0;
  for (int32_t k = 0, dead = 0; k < b.n; ++k) {
    int32_t i = by_first[k];
    if (b.last[i] < b.first[i]) continue;
    for (; dead < b.n && b.last[by_last[dead]] < b.first[i]; ++dead)
      if (b.last[by_last[dead]] >= b.first[by_last[dead]]) live -= b.sizes[by_last[dead]];
    live += b.sizes[i];
    most = std::max(most, live);
  }
  return most;
}

// Places the buffers in this order; `placed` holds those done, by offset. Gives up once the arena reaches `limit`.
int64_t place(const Buffers& b, const int32_t* order, int32_t* placed, int64_t* offsets, int64_t limit) {
  int64_t total = 0;
  for (int32_t count = 0; count < b.n; ++count) {
    int32_t k = order[count];
    int64_t end = 0, best = -1, best_gap = INT64_MAX;
    for (int32_t p = 0; p < count; ++p) {
      int32_t other = placed[p];
      if (!b.meet(k, other)) continue;
      int64_t gap = offsets[other] - end;
      if (gap >= b.sizes[k] && gap < best_gap) {
        best = end;
        best_gap = gap;
      }
      end = std::max(end, offsets[other] + b.sizes[other]);
    }
    offsets[k] = best < 0 ? end : best;
    total = std::max(total, offsets[k] + b.sizes[k]);
    if (total >= limit) return limit;
    int32_t* at = std::upper_bound(placed, placed + count, offsets[k],
                                   [&](int64_t offset, int32_t other) { return offset < offsets[other]; });
    memmove(at + 1, at, static_cast<size_t>(placed + count - at) * sizeof *at);
    *at = k;
  }
  return total;
}

enum Order { kBySize, kByArea, kByLife, kByStart, kOrders };

void sort_by(Order rule, const Buffers& b, int32_t* order) {
  for (int32_t k = 0; k < b.n; ++k) order[k] = k;
  auto area = [&](int32_t k) { return static_cast<double>(b.sizes[k]) * static_cast<double>(b.steps(k)); };
  std::sort(order, order + b.n, [&](int32_t x, int32_t y) {
    if (rule == kByArea && area(x) != area(y)) return area(x) > area(y);
    if (rule == kByLife && b.steps(x) != b.steps(y)) return b.steps(x) > b.steps(y);
    if (rule == kByStart && b.first[x] != b.first[y]) return b.first[x] < b.first[y];
    if (b.sizes[x] != b.sizes[y]) return b.sizes[x] > b.sizes[y];
    if (b.steps(x) != b.steps(y)) return b.steps(x) > b.steps(y);
    return x < y;
  });
}

class Search {
 public:
  Search(const Buffers& b, Workspace& w, int64_t* offsets) : b_(b), w_(w), offsets_(offsets) {
    bound_ = live_bound(b, w.order, w.placed);
  }

  int64_t run() {
    for (int rule = kBySize; rule < kOrders && !good(best_); ++rule) {
      sort_by(static_cast<Order>(rule), b_, w_.order);
      attempt();
    }
    if (!good(best_)) {
      refine();
      attempt();
    }
    return best_;
  }

 private:
  bool good(int64_t total) const { return total <= bound_ + bound_ / 50; }

  void attempt() {
    int64_t total = place(b_, w_.order, w_.placed, w_.trial, best_);
    if (total >= best_) return;
    best_ = total;
    memcpy(offsets_, w_.trial, static_cast<size_t>(b_.n) * sizeof *offsets_);
  }

  // Improves the order of the largest buffers, which decide; the others fill gaps in the end. In each round one that
  // reaches over the bound moves to an earlier place, both drawn from a fixed sequence.
  void refine() {
    sort_by(kBySize, b_, w_.order);
    Buffers large = b_;
    large.n = std::min(b_.n, kLarge);
    auto bytes = static_cast<size_t>(large.n) * sizeof *w_.order;
    memcpy(w_.best_order, w_.order, bytes);
    int64_t best = place(large, w_.order, w_.placed, w_.kept, INT64_MAX);
    for (int64_t rounds = kComparisons / (int64_t{large.n} * large.n + 100); rounds > 0 && !good(best); --rounds) {
      memcpy(w_.order, w_.best_order, bytes);
      move_one(large.n);
      int64_t total = place(large, w_.order, w_.placed, w_.trial, best + 1);
      if (total > best) continue;
      best = total;
      memcpy(w_.best_order, w_.order, bytes);
      for (int32_t i = 0; i < large.n; ++i) w_.kept[w_.order[i]] = w_.trial[w_.order[i]];
    }
    memcpy(w_.order, w_.best_order, bytes);
  }

  void move_one(int32_t n) {
    int32_t* over = w_.placed;
    int32_t count = 0;
    for (int32_t k = 0; k < n; ++k)
      if (w_.kept[w_.order[k]] + b_.sizes[w_.order[k]] > bound_) over[count++] = k;
    int32_t from = over[draw(count)], to = draw(from + 1);
    std::rotate(w_.order + to, w_.order + from, w_.order + from + 1);
  }

  int32_t draw(int32_t below) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int32_t>((random_ >> 33) % static_cast<uint64_t>(below));
  }

  static constexpr int32_t kLarge = 160;
  static constexpr int64_t kComparisons = 2'000'000;  // about two milliseconds

  const Buffers& b_;
  Workspace& w_;
  int64_t* offsets_;
  uint64_t random_ = 1;
  int64_t bound_ = 0;
  int64_t best_ = INT64_MAX;
};

}  // namespace

int64_t plan(int32_t n, const int64_t* bytes, const int32_t* first, const int32_t* last, int64_t* offsets) {
  if (n <= 0) return n == 0 ? 0 : -1;
  Workspace w(static_cast<size_t>(n));
  if (!w.ok() || !round_sizes(n, bytes, w.sizes)) return -1;
  return Search({n, w.sizes, first, last}, w, offsets).run();
}

int64_t largest_live_set(int32_t n, const int64_t* bytes, const int32_t* first, const int32_t* last) {
  if (n <= 0) return n == 0 ? 0 : -1;
  Workspace w(static_cast<size_t>(n));
  if (!w.ok() || !round_sizes(n, bytes, w.sizes)) return -1;
  return live_bound({n, w.sizes, first, last}, w.order, w.placed);
}

}  // namespace tvrt
