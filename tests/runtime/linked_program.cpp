// SPDX-License-Identifier: Apache-2.0
// Code linked into the program, with an artifact that brings signature and weights only.
#include <doctest/doctest.h>

#include <string>

#include "runtime/tvrt.h"
#include "small_models.h"

using namespace tests;

namespace {

int32_t prepare(tvrt_frame* f) {
  f->arena_bytes = 0;
  f->outputs[0].dims[0] = f->symbols[0];
  f->outputs[0].dims[1] = 4;
  return TVRT_OK;
}

// y = a, z = weights, runs = 1 element of weights as it lies.
int32_t run(tvrt_frame* f) {
  f->outputs[0].data = f->inputs[0].data;
  f->outputs[1] = tvrt_value{};
  f->outputs[1].dtype = TVRT_F32;
  f->outputs[1].rank = 1;
  f->outputs[1].dims[0] = 4;
  f->outputs[1].data = const_cast<uint8_t*>(f->weights);
  f->outputs[2].data = const_cast<uint8_t*>(f->weights);
  return TVRT_OK;
}

}  // namespace

TEST_CASE("a linked program runs with an artifact that has no code") {
  Folder folder;
  auto path = write_small_model(folder, {});
  tvrt_model* model = nullptr;
  CHECK(tvrt_model_open(path.c_str(), nullptr, &model) == TVRT_UNSUPPORTED);
  CHECK(std::string(tvrt_last_error()) == "the artifact has no code");
  const tvrt_program program = {TVRT_ABI_VERSION, 2, 3, 1, 0, 0, prepare, run};
  tvrt_model_options options = {};
  options.size = sizeof options;
  options.program = &program;
  REQUIRE_MESSAGE(tvrt_model_open(path.c_str(), &options, &model) == TVRT_OK, tvrt_last_error());
  tvrt_context* context = nullptr;
  REQUIRE(tvrt_context_create(model, nullptr, &context) == TVRT_OK);
  float a[4] = {5, 6, 7, 8};
  tvrt_value value = {};
  value.dtype = TVRT_F32;
  value.rank = 2;
  value.dims[0] = 1;
  value.dims[1] = 4;
  value.data = a;
  value.bytes = sizeof a;
  const tvrt_value* out = nullptr;
  REQUIRE(tvrt_context_set_input(context, 0, &value) == TVRT_OK);
  REQUIRE(tvrt_context_run(context) == TVRT_OK);
  REQUIRE(tvrt_context_output(context, 1, &out) == TVRT_OK);
  CHECK(static_cast<float*>(out->data)[3] == 4.0f);
  tvrt_context_destroy(context);
  tvrt_model_close(model);
}

TEST_CASE("a linked program of another signature is refused") {
  Folder folder;
  auto path = write_small_model(folder, {});
  const tvrt_program program = {TVRT_ABI_VERSION, 1, 3, 1, 0, 0, prepare, run};
  const tvrt_program newer = {TVRT_ABI_VERSION + 1, 2, 3, 1, 0, 0, prepare, run};
  tvrt_model_options options = {};
  options.size = sizeof options;
  options.program = &program;
  tvrt_model* model = nullptr;
  CHECK(tvrt_model_open(path.c_str(), &options, &model) == TVRT_BAD_ARTIFACT);
  options.program = &newer;
  CHECK(tvrt_model_open(path.c_str(), &options, &model) == TVRT_UNSUPPORTED);
  CHECK(model == nullptr);
}
