// SPDX-License-Identifier: Apache-2.0
// A fork-join pool: thread t of T takes the tasks [tasks * t / T, tasks * (t + 1) / T), the caller being thread 0.
//
// A launch publishes the work, then raises `epoch_`; workers spin on it for a while, then sleep on it as a futex. A
// worker that is done lowers `pending_`, on which the caller waits the same way. All that crosses threads is ordered by
// these two numbers.
#pragma once

#include <pthread.h>
#include <stdint.h>

#include <atomic>

#include "runtime/abi.h"
#include "runtime/memory.h"

namespace tvrt {

inline int64_t task_begin(int64_t tasks, int32_t t, int32_t threads) {
  return static_cast<int64_t>(static_cast<__int128>(tasks) * t / threads);
}

class Pool {
 public:
  // Starts up to threads - 1 workers; returns how many threads there are with the caller's.
  int32_t start(int32_t threads, const Allocator& allocator);
  void stop(const Allocator& allocator);
  void run(tvrt_kernel kernel, const void* args, int64_t tasks);

 private:
  struct Worker {
    Pool* pool;
    pthread_t thread;
    int32_t index;
  };
  static void* worker_main(void* worker);
  void work(int32_t index);
  void wake_workers();
  void wait_for_workers();

  Worker* workers_ = nullptr;
  int32_t capacity_ = 0;  // of workers_
  int32_t threads_ = 1;
  int64_t spin_ns_ = 0;

  // Written by the caller before it raises the epoch.
  alignas(64) tvrt_kernel kernel_ = nullptr;
  const void* args_ = nullptr;
  int64_t tasks_ = 0;
  std::atomic<uint32_t> epoch_{0};
  std::atomic<uint32_t> sleepers_{0};
  bool stopping_ = false;
  alignas(64) std::atomic<uint32_t> pending_{0};
  std::atomic<uint32_t> caller_sleeps_{0};
};

}  // namespace tvrt
