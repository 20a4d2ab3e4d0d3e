// SPDX-License-Identifier: Apache-2.0
// Offline interval packing: buffers in a fixed order, each into the smallest gap between those already placed that are
// alive at the same time (best fit). Several orders are tried, largest first being the best of them as a rule; then the
// buffers that reach to the end of the arena are moved to the front of the order, as long as that helps.
// Source: Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net Inference, 2020 (greedy by size).
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
  explicit Workspace(size_t n) : memory_(calloc(n + 1, 2 * sizeof(int64_t) + 4 * sizeof(int32_t))) {
    sizes = static_cast<int64_t*>(memory_);
    if (!memory_) return;
    trial = sizes + n;
    order = reinterpret_cast<int32_t*>(trial + n);
    best_order = order + n;
    placed = best_order + n;
  }
  ~Workspace() { free(memory_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  bool ok() const { return memory_ != nullptr; }

  int64_t *sizes = nullptr, *trial = nullptr;
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
    for (int rule = kBySize; rule < kOrders && !good(); ++rule) {
      sort_by(static_cast<Order>(rule), b_, w_.order);
      attempt();
    }
    // Each round costs n^2 / 2 comparisons.
    int64_t rounds = std::min<int64_t>(64, 10'000'000 / (int64_t{b_.n} * b_.n + 1));
    for (int64_t k = 0; k < rounds && !good(); ++k) {
      promote_last();
      if (!attempt()) break;
    }
    return best_;
  }

 private:
  bool good() const { return best_ <= bound_ + bound_ / 50; }

  bool attempt() {
    int64_t total = place(b_, w_.order, w_.placed, w_.trial, best_);
    if (total >= best_) return false;
    best_ = total;
    memcpy(offsets_, w_.trial, static_cast<size_t>(b_.n) * sizeof *offsets_);
    memcpy(w_.best_order, w_.order, static_cast<size_t>(b_.n) * sizeof *w_.order);
    return true;
  }

  // The best order with the buffers that end where the arena ends at its front.
  void promote_last() {
    int32_t front = 0;
    for (int pass = 0; pass < 2; ++pass)
      for (int32_t k = 0; k < b_.n; ++k) {
        int32_t i = w_.best_order[k];
        bool is_last = offsets_[i] + b_.sizes[i] == best_;
        if (is_last == (pass == 0)) w_.order[front++] = i;
      }
  }

  const Buffers& b_;
  Workspace& w_;
  int64_t* offsets_;
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
