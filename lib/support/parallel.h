// SPDX-License-Identifier: Apache-2.0
// A parallel loop over independent pieces of work.
#pragma once

#include <functional>

namespace tvc {

// body(i) for every i in [0, count), on at most `jobs` threads (0: as many as the machine has).
void parallel_for(size_t count, int jobs, const std::function<void(size_t)>& body);

}  // namespace tvc
