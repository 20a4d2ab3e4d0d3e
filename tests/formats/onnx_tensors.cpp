// SPDX-License-Identifier: Apache-2.0
// Initializers of every type and form; files beside the model.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>

#include "formats/onnx_text.h"

using namespace tvc;
using namespace tvc::test;

namespace {

// A model with one initializer, which is the second input of a node of a domain that nobody checks.
onnx::ModelProto model_with(const onnx::TensorProto& tensor) {
  auto model =
      model_from_text(R"(<ir_version: 13, opset_import: ["" : 25]> g (float[1] x) => (int64[n] y) { y = Shape(w) })");
  *model.mutable_graph()->add_initializer() = tensor;
  model.mutable_graph()->mutable_initializer(0)->set_name("w");
  return model;
}

Result<ir::Tensor> imported(const onnx::TensorProto& tensor) {
  TVC_TRY(auto module, import_proto(model_with(tensor)));
  return *module.constant(find_node(module, "Shape")->inputs[0]);
}

onnx::TensorProto raw(int type, std::vector<int64_t> dims, std::string bytes) {
  onnx::TensorProto tensor;
  tensor.set_data_type(type);
  for (int64_t d : dims) tensor.add_dims(d);
  tensor.set_raw_data(std::move(bytes));
  return tensor;
}

onnx::TensorProto external(std::vector<std::pair<std::string, std::string>> entries) {
  onnx::TensorProto tensor;
  tensor.set_name("w");
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(2);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  for (auto& [key, value] : entries) {
    auto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return tensor;
}

}  // namespace

TEST_CASE("typed fields and raw bytes give the same tensor, whatever the type") {
  for (int type = 1; type <= static_cast<int>(ir::DType::kI2); ++type) {
    const auto dtype = static_cast<ir::DType>(type);
    if (dtype == ir::DType::kString || dtype == ir::DType::kC64 || dtype == ir::DType::kC128) continue;
    CAPTURE(ir::name(dtype));
    const auto want = ir::from_f64(dtype, {5}, {1, 0, 1, 1, 1});
    const std::string bytes(reinterpret_cast<const char*>(want.bytes.data()), want.bytes.size());
    auto from_raw = imported(raw(type, {5}, bytes));
    REQUIRE_MESSAGE(from_raw.ok(), from_raw.error().text());
    CHECK(ir::to_f64(*from_raw) == ir::to_f64(want));

    onnx::TensorProto typed = raw(type, {5}, "");
    typed.clear_raw_data();
    const size_t width = std::max(ir::bit_width(dtype), 8) / 8;
    for (size_t at = 0; at < bytes.size(); at += width) {
      int64_t entry = 0;
      std::memcpy(&entry, bytes.data() + at, width);
      switch (dtype) {
        case ir::DType::kF32: typed.add_float_data(static_cast<float>(entry != 0)); break;
        case ir::DType::kF64: typed.add_double_data(static_cast<double>(entry != 0)); break;
        case ir::DType::kI64: typed.add_int64_data(entry); break;
        case ir::DType::kU32:
        case ir::DType::kU64: typed.add_uint64_data(static_cast<uint64_t>(entry)); break;
        default: typed.add_int32_data(static_cast<int32_t>(entry));
      }
    }
    auto from_typed = imported(typed);
    REQUIRE_MESSAGE(from_typed.ok(), from_typed.error().text());
    CHECK(ir::to_f64(*from_typed) == ir::to_f64(want));
  }
}

TEST_CASE("packed int4 has its low half first; bytes of bool are 0 or 1; strings are strings") {
  auto packed = imported(raw(onnx::TensorProto::INT4, {3}, "\x87\x0f"));
  REQUIRE_MESSAGE(packed.ok(), packed.error().text());
  CHECK(ir::to_i64(*packed) == std::vector<int64_t>{7, -8, -1});
  auto truth = imported(raw(onnx::TensorProto::BOOL, {3}, std::string("\x02\x00\x01", 3)));
  REQUIRE(truth.ok());
  CHECK(truth->as<uint8_t>()[0] == 1);
  onnx::TensorProto strings;
  strings.set_data_type(onnx::TensorProto::STRING);
  strings.add_dims(2);
  strings.add_string_data("a");
  strings.add_string_data(std::string("b\0c", 3));
  auto text = imported(strings);
  REQUIRE_MESSAGE(text.ok(), text.error().text());
  CHECK(text->strings[1].size() == 3);
}

TEST_CASE("large weights are views of the message") {
  auto tensor = imported(raw(onnx::TensorProto::FLOAT, {1 << 16}, std::string(4 << 16, 'x')));
  REQUIRE(tensor.ok());
  CHECK(tensor->owner != nullptr);
  CHECK(tensor->bytes.size() == size_t{4} << 16);
}

TEST_CASE("sizes that do not fit the bytes are refused before anything is allocated") {
  const int64_t huge = int64_t{1} << 40;
  for (const auto& dims : std::vector<std::vector<int64_t>>{{3}, {huge}, {huge, huge}, {-1}, {INT64_MAX, 2}, {0, 5}}) {
    auto tensor = imported(raw(onnx::TensorProto::FLOAT, dims, std::string(8, '\0')));
    CHECK(!tensor.ok());
    auto typed = raw(onnx::TensorProto::INT64, dims, "");
    typed.clear_raw_data();
    typed.add_int64_data(1);
    CHECK(!imported(typed).ok());
  }
  CHECK(imported(raw(onnx::TensorProto::FLOAT, {0, huge, huge}, "")).ok());
  CHECK(!imported(raw(99, {1}, "1234")).ok());
}

TEST_CASE("sparse initializers and constants are made dense") {
  auto model = model_from_text(
      R"(<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x) => (float[2,3] y) { y = Add(x, w) })");
  auto& sparse = *model.mutable_graph()->add_sparse_initializer();
  for (int64_t d : {2, 3}) sparse.add_dims(d);
  auto& values = *sparse.mutable_values();
  values.set_name("w");
  values.set_data_type(onnx::TensorProto::FLOAT);
  values.add_dims(2);
  for (float v : {7.f, 8.f}) values.add_float_data(v);
  auto& indices = *sparse.mutable_indices();
  indices.set_data_type(onnx::TensorProto::INT64);
  indices.add_dims(2);
  for (int64_t v : {1, 5}) indices.add_int64_data(v);
  auto module = import_proto(model);
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  CHECK(constant_ints(*module, find_node(*module, "Add")->inputs[1]) == std::vector<int64_t>{0, 7, 0, 0, 0, 8});
  indices.add_dims(2);
  indices.clear_int64_data();
  for (int64_t v : {0, 1, 1, 2}) indices.add_int64_data(v);
  auto by_coordinates = import_proto(model);
  REQUIRE_MESSAGE(by_coordinates.ok(), by_coordinates.error().text());
  CHECK(constant_ints(*by_coordinates, find_node(*by_coordinates, "Add")->inputs[1]) ==
        std::vector<int64_t>{0, 7, 0, 0, 0, 8});
  indices.set_int64_data(3, 3);
  CHECK(!import_proto(model).ok());
}

TEST_CASE("external data is mapped, and may not lead out of the model's folder") {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder.path / "model" / "data");
  const auto file = folder.path / "model" / "m.onnx";
  const float numbers[] = {1, 2, 3, 4};
  for (const char* name : {"model/w.bin", "model/data/w.bin", "outside.bin"})
    std::ofstream(folder.path / name, std::ios::binary).write(reinterpret_cast<const char*>(numbers), sizeof numbers);
  std::filesystem::create_symlink("../outside.bin", folder.path / "model" / "link.bin");
  auto read = [&](const onnx::TensorProto& tensor) -> Result<ir::Tensor> {
    std::ofstream(file, std::ios::binary) << model_with(tensor).SerializeAsString();
    CollectedDiagnostics diagnostics;
    TVC_TRY(auto module, onnx_format::import_model(file, {}, diagnostics));
    return *module.constant(find_node(module, "Shape")->inputs[0]);
  };
  auto good = read(external({{"location", "data/w.bin"}, {"offset", "8"}, {"length", "8"}}));
  REQUIRE_MESSAGE(good.ok(), good.error().text());
  CHECK(good->as<float>()[0] == 3);
  CHECK(read(external({{"location", "w.bin"}, {"offset", "8"}})).ok());
  const std::vector<std::vector<std::pair<std::string, std::string>>> wrong = {
      {{"location", "../outside.bin"}, {"length", "8"}},
      {{"location", (folder.path / "outside.bin").string()}, {"length", "8"}},
      {{"location", "link.bin"}, {"length", "8"}},
      {{"location", "missing.bin"}, {"length", "8"}},
      {{"location", "data"}, {"length", "8"}},
      {{"location", ""}},
      {{"location", "w.bin"}, {"offset", "12"}, {"length", "8"}},
      {{"location", "w.bin"}, {"offset", "9223372036854775807"}, {"length", "9223372036854775807"}},
      {{"location", "w.bin"}, {"offset", "-8"}, {"length", "8"}},
      {{"location", "w.bin"}, {"length", "4"}},
      {{"location", "w.bin"}, {"length", "eight"}},
  };
  for (const auto& entries : wrong) {
    auto refused = read(external(entries));
    CAPTURE(entries[0].second);
    REQUIRE(!refused.ok());
    CHECK(refused.error().code == ErrorCode::kBadInput);
  }
}
