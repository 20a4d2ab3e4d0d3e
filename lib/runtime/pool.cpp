// SPDX-License-Identifier: Apache-2.0
#include "runtime/pool.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/cpu.h"

namespace tvrt {
namespace {

constexpr int64_t kSpinNs = 100'000, kYieldNs = 4'000;

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

void futex_wait(std::atomic<uint32_t>& word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// True once done() holds, false after `limit` nanoseconds. After a while other threads may run in between: the one
// waited for may need this very processor.
template <typename Done>
bool spin_until(int64_t limit, const Done& done) {
  if (done()) return true;
  if (limit <= 0) return false;
  for (int64_t begin = now_ns();;) {
    for (int k = 0; k < 32; ++k) {
      cpu_pause();
      if (done()) return true;
    }
    int64_t waited = now_ns() - begin;
    if (waited > limit) return false;
    if (waited > kYieldNs) sched_yield();
  }
}

}  // namespace

int32_t Pool::start(int32_t threads, const Allocator& allocator) {
  threads_ = 1;
  if (threads <= 1) return threads_;
  // Where threads have to share processors, one that spins keeps another from working.
  spin_ns_ = threads <= usable_processors() ? kSpinNs : 0;
  capacity_ = threads - 1;
  workers_ = static_cast<Worker*>(allocator.get(sizeof(Worker) * static_cast<size_t>(capacity_)));
  if (!workers_) return threads_;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the host's signals are not for our threads
  // Workers read threads_ only after the first launch.
  for (int32_t index = 1; index < threads; ++index) {
    Worker& worker = workers_[index - 1];
    worker.pool = this;
    worker.index = index;
    if (pthread_create(&worker.thread, nullptr, worker_main, &worker) != 0) break;
    ++threads_;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return threads_;
}

void Pool::stop(const Allocator& allocator) {
  if (threads_ > 1) {
    stopping_ = true;
    wake_workers();
    for (int32_t k = 0; k < threads_ - 1; ++k) pthread_join(workers_[k].thread, nullptr);
  }
  allocator.put(workers_, sizeof(Worker) * static_cast<size_t>(capacity_));
  workers_ = nullptr;
  threads_ = 1;
}

void Pool::wake_workers() {
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) futex_wake(epoch_);
}

void Pool::run(tvrt_kernel kernel, const void* args, int64_t tasks) {
  if (tasks <= 0) return;
  if (tasks == 1 || threads_ == 1) return kernel(args, 0, tasks, 0);
  kernel_ = kernel;
  args_ = args;
  tasks_ = tasks;
  pending_.store(static_cast<uint32_t>(threads_ - 1), std::memory_order_relaxed);
  wake_workers();
  work(0);
  wait_for_workers();
}

void Pool::wait_for_workers() {
  auto done = [&] { return pending_.load(std::memory_order_acquire) == 0; };
  if (spin_until(spin_ns_, done)) return;
  caller_sleeps_.store(1, std::memory_order_seq_cst);
  while (uint32_t left = pending_.load(std::memory_order_seq_cst)) futex_wait(pending_, left);
  caller_sleeps_.store(0, std::memory_order_relaxed);
}

// With fewer tasks than threads the first ones take one each.
void Pool::work(int32_t index) {
  int32_t threads = tasks_ < threads_ ? static_cast<int32_t>(tasks_) : threads_;
  if (index >= threads) return;
  int64_t begin = task_begin(tasks_, index, threads), end = task_begin(tasks_, index + 1, threads);
  if (begin < end) kernel_(args_, begin, end, index);
}

void* Pool::worker_main(void* argument) {
  const Worker& worker = *static_cast<Worker*>(argument);
  Pool& pool = *worker.pool;
  for (uint32_t seen = 0;; ++seen) {
    auto raised = [&] { return pool.epoch_.load(std::memory_order_acquire) != seen; };
    if (!spin_until(pool.spin_ns_, raised)) {
      pool.sleepers_.fetch_add(1, std::memory_order_seq_cst);
      while (pool.epoch_.load(std::memory_order_seq_cst) == seen) futex_wait(pool.epoch_, seen);
      pool.sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
    if (pool.stopping_) return nullptr;
    pool.work(worker.index);
    if (pool.pending_.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
        pool.caller_sleeps_.load(std::memory_order_seq_cst))
      futex_wake(pool.pending_);
  }
}

}  // namespace tvrt
