// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "formats/onnx/tensors.h"
#include "support/file.h"

namespace tvc::onnx_format {
namespace {

namespace fs = std::filesystem;

Result<int64_t> size_entry(const std::string& text) {
  int64_t value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 0)
    return bad_input("external data: '{}' is no size", text.substr(0, 40));
  return value;
}

}  // namespace

Result<const ExternalData::File*> ExternalData::open(const std::string& location) {
  if (auto known = files_.find(location); known != files_.end()) return &known->second;
  const fs::path relative(location);
  const bool climbs = std::find(relative.begin(), relative.end(), fs::path("..")) != relative.end();
  if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute() || climbs)
    return bad_input("external data '{}' is no path inside the model's folder", location);
  std::error_code code;
  const fs::path root = fs::canonical(folder_, code);
  if (code) return bad_input("the model's folder can't be read: {}", code.message());
  const fs::path target = fs::canonical(root / relative, code);  // follows links
  if (code) return bad_input("external data '{}' can't be read: {}", location, code.message());
  if (std::mismatch(root.begin(), root.end(), target.begin(), target.end()).first != root.end())
    return bad_input("external data '{}' lies outside of the model's folder", location);
  if (!fs::is_regular_file(target, code)) return bad_input("external data '{}' is no file", location);
  TVC_TRY(auto file, MappedFile::open(target));
  return &files_.emplace(location, File{file->bytes(), file}).first->second;
}

Result<std::span<const std::byte>> ExternalData::bytes(const pb::TensorProto& tensor,
                                                       std::shared_ptr<const void>& owner) {
  std::string location;
  int64_t offset = 0, length = -1;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") {
      TVC_TRY(offset, size_entry(entry.value()));
    }
    if (entry.key() == "length") {
      TVC_TRY(length, size_entry(entry.value()));
    }
  }
  TVC_TRY(const File* file, open(location));
  const auto size = static_cast<int64_t>(file->bytes.size());
  if (offset > size) return bad_input("external data '{}' has {} bytes and is read from {}", location, size, offset);
  if (length < 0) length = size - offset;
  if (length > size - offset)
    return bad_input("external data '{}' has {} bytes, cut off: {} are read from {}", location, size, length, offset);
  owner = file->owner;
  return file->bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(length));
}

}  // namespace tvc::onnx_format
