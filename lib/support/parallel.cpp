// SPDX-License-Identifier: Apache-2.0
#include "support/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace tvc {

void parallel_for(size_t count, int jobs, const std::function<void(size_t)>& body) {
  size_t threads = jobs > 0 ? static_cast<size_t>(jobs) : std::max(1u, std::thread::hardware_concurrency());
  threads = std::min(threads, count);
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::thread> others;
  for (size_t t = 1; t < threads; ++t) others.emplace_back(work);
  work();
  for (auto& t : others) t.join();
}

}  // namespace tvc
