// SPDX-License-Identifier: Apache-2.0
// Durations of runs as a histogram: 32 buckets to an octave, so a percentile is within 1.6 % of the true one.
#pragma once

#include <stdint.h>

namespace tvrt {

class Durations {
 public:
  void add(int64_t nanoseconds) {
    ++buckets_[bucket_of(nanoseconds)];
    ++count_;
  }
  int64_t count() const { return count_; }
  // The smallest duration that at least `share` of the runs did not exceed; 0 without runs.
  int64_t percentile(double share) const {
    int64_t wanted = static_cast<int64_t>(share * static_cast<double>(count_) + 0.999999), seen = 0;
    for (int k = 0; k < kBuckets; ++k) {
      seen += buckets_[k];
      if (seen > 0 && seen >= wanted) return middle_of(k);
    }
    return 0;
  }

 private:
  static constexpr int kBuckets = 32 * 36;  // up to 2^40 ns, 18 minutes

  static int bucket_of(int64_t v) {
    if (v < 32) return v < 0 ? 0 : static_cast<int>(v);
    int shift = 58 - __builtin_clzll(static_cast<unsigned long long>(v));
    int bucket = 32 * shift + static_cast<int>(v >> shift);  // v >> shift: 32..63
    return bucket < kBuckets ? bucket : kBuckets - 1;
  }
  static int64_t middle_of(int bucket) {
    if (bucket < 64) return bucket;
    int shift = bucket / 32 - 1;
    return ((32 + int64_t{bucket % 32}) << shift) + ((int64_t{1} << shift) >> 1);
  }

  uint32_t buckets_[kBuckets] = {};
  int64_t count_ = 0;
};

}  // namespace tvrt
