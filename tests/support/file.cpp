// SPDX-License-Identifier: Apache-2.0
#include "support/file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "support/hash.h"

using namespace tvc;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("tvc-file-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  size_t entries() const { return static_cast<size_t>(std::distance(fs::directory_iterator(path), {})); }
};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

TEST_CASE("a file is written whole, read whole and mapped") {
  Folder folder;
  auto path = folder.path / "a";
  for (std::string text : {std::string("first"), std::string(), std::string(100000, 'x')}) {
    REQUIRE(write_file_atomically(path, text).ok());
    CHECK(text_of(read_file(path).value()) == text);
    CHECK(text_of(MappedFile::open(path).value()->bytes()) == text);
    CHECK(folder.entries() == 1);
  }
}

TEST_CASE("a file that is not committed leaves nothing, and the old one as it was") {
  Folder folder;
  auto path = folder.path / "a";
  REQUIRE(write_file_atomically(path, std::string_view("old")).ok());
  {
    auto writer = FileWriter::create(path);
    REQUIRE(writer.ok());
    REQUIRE((*writer)->append(bytes_of("new, but half")).ok());
    CHECK(folder.entries() == 2);
  }
  CHECK(folder.entries() == 1);
  CHECK(text_of(read_file(path).value()) == "old");
}

TEST_CASE("a committed file has the rights of any new file") {
  Folder folder;
  mode_t mask = umask(022);
  REQUIRE(write_file_atomically(folder.path / "a", std::string_view("x")).ok());
  umask(mask);
  CHECK((fs::status(folder.path / "a").permissions() & fs::perms::all) == fs::perms(0644));
}

TEST_CASE("what cannot be read or written is an error that names it") {
  CHECK(read_file("/nowhere/x").error().text().find("/nowhere/x") != std::string::npos);
  CHECK(!MappedFile::open("/nowhere/x").ok());
  CHECK(MappedFile::open("/tmp").error().text().find("not a file") != std::string::npos);
  CHECK(!write_file_atomically("/nowhere/x", std::string_view("x")).ok());
}

TEST_CASE("a hash of pieces is the hash of the whole") {
  std::string text(5000, 'a');
  Hasher hasher;
  hasher.add(std::string_view(text).substr(0, 1234));
  hasher.add(bytes_of(text).subspan(1234));
  CHECK(hasher.value() == hash_bytes(bytes_of(text)));
  CHECK(hasher.value() == hash_text(text));
  CHECK(hasher.hex() == hash_hex(bytes_of(text)));
  CHECK(hash_hex({}) == "99aa06d3014798d86001c324468d497f");  // of the specification
}
