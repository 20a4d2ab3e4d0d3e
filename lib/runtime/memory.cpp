// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

namespace tvrt {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

// Large blocks ask for huge pages: fewer faults in the first run, fewer TLB misses in all.
void* allocate(void*, size_t bytes, size_t alignment) {
  bool huge = bytes >= 2 * kHugePage;
  void* block = nullptr;
  if (posix_memalign(&block, huge ? kHugePage : alignment, bytes ? bytes : 1) != 0) return nullptr;
  if (huge) madvise(block, bytes, MADV_HUGEPAGE);
  return block;
}

void deallocate(void*, void* block, size_t) { free(block); }

// The class of a size, and the size that all its blocks have: 64 * (4..7) * 2^k / 4, from 64 on.
int class_of(int64_t bytes, int64_t* rounded) {
  int64_t units = (bytes + 63) / 64;
  if (units <= 4) {
    units = units < 1 ? 1 : units;
    *rounded = units * 64;
    return static_cast<int>(units) - 1;
  }
  int shift = 61 - __builtin_clzll(static_cast<unsigned long long>(units - 1));
  int64_t quarter = ((units - 1) >> shift) + 1;  // 5..8
  *rounded = (quarter << shift) * 64;
  return 4 * (shift + 1) + static_cast<int>(quarter) - 5;
}

}  // namespace

Allocator default_allocator() { return {allocate, deallocate, nullptr}; }

bool GrowingBlock::reserve(const Allocator& allocator, int64_t wanted) {
  if (wanted <= bytes) return true;
  give_back(allocator);
  data = static_cast<uint8_t*>(allocator.get(static_cast<size_t>(wanted)));
  if (data) bytes = wanted;
  return data != nullptr;
}

void GrowingBlock::give_back(const Allocator& allocator) {
  allocator.put(data, static_cast<size_t>(bytes));
  data = nullptr;
  bytes = 0;
}

struct alignas(kAlignment) BlockPool::Block {
  Block *next, *previous;  // of the free list of its class (next only), or of the used list
  int64_t bytes;           // with this header
  int32_t size_class;
  int32_t used;
};

void* BlockPool::acquire(const Allocator& allocator, int64_t bytes) {
  if (bytes < 0 || bytes > (int64_t{1} << 46)) return nullptr;
  int64_t rounded = 0;
  int size_class = class_of(bytes, &rounded);
  Block* block = free_[size_class];
  if (block) {
    free_[size_class] = block->next;
  } else {
    int64_t total = rounded + static_cast<int64_t>(sizeof(Block));
    block = static_cast<Block*>(allocator.get(static_cast<size_t>(total)));
    if (!block) return nullptr;
    block->bytes = total;
    block->size_class = size_class;
    bytes_ += total;
  }
  block->used = 1;
  block->previous = nullptr;
  block->next = used_;
  if (used_) used_->previous = block;
  used_ = block;
  return block + 1;
}

void BlockPool::release(void* data) {
  if (!data) return;
  Block* block = static_cast<Block*>(data) - 1;
  if (!block->used) return;
  block->used = 0;
  if (block->previous) block->previous->next = block->next;
  else used_ = block->next;
  if (block->next) block->next->previous = block->previous;
  block->next = free_[block->size_class];
  free_[block->size_class] = block;
}

void BlockPool::release_all() {
  while (used_) release(used_ + 1);
}

void BlockPool::free_all(const Allocator& allocator) {
  release_all();
  for (Block*& list : free_) {
    while (Block* block = list) {
      list = block->next;
      allocator.put(block, static_cast<size_t>(block->bytes));
    }
  }
  bytes_ = 0;
}

}  // namespace tvrt
