// SPDX-License-Identifier: Apache-2.0
// Free dimensions of inputs, --shape and --dim.
#include <doctest/doctest.h>

#include "formats/onnx_text.h"

using namespace tvc;
using namespace tvc::test;

namespace {

onnx::ModelProto cache_model() {
  return model_from_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[total, 8] mask, float[batch, past, 8] cache, float[batch, 1] last) => (float y) {
      a = ReduceSum <keepdims = 0> (mask)
      b = ReduceSum <keepdims = 0> (cache)
      c = ReduceSum <keepdims = 0> (last)
      y = Sum(a, b, c)
    })");
}

void set_param(onnx::ModelProto& model, int input, int axis, const std::string& text) {
  auto* dim =
      model.mutable_graph()->mutable_input(input)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(
          axis);
  dim->set_dim_param(text);
}

}  // namespace

TEST_CASE("the same text is the same symbol, a formula of such symbols is a formula") {
  auto model = cache_model();
  set_param(model, 0, 0, "past + 1");
  auto module = import_proto(model);
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  CHECK(shape_of(*module, 0) == "past + 1,8");
  CHECK(shape_of(*module, 1) == "batch,past,8");
  CHECK(shape_of(*module, 2) == "batch,1");
  CHECK(module->symbols.size() == 2);
}

TEST_CASE("a formula of sizes that are nowhere said alone is a size of its own") {
  auto model = cache_model();
  set_param(model, 0, 0, "other + 1");
  auto module = import_proto(model);
  REQUIRE(module.ok());
  CHECK(shape_of(*module, 0) == "other_1,8");
  CHECK(module->symbols[0].source_name == "other + 1");
}

TEST_CASE("names become identifiers that mean nothing else, and stay apart") {
  auto model = cache_model();
  set_param(model, 0, 0, "e12_0");
  set_param(model, 0, 1, "unk__12/x");
  set_param(model, 1, 0, "unk__12:x");
  set_param(model, 1, 1, "?");
  model.mutable_graph()
      ->mutable_input(2)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_value(-1);
  auto module = import_proto(model);
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  CHECK(shape_of(*module, 0) == "dim_e12_0,unk_12_x");
  CHECK(shape_of(*module, 1) == "unk_12_x_2,cache_dim1,8");
  CHECK(shape_of(*module, 2) == "batch,last_dim1");
}

TEST_CASE("--shape fixes a size wherever its name stands, --dim fixes or bounds") {
  onnx_format::ImportOptions options;
  options.shapes["last"] = {2, -1};
  options.dims["past"] = {0, 100};
  options.dims["total"] = {5, 5};
  auto module = import_proto(cache_model(), options);
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  CHECK(shape_of(*module, 0) == "5,8");
  CHECK(shape_of(*module, 1) == "2,past,8");
  REQUIRE(module->symbols.size() == 1);
  CHECK(module->symbols[0].high == 100);
}

TEST_CASE("options that fit nothing are refused with what there is") {
  const std::pair<onnx_format::ImportOptions, const char*> wrong[] = {
      {{{{"nothing", {1}}}, {}}, "cache, last, mask"},
      {{{}, {{"nothing", {1, 1}}}}, "batch, past, total"},
      {{{{"last", {1, 2, 3}}}, {}}, "3 dimensions, it has 2"},
      {{{{"last", {1, 7}}}, {}}, "which is 1"},
      {{{{"last", {1, 1}}, {"cache", {2, 1, 8}}}, {}}, "'batch'"},
      {{{{"last", {9, 1}}}, {{"batch", {1, 8}}}}, "'batch'"},
  };
  for (const auto& [options, said] : wrong) {
    auto module = import_proto(cache_model(), options);
    REQUIRE(!module.ok());
    CHECK(module.error().code == ErrorCode::kBadInput);
    CHECK_MESSAGE(module.error().message.find(said) != std::string::npos, module.error().text());
  }
}

TEST_CASE("an input without a shape wants --shape") {
  auto model = cache_model();
  model.mutable_graph()->mutable_input(2)->mutable_type()->mutable_tensor_type()->clear_shape();
  auto refused = import_proto(model);
  REQUIRE(!refused.ok());
  CHECK(refused.error().message.find("--shape last=") != std::string::npos);
  onnx_format::ImportOptions options;
  options.shapes["last"] = {-1, 3};
  auto module = import_proto(model, options);
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  CHECK(shape_of(*module, 2) == "last_dim0,3");
}

TEST_CASE("shapes whose elements cannot be counted are refused") {
  auto model = cache_model();
  auto* shape = model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (auto& dim : *shape->mutable_dim()) dim.set_dim_value(int64_t{1} << 40);
  auto module = import_proto(model);
  REQUIRE(!module.ok());
  CHECK(module.error().code == ErrorCode::kBadInput);
}
