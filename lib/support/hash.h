// SPDX-License-Identifier: Apache-2.0
// Hashes of content: XXH3. Not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tvc {

uint64_t hash_bytes(std::span<const std::byte> bytes);
uint64_t hash_text(std::string_view text);
// 32 hexadecimal digits of the 128-bit hash: names of cache entries and of sources.
std::string hash_hex(std::span<const std::byte> bytes);

// The hash of pieces one after the other: equal to that of all of them as one.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text);
  uint64_t value() const;
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tvc
