// SPDX-License-Identifier: Apache-2.0
// Memory of a context: the caller's allocator or the C library's, and blocks that are reused from run to run.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tvrt {

inline constexpr size_t kAlignment = 64;

struct Allocator {
  void* (*allocate)(void* user, size_t bytes, size_t alignment);
  void (*deallocate)(void* user, void* block, size_t bytes);
  void* user;

  void* get(size_t bytes) const { return allocate(user, bytes, kAlignment); }
  void put(void* block, size_t bytes) const {
    if (block) deallocate(user, block, bytes);
  }
};
Allocator default_allocator();

// One block that only grows; its content is lost when it does.
struct GrowingBlock {
  uint8_t* data = nullptr;
  int64_t bytes = 0;
  bool reserve(const Allocator& allocator, int64_t wanted);
  void give_back(const Allocator& allocator);
};

// Blocks in classes of size, four to an octave; a released block serves the next request of its class.
class BlockPool {
 public:
  void* acquire(const Allocator& allocator, int64_t bytes);  // NULL: out of memory, or bytes < 0
  void release(void* block);                                 // NULL is allowed
  void release_all();
  void free_all(const Allocator& allocator);
  int64_t bytes() const { return bytes_; }

 private:
  struct Block;
  static constexpr int kClasses = 200;
  Block* free_[kClasses] = {};
  Block* used_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace tvrt
