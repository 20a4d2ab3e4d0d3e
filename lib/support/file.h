// SPDX-License-Identifier: Apache-2.0
// Files: mapped, read whole, written whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace tvc {

// A file mapped read-only; the bytes live as long as the object.
class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  MappedFile() = default;
  std::span<const std::byte> bytes_;
};

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path);

// A file under a temporary name in the folder of `path`, moved there by commit(). Without commit() nothing stays.
class FileWriter {
 public:
  static Result<std::unique_ptr<FileWriter>> create(const std::filesystem::path& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  Result<void> append(std::span<const std::byte> bytes);
  Result<void> write_at(int64_t offset, std::span<const std::byte> bytes);  // over what was appended
  Result<void> commit();                                                    // to the disk, then the final name
  int64_t size() const { return size_; }

 private:
  FileWriter() = default;
  std::filesystem::path path_, temporary_;
  int fd_ = -1;
  int64_t size_ = 0;
};

Result<void> write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace tvc
