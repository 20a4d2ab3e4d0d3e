// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace tvrt {
namespace {

struct Feature {
  const char* name;
  bool (*present)();
};

#if defined(__x86_64__)
#define TVRT_FEATURE(name)                                 \
  {                                                        \
    name, [] { return __builtin_cpu_supports(name) != 0; } \
  }
const Feature kFeatures[] = {
    TVRT_FEATURE("sse4.1"),     TVRT_FEATURE("sse4.2"),       TVRT_FEATURE("avx"),        TVRT_FEATURE("avx2"),
    TVRT_FEATURE("fma"),        TVRT_FEATURE("f16c"),         TVRT_FEATURE("bmi"),        TVRT_FEATURE("bmi2"),
    TVRT_FEATURE("avx512f"),    TVRT_FEATURE("avx512bw"),     TVRT_FEATURE("avx512cd"),   TVRT_FEATURE("avx512dq"),
    TVRT_FEATURE("avx512vl"),   TVRT_FEATURE("avx512vnni"),   TVRT_FEATURE("avx512vbmi"), TVRT_FEATURE("avx512vbmi2"),
    TVRT_FEATURE("avx512bf16"), TVRT_FEATURE("avx512fp16"),   TVRT_FEATURE("avxvnni"),    TVRT_FEATURE("avx512ifma"),
    TVRT_FEATURE("gfni"),       TVRT_FEATURE("avx512bitalg"),
};
#undef TVRT_FEATURE
#elif defined(__aarch64__)
// Bits of Linux's hwcap: asimd 1, fphp 9, asimdhp 10, dotprod 20, sve 22; of hwcap2: i8mm 13, bf16 14.
const Feature kFeatures[] = {
    {"neon", [] { return (getauxval(AT_HWCAP) >> 1 & 1) != 0; }},
    {"fp16", [] { return (getauxval(AT_HWCAP) >> 10 & 1) != 0; }},
    {"dotprod", [] { return (getauxval(AT_HWCAP) >> 20 & 1) != 0; }},
    {"sve", [] { return (getauxval(AT_HWCAP) >> 22 & 1) != 0; }},
    {"i8mm", [] { return (getauxval(AT_HWCAP2) >> 13 & 1) != 0; }},
    {"bf16", [] { return (getauxval(AT_HWCAP2) >> 14 & 1) != 0; }},
};
#else
const Feature kFeatures[] = {{"", [] { return false; }}};
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
#if defined(__x86_64__)
  __builtin_cpu_init();
#endif
  for (const Feature& f : kFeatures)
    if (strcmp(f.name, feature) == 0) return f.present();
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
