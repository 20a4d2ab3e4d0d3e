# SPDX-License-Identifier: Apache-2.0
# Script: writes OUT, the definition of lib/codegen/embedded.h over FILES (relative to ROOT).
# The folders runtime/ and codegen/ are left out of the names, since emitted source has its own, flatter tree.
list(SORT FILES)
set(names)
set(text "// Generated from the files named below.
#include \"codegen/embedded.h\"

#include <algorithm>
#include <array>

namespace tvc::codegen {
namespace {

")
foreach(file IN LISTS FILES)
  string(REGEX REPLACE "^(runtime|codegen)/" "" name "${file}")
  list(APPEND names "${name}")
endforeach()
list(LENGTH names count)
set(entries)
foreach(file IN LISTS FILES)
  string(REGEX REPLACE "^(runtime|codegen)/" "" name "${file}")
  file(READ "${ROOT}/${file}" content HEX)
  # Hexadecimal, because reading as text would stumble over brackets and semicolons.
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${content}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes
         "${bytes}")
  string(MAKE_C_IDENTIFIER "text_${name}" identifier)
  string(APPEND text "// ${name}\nconstexpr char ${identifier}[] = {${bytes}0};\n")
  string(APPEND entries "    std::string_view(${identifier}, sizeof ${identifier} - 1),\n")
endforeach()
list(TRANSFORM names REPLACE "(.+)" "    \"\\1\"," OUTPUT_VARIABLE quoted)
list(JOIN quoted "\n" quoted)
string(APPEND text "
constexpr std::array<std::string_view, ${count}> kNames = {
${quoted}
};
constexpr std::array<std::string_view, ${count}> kTexts = {
${entries}};

}  // namespace

std::span<const std::string_view> embedded_names() { return kNames; }

std::optional<std::string_view> embedded_file(std::string_view name) {
  auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return kTexts[static_cast<size_t>(found - kNames.begin())];
}

}  // namespace tvc::codegen
")
file(WRITE "${OUT}" "${text}")
