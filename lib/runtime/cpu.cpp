// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace tvrt {
namespace {

#if defined(__x86_64__)
enum Register : uint8_t { kEax, kEbx, kEcx, kEdx };
// Bits of XCR0: which registers the system saves when it switches threads.
enum State : uint8_t { kNoState = 0, kAvx = 0x06, kAvx512 = 0xe6 };

// A bit of CPUID, and the registers that it needs. (__builtin_cpu_supports knows other names from compiler to
// compiler.)
struct Feature {
  const char* name;
  uint32_t leaf, subleaf;
  Register where;
  uint8_t bit;
  State state;
};
const Feature kFeatures[] = {
    {"sse4.1", 1, 0, kEcx, 19, kNoState},    {"sse4.2", 1, 0, kEcx, 20, kNoState},
    {"avx", 1, 0, kEcx, 28, kAvx},           {"fma", 1, 0, kEcx, 12, kAvx},
    {"f16c", 1, 0, kEcx, 29, kAvx},          {"bmi", 7, 0, kEbx, 3, kNoState},
    {"avx2", 7, 0, kEbx, 5, kAvx},           {"bmi2", 7, 0, kEbx, 8, kNoState},
    {"gfni", 7, 0, kEcx, 8, kAvx},           {"avxvnni", 7, 1, kEax, 4, kAvx},
    {"avx512f", 7, 0, kEbx, 16, kAvx512},    {"avx512dq", 7, 0, kEbx, 17, kAvx512},
    {"avx512ifma", 7, 0, kEbx, 21, kAvx512}, {"avx512cd", 7, 0, kEbx, 28, kAvx512},
    {"avx512bw", 7, 0, kEbx, 30, kAvx512},   {"avx512vl", 7, 0, kEbx, 31, kAvx512},
    {"avx512vbmi", 7, 0, kEcx, 1, kAvx512},  {"avx512vbmi2", 7, 0, kEcx, 6, kAvx512},
    {"avx512vnni", 7, 0, kEcx, 11, kAvx512}, {"avx512bitalg", 7, 0, kEcx, 12, kAvx512},
    {"avx512fp16", 7, 0, kEdx, 23, kAvx512}, {"avx512bf16", 7, 1, kEax, 5, kAvx512},
};

uint32_t saved_state() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c >> 27 & 1) == 0) return 0;  // OSXSAVE
  uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

bool is_present(const Feature& feature) {
  uint32_t registers[4] = {};
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &registers[0], &registers[1], &registers[2], &registers[3]))
    return false;
  return (registers[feature.where] >> feature.bit & 1) != 0 && (saved_state() & feature.state) == feature.state;
}
#elif defined(__aarch64__)
// A bit of Linux's hwcap or hwcap2.
struct Feature {
  const char* name;
  unsigned long word;
  int bit;
};
const Feature kFeatures[] = {{"neon", AT_HWCAP, 1}, {"fp16", AT_HWCAP, 10},  {"dotprod", AT_HWCAP, 20},
                             {"sve", AT_HWCAP, 22}, {"i8mm", AT_HWCAP2, 13}, {"bf16", AT_HWCAP2, 14}};

bool is_present(const Feature& feature) { return (getauxval(feature.word) >> feature.bit & 1) != 0; }
#else
struct Feature {
  const char* name;
};
const Feature kFeatures[] = {{"none"}};

bool is_present(const Feature&) { return false; }
#endif

bool read_line(const char* path, char* line, int size) {
  FILE* file = fopen(path, "re");
  if (!file) return false;
  bool read = fgets(line, size, file) != nullptr;
  fclose(file);
  return read;
}

// Processors that the control group pays for, rounded up; 0: no limit.
int32_t quota() {
  char line[64];
  long long used = 0, period = 0;
  if (!read_line("/sys/fs/cgroup/cpu.max", line, sizeof line)) return 0;
  if (sscanf(line, "%lld %lld", &used, &period) != 2 || used <= 0 || period <= 0) return 0;
  return static_cast<int32_t>((used + period - 1) / period);
}

int32_t limited(int32_t count) {
  int32_t limit = quota();
  if (limit > 0 && limit < count) count = limit;
  return count < 1 ? 1 : count;
}

// A processor whose first sibling within the set is another one.
bool is_second_sibling(int cpu, const cpu_set_t& set) {
  char path[96], line[128];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
  if (!read_line(path, line, sizeof line)) return false;
  for (char* at = line; *at >= '0' && *at <= '9';) {  // "0,64" or "0-1"
    long from = strtol(at, &at, 10), to = from;
    if (*at == '-') to = strtol(at + 1, &at, 10);
    for (long k = from; k <= to && k < cpu; ++k)
      if (k < CPU_SETSIZE && CPU_ISSET(static_cast<size_t>(k), &set)) return true;
    if (*at == ',') ++at;
  }
  return false;
}

}  // namespace

bool cpu_supports(const char* feature) {
  for (const Feature& f : kFeatures)
    if (strcmp(f.name, feature) == 0) return is_present(f);
  return false;
}

int32_t usable_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return limited(static_cast<int32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  return limited(CPU_COUNT(&set));
}

int32_t usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return usable_processors();
  int32_t count = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    count += CPU_ISSET(static_cast<size_t>(cpu), &set) && !is_second_sibling(cpu, set);
  return limited(count);
}

}  // namespace tvrt
