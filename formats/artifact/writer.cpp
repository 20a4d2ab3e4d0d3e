// SPDX-License-Identifier: Apache-2.0
#include "formats/artifact/writer.h"

#include <algorithm>

#include "formats/artifact/dim_code.h"
#include "formats/artifact/manifest_generated.h"
#include "support/file.h"
#include "support/hash.h"

namespace tvc {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr int64_t kAlignment = 64;

// Writes sections one after the other and keeps their places and hashes.
class SectionWriter {
 public:
  explicit SectionWriter(FileWriter& file) : file_(file) {}

  Result<void> begin() {
    TVC_CHECK_OK(pad_to((file_.size() + kAlignment - 1) / kAlignment * kAlignment));
    start_ = file_.size();
    hasher_ = std::make_unique<Hasher>();
    return {};
  }
  int64_t position() const { return file_.size() - start_; }
  Result<void> add(std::span<const std::byte> bytes) {
    hasher_->add(bytes);
    return file_.append(bytes);
  }
  Result<void> pad_section_to(int64_t position) {
    static constexpr std::byte kZeros[4096] = {};
    while (this->position() < position) {
      auto n = std::min<int64_t>(position - this->position(), sizeof kZeros);
      TVC_CHECK_OK(add(std::span(kZeros, static_cast<size_t>(n))));
    }
    return {};
  }
  Offset<artifact::Section> end(FlatBufferBuilder& builder) const {
    return artifact::CreateSection(builder, static_cast<uint64_t>(start_), static_cast<uint64_t>(position()),
                                   hasher_->value());
  }

 private:
  Result<void> pad_to(int64_t size) {
    static constexpr std::byte kZeros[kAlignment] = {};
    return file_.append(std::span(kZeros, static_cast<size_t>(size - file_.size())));
  }
  FileWriter& file_;
  int64_t start_ = 0;
  std::unique_ptr<Hasher> hasher_;
};

// The bytes of a default value as the weight section holds them.
std::vector<std::byte> default_bytes(const ir::Tensor& tensor) {
  if (tensor.dtype != ir::DType::kString) return {tensor.bytes.begin(), tensor.bytes.end()};
  std::vector<std::byte> out;
  auto append = [&](const void* data, size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    out.insert(out.end(), bytes, bytes + size);
  };
  for (const auto& s : tensor.strings) {
    uint64_t size = s.size();
    append(&size, sizeof size);
  }
  for (const auto& s : tensor.strings) append(s.data(), s.size());
  return out;
}

class ManifestWriter {
 public:
  ManifestWriter(const ArtifactContents& contents, FileWriter& file)
      : contents_(contents), module_(*contents.module), file_(file), sections_(file) {}

  Result<void> write() {
    artifact::FileHeader empty;
    TVC_CHECK_OK(file_.append(std::as_bytes(std::span(&empty, 1))));
    TVC_TRY(auto weights, write_weights());
    TVC_TRY(auto variants, write_variants());
    auto inputs = values(module_.main().inputs);
    auto outputs = values(module_.main().outputs);
    std::vector<Offset<artifact::Symbol>> symbols;
    for (const auto& s : module_.symbols)
      symbols.push_back(artifact::CreateSymbolDirect(builder_, s.name.c_str(), s.source_name.c_str(), s.low, s.high));
    std::vector<Offset<artifact::Entry>> metadata;
    for (const auto& [key, value] : contents_.metadata)
      metadata.push_back(artifact::CreateEntry(builder_, builder_.CreateString(key), builder_.CreateString(value)));
    artifact::FinishManifestBuffer(
        builder_, artifact::CreateManifestDirect(builder_, &inputs, &outputs, &symbols, weights, &variants, &metadata));
    return write_manifest();
  }

 private:
  Result<Offset<artifact::Section>> write_weights() {
    auto pieces = contents_.weights;
    std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    TVC_CHECK_OK(sections_.begin());
    for (const auto& piece : pieces) {
      if (piece.offset < sections_.position()) return internal("weights overlap at offset {}", piece.offset);
      TVC_CHECK_OK(sections_.pad_section_to(piece.offset));
      TVC_CHECK_OK(sections_.add(piece.bytes));
    }
    if (sections_.position() > contents_.weight_bytes) return internal("weights reach over the end of their section");
    TVC_CHECK_OK(sections_.pad_section_to(contents_.weight_bytes));
    for (auto id : module_.main().inputs) {
      const auto* tensor = module_.value(id).default_value.get();
      if (!tensor) continue;
      TVC_CHECK_OK(sections_.pad_section_to((sections_.position() + kAlignment - 1) / kAlignment * kAlignment));
      auto bytes = default_bytes(*tensor);
      defaults_[id] = artifact::CreateDefaultDirect(builder_, &tensor->dims, sections_.position(),
                                                    static_cast<int64_t>(bytes.size()));
      TVC_CHECK_OK(sections_.add(bytes));
    }
    return sections_.end(builder_);
  }

  Result<std::vector<Offset<artifact::Variant>>> write_variants() {
    std::vector<Offset<artifact::Variant>> out;
    for (const auto& variant : contents_.variants) {
      TVC_CHECK_OK(sections_.begin());
      TVC_CHECK_OK(sections_.add(variant.object));
      auto features = builder_.CreateVectorOfStrings(variant.features);
      auto target = builder_.CreateString(variant.target);
      out.push_back(artifact::CreateVariant(builder_, target, features, sections_.end(builder_)));
    }
    return out;
  }

  Offset<artifact::Dim> dim(const ir::Dim& dim) {
    if (auto constant = dim.as_constant()) return artifact::CreateDim(builder_, *constant);
    auto index_of = [&](const std::string& name) {
      for (size_t k = 0; k < module_.symbols.size(); ++k)
        if (module_.symbols[k].name == name) return static_cast<int>(k);
      return -1;
    };
    int index = dim.as_symbol() ? index_of(*dim.as_symbol()) : -1;
    auto text = builder_.CreateString(dim.text());
    if (index >= 0) return artifact::CreateDim(builder_, -1, index, text);
    auto code = dim_code(dim, index_of);
    return artifact::CreateDim(builder_, -1, -1, text, code ? builder_.CreateVector(*code) : 0);
  }

  std::vector<Offset<artifact::Value>> values(const std::vector<ir::ValueId>& ids) {
    std::vector<Offset<artifact::Value>> out;
    for (auto id : ids) {
      const auto& value = module_.value(id);
      std::vector<Offset<artifact::Dim>> dims;
      if (value.type.kind == ir::Kind::kTensor)
        for (const auto& d : value.type.shape) dims.push_back(dim(d));
      std::vector<uint8_t> inner;
      for (auto kind : value.type.inner) inner.push_back(static_cast<uint8_t>(kind));
      auto found = defaults_.find(id);
      auto name = builder_.CreateString(value.name);
      auto inner_vector =
          builder_.CreateVector(reinterpret_cast<const artifact::ValueKind*>(inner.data()), inner.size());
      auto shape = builder_.CreateVector(dims);
      out.push_back(artifact::CreateValue(builder_, name, static_cast<artifact::ValueKind>(value.type.kind),
                                          inner_vector, static_cast<uint8_t>(value.type.dtype), shape,
                                          found == defaults_.end() ? 0 : found->second));
    }
    return out;
  }

  Result<void> write_manifest() {
    TVC_CHECK_OK(sections_.begin());
    auto offset = static_cast<uint64_t>(file_.size());
    std::span manifest(reinterpret_cast<const std::byte*>(builder_.GetBufferPointer()), builder_.GetSize());
    TVC_CHECK_OK(file_.append(manifest));
    auto header = [&](uint64_t hash) {
      return artifact::FileHeader(static_cast<uint64_t>(artifact::Format::magic), 1, 0,
                                  static_cast<uint64_t>(file_.size()), offset, manifest.size(), hash_bytes(manifest), 0,
                                  hash);
    };
    artifact::FileHeader unsealed = header(0);
    artifact::FileHeader sealed = header(hash_bytes(std::as_bytes(std::span(&unsealed, 1)).first(56)));
    return file_.write_at(0, std::as_bytes(std::span(&sealed, 1)));
  }

  const ArtifactContents& contents_;
  const ir::Module& module_;
  FileWriter& file_;
  SectionWriter sections_;
  FlatBufferBuilder builder_;
  std::map<ir::ValueId, Offset<artifact::Default>> defaults_;
};

}  // namespace

static_assert(sizeof(artifact::FileHeader) == 64);

Result<void> write_artifact(const std::filesystem::path& path, const ArtifactContents& contents) {
  if (!contents.module) return internal("an artifact needs a module");
  TVC_TRY(auto file, FileWriter::create(path));
  TVC_CHECK_OK(ManifestWriter(contents, *file).write());
  return file->commit();
}

}  // namespace tvc
