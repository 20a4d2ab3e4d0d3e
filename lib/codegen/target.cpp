// SPDX-License-Identifier: Apache-2.0
#include "codegen/target.h"

#include "codegen/targets/list.h"

namespace tvc::codegen {
namespace {

// __builtin_cpu_supports takes literals only.
bool machine_has(std::string_view feature) {
#define TVC_FEATURE(name) \
  if (feature == name) return __builtin_cpu_supports(name)
  TVC_FEATURE("avx2");
  TVC_FEATURE("fma");
  TVC_FEATURE("f16c");
  TVC_FEATURE("avx512f");
  TVC_FEATURE("avx512bw");
  TVC_FEATURE("avx512dq");
  TVC_FEATURE("avx512vl");
#undef TVC_FEATURE
  return false;
}

}  // namespace

const std::vector<const Target*>& targets() {
  static const std::vector<const Target*> rows = {
#define TVC_TARGET(symbol) &symbol,
#include "codegen/targets/list.inc"
#undef TVC_TARGET
  };
  return rows;
}

const Target* find_target(std::string_view name) {
  for (const Target* target : targets())
    if (target->name == name) return target;
  return nullptr;
}

const Target& host_target() {
  for (const Target* target : targets()) {
    bool all = true;
    for (auto feature : target->features) all = all && machine_has(feature);
    if (all) return *target;
  }
  return *targets().back();
}

}  // namespace tvc::codegen
