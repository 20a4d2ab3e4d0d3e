// SPDX-License-Identifier: Apache-2.0
// tvc targets: what can be compiled for.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "codegen/target.h"
#include "command.h"

namespace tvc::tool {
namespace {

int list_targets(bool json) {
  if (json) {
    auto out = nlohmann::json::array();
    for (const auto* target : codegen::targets())
      out.push_back({{"name", target->name},
                     {"description", target->description},
                     {"features", target->features},
                     {"lanes", target->lanes},
                     {"host", target == &codegen::host_target()}});
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  for (const auto* target : codegen::targets())
    fmt::print("{:<10} {}{}\n", target->name, target->description, target == &codegen::host_target() ? "  (host)" : "");
  return 0;
}

}  // namespace

void add_targets(CLI::App& app, Session&, int& exit_code) {
  auto* command = app.add_subcommand("targets", "List what can be compiled for");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "As JSON");
  command->callback([json, &exit_code] { exit_code = list_targets(*json); });
}

}  // namespace tvc::tool
