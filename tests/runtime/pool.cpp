// SPDX-License-Identifier: Apache-2.0
#include "runtime/pool.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "runtime/memory.h"
#include "runtime/metrics.h"

namespace {

// Who did each task; a kernel writes its own tasks only, without any lock.
struct Done {
  int32_t* thread;
  int64_t* times;
};

void mark(const void* args, int64_t begin, int64_t end, int32_t thread) {
  const auto& done = *static_cast<const Done*>(args);
  for (int64_t k = begin; k < end; ++k) {
    done.thread[k] = thread;
    ++done.times[k];
  }
}

void nothing(const void*, int64_t, int64_t, int32_t) {}

struct RunningPool {
  explicit RunningPool(int32_t wanted) : threads(pool.start(wanted, allocator)) {}
  ~RunningPool() { pool.stop(allocator); }
  tvrt::Allocator allocator = tvrt::default_allocator();
  tvrt::Pool pool;
  int32_t threads;
};

}  // namespace

TEST_CASE("each task runs once, on the thread that count and threads say") {
  for (int32_t wanted : {1, 2, 3, 7}) {
    RunningPool running(wanted);
    REQUIRE(running.threads == wanted);
    for (int64_t tasks : {0, 1, 2, 3, 5, 6, 7, 8, 100}) {
      std::vector<int32_t> thread(101, -1);
      std::vector<int64_t> times(101, 0);
      Done done = {thread.data(), times.data()};
      for (int k = 0; k < 20; ++k) running.pool.run(mark, &done, tasks);
      int64_t used = std::min<int64_t>(tasks, wanted);
      for (int64_t k = 0; k < 101; ++k) {
        auto place = static_cast<size_t>(k);
        CHECK(times[place] == (k < tasks ? 20 : 0));
        if (k >= tasks) continue;
        int64_t t = thread[place];
        CHECK((tasks * t / used <= k && k < tasks * (t + 1) / used));
      }
    }
  }
}

TEST_CASE("workers wake from sleep, again and again") {
  RunningPool running(3);
  std::vector<int32_t> thread(3);
  std::vector<int64_t> times(3, 0);
  Done done = {thread.data(), times.data()};
  for (int k = 0; k < 20; ++k) {
    std::this_thread::sleep_for(std::chrono::microseconds(k % 2 ? 300 : 90));
    running.pool.run(mark, &done, 3);
  }
  CHECK(times == std::vector<int64_t>(3, 20));
}

TEST_CASE("a pool that never ran stops") {
  for (int k = 0; k < 50; ++k) RunningPool running(4);
}

TEST_CASE("a split covers all tasks, also where their product with the threads overflows") {
  int64_t tasks = INT64_MAX - 5, before = 0;
  for (int32_t t = 0; t < 64; ++t) {
    CHECK(tvrt::task_begin(tasks, t, 64) == before);
    before = tvrt::task_begin(tasks, t + 1, 64);
  }
  CHECK(before == tasks);
}

TEST_CASE("the cost of a launch") {
  RunningPool running(2);
  for (int k = 0; k < 1000; ++k) running.pool.run(nothing, nullptr, 2);
  auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < 20000; ++k) running.pool.run(nothing, nullptr, 2);
  double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / 20000;
  MESSAGE("a launch on two threads: ", us, " us");
}

TEST_CASE("pooled blocks are aligned, apart, and reused") {
  auto allocator = tvrt::default_allocator();
  tvrt::BlockPool pool;
  std::vector<std::pair<uint8_t*, int64_t>> blocks;
  for (int64_t bytes : {0, 1, 64, 65, 255, 256, 257, 320, 321, 512, 640, 1000, 5000, 100000, 9000000}) {
    auto* block = static_cast<uint8_t*>(pool.acquire(allocator, bytes));
    REQUIRE(block);
    CHECK(reinterpret_cast<uintptr_t>(block) % 64 == 0);
    for (auto [other, size] : blocks) CHECK((block + bytes <= other || other + size <= block));
    std::fill(block, block + bytes, uint8_t{0xff});
    blocks.emplace_back(block, bytes);
  }
  int64_t bytes = pool.bytes();
  CHECK(bytes < 2 * 9200000);
  pool.release(blocks[3].first);
  pool.release(blocks[3].first);
  pool.release(nullptr);
  CHECK(pool.acquire(allocator, 65) == blocks[3].first);
  for (int k = 0; k < 3; ++k) {
    pool.release_all();
    for (auto [block, size] : blocks) CHECK(pool.acquire(allocator, size));
  }
  CHECK(pool.bytes() == bytes);
  CHECK(pool.acquire(allocator, -1) == nullptr);
  CHECK(pool.acquire(allocator, INT64_MAX) == nullptr);
  pool.free_all(allocator);
  CHECK(pool.bytes() == 0);
}

TEST_CASE("percentiles of durations are within two percent") {
  tvrt::Durations durations;
  CHECK(durations.percentile(0.5) == 0);
  for (int64_t k = 1; k <= 100000; ++k) durations.add(k * 37);
  for (double share : {0.01, 0.5, 0.95, 0.99, 1.0})
    CHECK(static_cast<double>(durations.percentile(share)) == doctest::Approx(share * 3700000).epsilon(0.02));
  durations.add(-5);
  durations.add(INT64_MAX);
  CHECK(durations.percentile(1.0) > int64_t{1} << 38);
  CHECK(durations.count() == 100002);
}
