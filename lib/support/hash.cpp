// SPDX-License-Identifier: Apache-2.0
#include "support/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace tvc {
namespace {

std::string hex_text(XXH128_hash_t hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

uint64_t hash_bytes(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }
uint64_t hash_text(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }
std::string hash_hex(std::span<const std::byte> bytes) { return hex_text(XXH3_128bits(bytes.data(), bytes.size())); }

// One state serves both widths: they read the same accumulators.
struct Hasher::State {
  XXH3_state_t* xxh = XXH3_createState();
  ~State() { XXH3_freeState(xxh); }
};

Hasher::Hasher() : state_(std::make_unique<State>()) { XXH3_64bits_reset(state_->xxh); }
Hasher::~Hasher() = default;
void Hasher::add(std::span<const std::byte> bytes) { XXH3_64bits_update(state_->xxh, bytes.data(), bytes.size()); }
void Hasher::add(std::string_view text) { XXH3_64bits_update(state_->xxh, text.data(), text.size()); }
uint64_t Hasher::value() const { return XXH3_64bits_digest(state_->xxh); }
std::string Hasher::hex() const { return hex_text(XXH3_128bits_digest(state_->xxh)); }

}  // namespace tvc
