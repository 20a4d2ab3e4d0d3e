// SPDX-License-Identifier: Apache-2.0
#include "formats/artifact/reader.h"

#include <cstring>
#include <fstream>
#include <span>

#include "formats/artifact/manifest_generated.h"
#include "support/file.h"
#include "support/hash.h"

namespace tvc {
namespace {

constexpr uint64_t kMagic = static_cast<uint64_t>(artifact::Format::magic);

// A part of the file, bounds and hash checked.
Result<std::span<const std::byte>> checked(std::span<const std::byte> file, uint64_t offset, uint64_t size,
                                           uint64_t hash, const char* what) {
  if (offset % 64 != 0 || offset > file.size() || size > file.size() - offset)
    return bad_input("the {} lies outside of the file", what);
  auto bytes = file.subspan(offset, size);
  if (hash_bytes(bytes) != hash) return bad_input("the {} is damaged: its hash is another", what);
  return bytes;
}

Result<std::span<const std::byte>> checked(std::span<const std::byte> file, const artifact::Section& section,
                                           const char* what) {
  return checked(file, section.offset(), section.size(), section.hash(), what);
}

Result<const artifact::Manifest*> manifest_of(std::span<const std::byte> file, ArtifactInfo& info) {
  artifact::FileHeader header;
  if (file.size() < sizeof header) return bad_input("not an artifact: {} bytes", file.size());
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic() != kMagic) return bad_input("not an artifact");
  if (header.header_hash() != hash_bytes(file.first(56)))
    return bad_input("the header is damaged: its hash is another");
  if (header.version() != 1 || header.features() != 0)
    return bad_input("an artifact of a newer kind, version {}", header.version());
  if (header.file_size() > file.size())
    return bad_input("the file is cut off: {} of {} bytes", file.size(), header.file_size());
  TVC_TRY(auto bytes, checked(file.first(header.file_size()), header.manifest_offset(), header.manifest_size(),
                              header.manifest_hash(), "manifest"));
  if (bytes.size() > (1u << 30)) return bad_input("the manifest is too large");
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (!artifact::VerifyManifestBuffer(verifier)) return bad_input("the manifest is malformed");
  info.file_bytes = static_cast<int64_t>(file.size());
  info.manifest_bytes = static_cast<int64_t>(bytes.size());
  return artifact::GetManifest(bytes.data());
}

std::string text_of(const artifact::Dim& dim) {
  if (dim.text()) return dim.text()->str();
  return dim.value() >= 0 ? std::to_string(dim.value()) : "?";
}

std::string kind_of(const artifact::Value& value) {
  if (value.kind() == artifact::ValueKind::tensor) return "tensor";
  if (value.kind() == artifact::ValueKind::sequence) return "sequence";
  bool sequence = value.inner() && value.inner()->size() > 0 && value.inner()->Get(0) == artifact::ValueKind::sequence;
  return sequence ? "optional sequence" : "optional tensor";
}

template <typename List, typename Visit>
void for_each(const List* list, const Visit& visit) {
  if (!list) return;
  for (const auto* item : *list) visit(*item);
}

std::vector<ArtifactValue> values_of(const flatbuffers::Vector<flatbuffers::Offset<artifact::Value>>* list) {
  std::vector<ArtifactValue> out;
  for_each(list, [&](const artifact::Value& value) {
    ArtifactValue v{.name = value.name()->str(),
                    .kind = kind_of(value),
                    .dtype = static_cast<ir::DType>(value.dtype()),
                    .dims = {},
                    .has_default = value.default_value() != nullptr};
    for_each(value.shape(), [&](const artifact::Dim& dim) { v.dims.push_back(text_of(dim)); });
    out.push_back(std::move(v));
  });
  return out;
}

}  // namespace

bool is_artifact(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  uint64_t magic = 0;
  in.read(reinterpret_cast<char*>(&magic), sizeof magic);
  return in && magic == kMagic;
}

Result<ArtifactInfo> read_artifact(const std::filesystem::path& path) {
  auto read = [&]() -> Result<ArtifactInfo> {
    TVC_TRY(auto mapped, MappedFile::open(path));
    auto file = mapped->bytes();
    ArtifactInfo info;
    TVC_TRY(const auto* manifest, manifest_of(file, info));
    TVC_TRY(auto weights, checked(file, *manifest->weights(), "weight section"));
    info.weight_bytes = static_cast<int64_t>(weights.size());
    if (const auto* variants = manifest->variants()) {
      for (const auto* variant : *variants) {
        TVC_TRY(auto code, checked(file, *variant->code(), "code section"));
        ArtifactVariant v{variant->target()->str(), {}, static_cast<int64_t>(code.size())};
        for_each(variant->features(), [&](const flatbuffers::String& f) { v.features.push_back(f.str()); });
        info.variants.push_back(std::move(v));
      }
    }
    info.inputs = values_of(manifest->inputs());
    info.outputs = values_of(manifest->outputs());
    for_each(manifest->symbols(), [&](const artifact::Symbol& s) {
      info.symbols.push_back({s.name()->str(), s.source_name()->str(), s.low(), s.high()});
    });
    for_each(manifest->metadata(), [&](const artifact::Entry& e) { info.metadata[e.key()->str()] = e.value()->str(); });
    return info;
  };
  auto info = read();
  if (!info) return std::move(info).error().at(path.string());
  return info;
}

}  // namespace tvc
