// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/cpu.h"

namespace tvrt {
namespace {

constexpr uint64_t kMaxManifest = uint64_t{1} << 30;
constexpr uint64_t kWeightsReadByDefault = uint64_t{32} << 20;

int32_t check_bounds(const tvrt_model& model, uint64_t offset, uint64_t size, const char* what, Message& message) {
  if (offset % 64 == 0 && offset <= model.file_size && size <= model.file_size - offset) return TVRT_OK;
  return message.set(TVRT_BAD_ARTIFACT, "the %s lies outside of the file", what);
}

int32_t check_hash(const uint8_t* bytes, uint64_t size, uint64_t hash, const char* what, Message& message) {
  if (XXH3_64bits(bytes, size) == hash) return TVRT_OK;
  return message.set(TVRT_BAD_ARTIFACT, "the %s is damaged: its hash is another", what);
}

int32_t read_manifest(tvrt_model& model, Message& message) {
  artifact::FileHeader header;
  constexpr size_t kSealed = sizeof header - sizeof(uint64_t);
  if (model.file_size >= sizeof header) memcpy(&header, model.file, sizeof header);
  if (model.file_size < sizeof header || header.magic() != static_cast<uint64_t>(artifact::Format::magic))
    return message.set(TVRT_BAD_ARTIFACT, "not an artifact");
  if (int32_t status = check_hash(model.file, kSealed, header.header_hash(), "header", message)) return status;
  if (header.version() != 1 || header.features() != 0)
    return message.set(TVRT_UNSUPPORTED, "the artifact is of version %u with features %u; this runtime reads version 1",
                       header.version(), header.features());
  if (header.file_size() > model.file_size)
    return message.set(TVRT_BAD_ARTIFACT, "the file is cut off: %llu of %llu bytes",
                       static_cast<unsigned long long>(model.file_size),
                       static_cast<unsigned long long>(header.file_size()));
  model.file_size = header.file_size();  // behind it may stand a signature
  uint64_t offset = header.manifest_offset(), size = header.manifest_size();
  if (int32_t status = check_bounds(model, offset, size, "manifest", message)) return status;
  if (size > kMaxManifest) return message.set(TVRT_BAD_ARTIFACT, "the manifest is too large");
  if (int32_t status = check_hash(model.file + offset, size, header.manifest_hash(), "manifest", message))
    return status;
  flatbuffers::Verifier verifier(model.file + offset, size);
  if (size < 16 || !artifact::VerifyManifestBuffer(verifier))
    return message.set(TVRT_BAD_ARTIFACT, "the manifest is malformed");
  model.manifest = artifact::GetManifest(model.file + offset);
  return TVRT_OK;
}

int32_t read_weights(tvrt_model& model, int32_t verify, Message& message) {
  const artifact::Section& section = *model.manifest->weights();
  if (int32_t status = check_bounds(model, section.offset(), section.size(), "weight section", message)) return status;
  model.weights = model.file + section.offset();
  model.weight_bytes = static_cast<int64_t>(section.size());
  if (verify == TVRT_VERIFY_ALL || (verify == TVRT_VERIFY_DEFAULT && section.size() <= kWeightsReadByDefault))
    if (int32_t status = check_hash(model.weights, section.size(), section.hash(), "weight section", message))
      return status;
  return TVRT_OK;
}

// The first feature that the machine lacks; NULL: it has all.
const char* missing_feature(const artifact::Variant& variant) {
  if (!variant.features()) return nullptr;
  for (const auto* feature : *variant.features())
    if (!cpu_supports(feature->c_str())) return feature->c_str();
  return nullptr;
}

int32_t choose_variant(tvrt_model& model, const char* target, const artifact::Variant** chosen, Message& message) {
  const auto* variants = model.manifest->variants();
  const char *missing = nullptr, *of = nullptr;
  for (uint32_t k = 0; variants && k < variants->size(); ++k) {
    const artifact::Variant& variant = *variants->Get(k);
    if (target && !same_text(*variant.target(), target)) continue;
    of = variant.target()->c_str();
    missing = missing_feature(variant);
    if (missing) continue;
    *chosen = &variant;
    model.target = of;
    const artifact::Section& code = *variant.code();
    if (int32_t status = check_bounds(model, code.offset(), code.size(), "code section", message)) return status;
    return check_hash(model.file + code.offset(), code.size(), code.hash(), "code section", message);
  }
  if (missing)
    return message.set(TVRT_UNSUPPORTED, "this machine cannot run the artifact: the variant %s needs %s", of, missing);
  if (target) return message.set(TVRT_UNSUPPORTED, "the artifact has no variant '%s'", target);
  return message.set(TVRT_UNSUPPORTED, "the artifact has no code");
}

}  // namespace

int32_t map_file(tvrt_model& model, const char* path, Message& message) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return message.set(TVRT_IO, "cannot open %s: %s", path, strerror(errno));
  struct stat status;
  bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  void* mapped = MAP_FAILED;
  errno = 0;
  if (is_file && status.st_size > 0)
    mapped = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  int error = errno;
  close(fd);
  if (!is_file) return message.set(TVRT_IO, "cannot open %s: not a file", path);
  if (status.st_size == 0) return message.set(TVRT_BAD_ARTIFACT, "%s is empty", path);
  if (mapped == MAP_FAILED) return message.set(TVRT_IO, "cannot map %s: %s", path, strerror(error));
  model.file = static_cast<const uint8_t*>(mapped);
  model.file_size = static_cast<size_t>(status.st_size);
  model.mapped_size = model.file_size;
  return TVRT_OK;
}

int32_t take_bytes(tvrt_model& model, const void* bytes, size_t size, Message& message) {
  model.file = static_cast<const uint8_t*>(bytes);
  model.file_size = size;
  if (reinterpret_cast<uintptr_t>(bytes) % 64 == 0) return TVRT_OK;
  if (posix_memalign(&model.copy, 64, size + 1) != 0)
    return message.set(TVRT_OUT_OF_MEMORY, "no memory for an artifact of %zu bytes", size);
  memcpy(model.copy, bytes, size);
  model.file = static_cast<const uint8_t*>(model.copy);
  return TVRT_OK;
}

int32_t read_artifact(tvrt_model& model, const tvrt_model_options& options, const artifact::Variant** variant,
                      Message& message) {
  if (int32_t status = read_manifest(model, message)) return status;
  if (int32_t status = read_weights(model, options.verify, message)) return status;
  if (int32_t status = read_signature(model, message)) return status;
  if (options.program) return TVRT_OK;
  return choose_variant(model, options.target, variant, message);
}

}  // namespace tvrt
