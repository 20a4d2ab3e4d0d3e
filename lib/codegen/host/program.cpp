// SPDX-License-Identifier: Apache-2.0
#include "codegen/host/program.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace tvc::codegen {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Replaces the token NAME, also as the start of NAME_args, but not inside other words.
std::string with_name(std::string_view text, std::string_view name) {
  std::string out;
  size_t at = 0;
  while (true) {
    size_t hit = text.find("NAME", at);
    if (hit == std::string_view::npos) break;
    bool starts = hit == 0 || !is_word(text[hit - 1]);
    std::string_view rest = text.substr(hit + 4);
    bool ends = rest.empty() || !is_word(rest[0]) || rest[0] == '_';  // NAME_args and the like too
    out += text.substr(at, hit - at);
    out += starts && ends ? name : std::string_view("NAME");
    at = hit + 4;
  }
  out += text.substr(at);
  return out;
}

}  // namespace

std::string identifier(std::string_view text, size_t max_length) {
  std::string out;
  for (char c : text) {
    bool keep = std::isalnum(static_cast<unsigned char>(c));
    if (keep) out += c;
    else if (!out.empty() && out.back() != '_') out += '_';
    if (out.size() >= max_length) break;
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out = "n" + out;
  return out;
}

uint64_t hash64(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

int64_t WeightSection::add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  uint64_t key = XXH3_64bits(bytes.data(), bytes.size());
  for (auto [it, end] = by_hash_.equal_range(key); it != end; ++it) {
    const auto& chunk = chunks_[it->second];
    if (chunk.bytes.size() == bytes.size() && std::memcmp(chunk.bytes.data(), bytes.data(), bytes.size()) == 0)
      return chunk.offset;
  }
  int64_t offset = (size_ + 63) / 64 * 64;
  by_hash_.emplace(key, chunks_.size());
  chunks_.push_back({offset, bytes, std::move(owner)});
  size_ = offset + static_cast<int64_t>(bytes.size());
  return offset;
}

void HostProgram::line(std::string text) { lines_.push_back({indent_, std::move(text), false}); }

size_t HostProgram::marker() {
  lines_.push_back({indent_, "", true});
  return lines_.size() - 1;
}

void HostProgram::at_marker(size_t marker, std::string text) {
  auto& place = lines_[marker].text;
  place += (place.empty() ? "" : " ") + text;
}

std::string HostProgram::body() const {
  std::string out;
  for (const auto& l : lines_)
    if (!l.text.empty()) out += std::string(2 * std::max(l.indent, 0), ' ') + l.text + "\n";
  return out;
}

std::string HostProgram::intern(const KernelText& text, std::string_view prefix, std::vector<EmittedFunction>& into) {
  std::string key = text.text;
  for (const auto& include : text.includes) key += "\n#" + include;
  auto [it, fresh] = names_by_text_.try_emplace(key);
  if (!fresh) return it->second;
  it->second = fmt::format("{}{}_{:08x}", prefix, identifier(text.hint, 48), hash64(key) & 0xffffffffu);
  EmittedFunction f{.name = it->second,
                    .text = with_name(text.text, it->second),
                    .arguments = {},
                    .includes = text.includes,
                    .uses = {}};
  size_t begin = f.text.find("typedef struct " + f.name + "_args");
  std::string closing = "} " + f.name + "_args;";
  size_t end = begin == std::string::npos ? begin : f.text.find(closing, begin);
  if (end != std::string::npos) {
    end += closing.size();
    f.arguments = f.text.substr(begin, end - begin);
    f.text.erase(begin, end - begin);
  }
  for (const auto& shared : functions)
    if (f.text.find(shared.name) != std::string::npos) f.uses.push_back(shared.name);
  into.push_back(std::move(f));
  return it->second;
}

std::string HostProgram::add_kernel(const KernelText& text, std::string_view prefix) {
  return intern(text, prefix, kernels);
}
std::string HostProgram::add_function(const KernelText& text) { return intern(text, "tv_", functions); }

int HostProgram::add_buffer(ir::Dim bytes, bool per_thread) {
  buffers.push_back({std::move(bytes), per_thread, step, step});
  return static_cast<int>(buffers.size()) - 1;
}

}  // namespace tvc::codegen
