// SPDX-License-Identifier: Apache-2.0
// Offsets of buffers in one arena, as tvrt_host.plan asks.
#pragma once

#include <stdint.h>

namespace tvrt {

// < 0: a size is negative, the sum overflows, or there is no memory for the plan.
int64_t plan(int32_t n, const int64_t* bytes, const int32_t* first, const int32_t* last, int64_t* offsets);
// The largest sum of sizes (rounded up to 64) alive in one step: no plan is smaller. < 0 as above.
int64_t largest_live_set(int32_t n, const int64_t* bytes, const int32_t* first, const int32_t* last);

}  // namespace tvrt
