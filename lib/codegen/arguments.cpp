// SPDX-License-Identifier: Apache-2.0
#include "codegen/arguments.h"

#include <fmt/format.h>

namespace tvc::codegen {

std::string fields_text(const std::vector<Arg>& args) {
  std::string out;
  for (const Arg& arg : args) {
    const size_t bracket = arg.type.find('[');
    out += bracket == std::string::npos
               ? fmt::format("  {} {};\n", arg.type, arg.field)
               : fmt::format("  {} {}{};\n", arg.type.substr(0, bracket), arg.field, arg.type.substr(bracket));
  }
  return out;
}

std::string copy_text(const std::vector<Arg>& args, std::string_view type, std::string_view name,
                      std::string_view from) {
  std::string fill, arrays;
  for (const Arg& arg : args) {
    if (arg.type.find('[') == std::string::npos) fill += fmt::format("    .{0} = {1}->{0},\n", arg.field, from);
    else arrays += fmt::format("  memcpy({0}.{1}, {2}->{1}, sizeof {0}.{1});\n", name, arg.field, from);
  }
  return fmt::format("  {} {} = {{\n{}  }};\n{}", type, name, fill, arrays);
}

std::string array_text(Lowering& lowering, const ir::Shape& values) {
  std::string out;
  for (const ir::Dim& value : values) out += (out.empty() ? "" : ", ") + lowering.size(value);
  return "{" + out + "}";
}

}  // namespace tvc::codegen
