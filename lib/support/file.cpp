// SPDX-License-Identifier: Apache-2.0
#include "support/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tvc {
namespace {

namespace fs = std::filesystem;

Error failed(const char* verb, const fs::path& path) {
  return bad_input("cannot {} {}: {}", verb, path.string(), std::strerror(errno));
}

class OpenFile {
 public:
  explicit OpenFile(const fs::path& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// The size of a regular file.
Result<size_t> size_of(const OpenFile& file, const fs::path& path) {
  struct stat status;
  if (file.fd() < 0 || fstat(file.fd(), &status) != 0) return failed("read", path);
  if (!S_ISREG(status.st_mode)) return bad_input("cannot read {}: not a file", path.string());
  return static_cast<size_t>(status.st_size);
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const fs::path& path) {
  OpenFile file(path);
  TVC_TRY(size_t size, size_of(file, path));
  std::shared_ptr<MappedFile> mapped(new MappedFile);
  if (size > 0) {
    void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd(), 0);
    if (data == MAP_FAILED) return failed("map", path);
    mapped->bytes_ = {static_cast<const std::byte*>(data), size};
  }
  return std::shared_ptr<const MappedFile>(std::move(mapped));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Result<std::vector<std::byte>> read_file(const fs::path& path) {
  OpenFile file(path);
  TVC_TRY(size_t size, size_of(file, path));
  std::vector<std::byte> bytes(size);
  size_t have = 0;
  while (have < size) {
    ssize_t n = read(file.fd(), bytes.data() + have, size - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("read", path);
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  bytes.resize(have);
  return bytes;
}

Result<std::unique_ptr<FileWriter>> FileWriter::create(const fs::path& path) {
  std::unique_ptr<FileWriter> writer(new FileWriter);
  std::string name = path.string() + ".XXXXXX";
  writer->fd_ = mkostemp(name.data(), O_CLOEXEC);
  if (writer->fd_ < 0) return failed("write", path);
  writer->path_ = path;
  writer->temporary_ = name;
  return writer;
}

FileWriter::~FileWriter() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Result<void> FileWriter::append(std::span<const std::byte> bytes) {
  int64_t at = size_;
  size_ += static_cast<int64_t>(bytes.size());
  return write_at(at, bytes);
}

Result<void> FileWriter::write_at(int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t n = pwrite(fd_, bytes.data(), bytes.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("write", path_);
    bytes = bytes.subspan(static_cast<size_t>(n));
    offset += n;
  }
  return {};
}

Result<void> FileWriter::commit() {
  // mkstemp makes files that only the owner reads; give what any other new file would have.
  mode_t mask = umask(0);
  umask(mask);
  if (fchmod(fd_, 0666 & ~mask) != 0 || fsync(fd_) != 0) return failed("write", path_);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return failed("write", path_);
  temporary_.clear();
  return {};
}

Result<void> write_file_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  TVC_TRY(auto writer, FileWriter::create(path));
  TVC_CHECK_OK(writer->append(bytes));
  return writer->commit();
}

Result<void> write_file_atomically(const fs::path& path, std::string_view text) {
  return write_file_atomically(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace tvc
