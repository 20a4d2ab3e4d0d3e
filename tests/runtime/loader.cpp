// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string>

#include "formats/artifact/reader.h"
#include "runtime/tvrt.h"
#include "small_models.h"
#include "support/file.h"
#include "support/hash.h"

using namespace tests;

namespace {

// Opens and, where that works, runs once.
std::string open_and_run(std::span<const std::byte> bytes, int32_t verify = TVRT_VERIFY_DEFAULT) {
  tvrt_model_options options = {};
  options.size = sizeof options;
  options.verify = verify;
  tvrt_model* model = nullptr;
  if (tvrt_model_open_bytes(bytes.data(), bytes.size(), &options, &model)) return tvrt_last_error();
  tvrt_context* context = nullptr;
  std::string result = "ran";
  if (tvrt_context_create(model, nullptr, &context)) {
    result = tvrt_last_error();
  } else {
    float data[8] = {};
    tvrt_value value = {};
    value.dtype = TVRT_F32;
    value.rank = 2;
    value.dims[0] = 2;
    value.dims[1] = 4;
    value.data = data;
    value.bytes = sizeof data;
    if (tvrt_context_set_input(context, 0, &value) || tvrt_context_run(context)) result = tvrt_context_error(context);
  }
  tvrt_context_destroy(context);
  tvrt_model_close(model);
  return result;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::byte> small_model_bytes(const std::vector<tvc::CodeVariant>& variants = {{"any", {}, {}}}) {
  Folder folder;
  return tvc::read_file(write_small_model(folder, variants)).value();
}

// Makes the header's hash right again.
void seal(std::vector<std::byte>& bytes) {
  uint64_t hash = tvc::hash_bytes(std::span(bytes).first(56));
  std::memcpy(bytes.data() + 56, &hash, 8);
}

}  // namespace

TEST_CASE("a whole artifact runs from memory, at any address") {
  auto bytes = small_model_bytes();
  CHECK(open_and_run(bytes) == "ran");
  for (size_t shift : {1, 4, 8, 63}) {
    std::vector<std::byte> shifted(bytes.size() + shift);
    std::memcpy(shifted.data() + shift, bytes.data(), bytes.size());
    CHECK(open_and_run(std::span(shifted).subspan(shift)) == "ran");
  }
  bytes.resize(bytes.size() + 100);  // as a signature would
  CHECK(open_and_run(bytes) == "ran");
}

TEST_CASE("a file that is cut off is refused at every length") {
  auto bytes = small_model_bytes();
  CHECK(contains(open_and_run(std::span(bytes).first(bytes.size() - 1)), "cut off"));
  for (size_t size = 0; size < bytes.size(); size += size < 128 ? 1 : 97) {
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    cut.reserve(1);
    CHECK(open_and_run(cut) != "ran");
  }
}

TEST_CASE("a flipped bit in header, manifest, weights or code is found; elsewhere it is padding") {
  auto bytes = small_model_bytes();
  std::mt19937 random(1);
  int ran = 0;
  for (int k = 0; k < 1000; ++k) {
    auto mutated = bytes;
    size_t at = k < 512 ? static_cast<size_t>(k / 8) : random() % bytes.size();
    mutated[at] ^= std::byte(1 << (random() % 8));
    std::string result = open_and_run(mutated);
    if (result == "ran") ++ran;
    else CHECK((contains(result, "damaged") || contains(result, "not an artifact")));
  }
  CHECK(ran < 20);
}

TEST_CASE("a mutated manifest with a right hash is refused or runs, and does no harm") {
  auto bytes = small_model_bytes();
  uint64_t offset = 0, size = 0;
  std::memcpy(&offset, bytes.data() + 24, 8);
  std::memcpy(&size, bytes.data() + 32, 8);
  std::mt19937 random(2);
  for (int k = 0; k < 2000; ++k) {
    auto mutated = bytes;
    for (uint32_t flips = random() % 3 + 1; flips > 0; --flips)
      mutated[offset + random() % size] ^= std::byte(1 << (random() % 8));
    uint64_t hash = tvc::hash_bytes(std::span(mutated).subspan(offset, size));
    std::memcpy(mutated.data() + 40, &hash, 8);
    seal(mutated);
    tvrt_model* model = nullptr;  // its code would run with sizes that it was not made for, so it is only opened
    if (tvrt_model_open_bytes(mutated.data(), mutated.size(), nullptr, &model))
      CHECK(std::string(tvrt_last_error()) != "");
    tvrt_model_close(model);
  }
}

TEST_CASE("sections that lie outside of the file are refused") {
  auto bytes = small_model_bytes();
  for (uint64_t offset : {uint64_t{1} << 40, ~uint64_t{63}, uint64_t{1}}) {
    auto mutated = bytes;
    std::memcpy(mutated.data() + 24, &offset, 8);
    seal(mutated);
    CHECK(open_and_run(mutated) == "the manifest lies outside of the file");
  }
  auto newer = bytes;
  newer[8] = std::byte{2};
  seal(newer);
  CHECK(contains(open_and_run(newer), "version 2"));
}

TEST_CASE("weights are checked when asked, or by default while they are small") {
  auto bytes = small_model_bytes();
  bytes[64 + 5] ^= std::byte{1};
  CHECK(open_and_run(bytes) == "the weight section is damaged: its hash is another");
  CHECK(open_and_run(bytes, TVRT_VERIFY_ALL) == "the weight section is damaged: its hash is another");
  CHECK(open_and_run(bytes, TVRT_VERIFY_CODE) == "ran");
}

TEST_CASE("the first variant that the machine runs is taken") {
  Folder folder;
  auto path = write_small_model(folder, {{"future", {"avx4096"}, {}}, {"plain", {}, {}}, {"plainer", {}, {}}});
  tvrt_model* model = nullptr;
  REQUIRE(tvrt_model_open(path.c_str(), nullptr, &model) == TVRT_OK);
  CHECK(std::string(tvrt_model_target(model)) == "plain");
  tvrt_model_close(model);
  tvrt_model_options options = {};
  options.size = sizeof options;
  options.target = "plainer";
  REQUIRE(tvrt_model_open(path.c_str(), &options, &model) == TVRT_OK);
  CHECK(std::string(tvrt_model_target(model)) == "plainer");
  tvrt_model_close(model);
  options.target = "future";
  CHECK(tvrt_model_open(path.c_str(), &options, &model) == TVRT_UNSUPPORTED);
  CHECK(std::string(tvrt_last_error()) == "this machine cannot run the artifact: the variant future needs avx4096");
  options.target = "none";
  CHECK(tvrt_model_open(path.c_str(), &options, &model) == TVRT_UNSUPPORTED);
}

TEST_CASE("code that is no code, or of another model, is refused") {
  CHECK(contains(open_and_run(small_model_bytes({{"any", {}, std::vector<std::byte>(100)}})), "cannot load the code"));
  CHECK(contains(open_and_run(small_model_bytes({{"any", {}, compile("int x;")}})),
                 "does not export tvrt_query_program"));
  std::string other = kSmallProgram;
  other.replace(other.find("{TVRT_ABI_VERSION, 2, 3"), 23, "{TVRT_ABI_VERSION, 2, 4");
  CHECK(contains(open_and_run(small_model_bytes({{"any", {}, compile(other)}})), "does not belong to this manifest"));
  std::string newer = kSmallProgram;
  newer.replace(newer.find("version >= TVRT_ABI_VERSION"), 27, "version >= 4000000000u      ");
  CHECK(contains(open_and_run(small_model_bytes({{"any", {}, compile(newer)}})), "needs a newer runtime"));
}

TEST_CASE("two models with different code live side by side") {
  std::string doubled = kSmallProgram;
  doubled.replace(doubled.find("z[count++] = 1.0f"), 17, "z[count++] = 2.0f");
  auto first = small_model_bytes(), second = small_model_bytes({{"any", {}, compile(doubled)}});
  tvrt_model *a = nullptr, *b = nullptr;
  REQUIRE(tvrt_model_open_bytes(first.data(), first.size(), nullptr, &a) == TVRT_OK);
  REQUIRE(tvrt_model_open_bytes(second.data(), second.size(), nullptr, &b) == TVRT_OK);
  float want = 1.0f;
  for (auto* model : {a, b}) {
    tvrt_context* context = nullptr;
    REQUIRE(tvrt_context_create(model, nullptr, &context) == TVRT_OK);
    float data[4] = {1, 1, 1, 1};
    tvrt_value value = {.kind = 0,
                        .dtype = TVRT_F32,
                        .rank = 2,
                        .reserved = 0,
                        .dims = {1, 4},
                        .data = data,
                        .bytes = 16,
                        .count = 0,
                        .items = nullptr};
    const tvrt_value* z = nullptr;
    REQUIRE(tvrt_context_set_input(context, 0, &value) == TVRT_OK);
    REQUIRE(tvrt_context_run(context) == TVRT_OK);
    REQUIRE(tvrt_context_output(context, 1, &z) == TVRT_OK);
    CHECK(static_cast<float*>(z->data)[0] == want);
    want += 1.0f;
    tvrt_context_destroy(context);
  }
  tvrt_model_close(a);
  tvrt_model_close(b);
}

TEST_CASE("equal contents give equal bytes, and the reader tells what is in them") {
  Folder folder;
  auto path = write_small_model(folder, {{"any", {"avx2", "fma"}, {}}});
  CHECK(tvc::read_file(path).value() == small_model_bytes({{"any", {"avx2", "fma"}, {}}}));
  CHECK(tvc::is_artifact(path));
  auto info = tvc::read_artifact(path);
  REQUIRE(info.ok());
  CHECK(info->inputs[0].dims == std::vector<std::string>{"n", "4"});
  CHECK(info->inputs[1].has_default);
  CHECK(info->symbols[0].source_name == "batch size");
  CHECK(info->variants[0].features == std::vector<std::string>{"avx2", "fma"});
  CHECK(info->weight_bytes == 80);
  CHECK(info->metadata.at("tool") == "tests");
  auto bytes = tvc::read_file(path).value();
  bytes[70] ^= std::byte{4};
  REQUIRE(tvc::write_file_atomically(path, bytes).ok());
  CHECK(contains(tvc::read_artifact(path).error().text(), "weight section is damaged"));
}
