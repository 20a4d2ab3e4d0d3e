// SPDX-License-Identifier: Apache-2.0
// What this machine has.
#pragma once

#include <stdint.h>

namespace tvrt {

// A feature by its name in the manifest ("avx2", "avx512vnni", "dotprod"), of the processor and of the system's saved
// state. An unknown name is not supported.
bool cpu_supports(const char* feature);
// Logical processors that the process may use, its affinity and its control group's quota considered; at least 1.
int32_t usable_processors();
// The same with siblings of one core counted once.
int32_t usable_cores();

inline void cpu_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

}  // namespace tvrt
