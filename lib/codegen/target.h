// SPDX-License-Identifier: Apache-2.0
// Target: all that a kernel family may know of the machine it emits for. One row a target, in targets/<name>.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tvc::codegen {

struct Target {
  std::string_view name;         // "avx2"
  std::string_view description;  // for `tvc targets`
  std::string_view isa_header;   // "isa/avx2.h"; "" where there are no vector primitives
  int lanes = 1;                 // f32 lanes of one vector register
  int vector_registers = 16;
  bool fma = false;
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20;
  std::vector<std::string_view> features;        // what the loader asks of the machine: "avx2", "fma", ...
  std::vector<std::string_view> compiler_flags;  // for emitted code only
};

const std::vector<const Target*>& targets();
const Target* find_target(std::string_view name);
// The best target that this machine runs.
const Target& host_target();

}  // namespace tvc::codegen
