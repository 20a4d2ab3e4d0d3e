// SPDX-License-Identifier: Apache-2.0
// The list of definitions: list.inc, looked up by name.
#include <unordered_map>

#include "ops/op_def.h"

namespace tvc::ops {

#define TVC_OP(symbol) extern const OpDef symbol;
#include "ops/list.inc"
#undef TVC_OP

std::vector<const OpDef*> all() {
  return {
#define TVC_OP(symbol) &symbol,
#include "ops/list.inc"
#undef TVC_OP
  };
}

const OpDef* find(std::string_view name) {
  static const std::unordered_map<std::string_view, const OpDef*> table = [] {
    std::unordered_map<std::string_view, const OpDef*> built;
    for (const OpDef* op : all()) built.emplace(op->name, op);
    return built;
  }();
  auto it = table.find(name);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace tvc::ops
