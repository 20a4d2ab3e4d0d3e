// SPDX-License-Identifier: Apache-2.0
// Sequences, optionals and strings across the C API.
#include <doctest/doctest.h>

#include <string>

#include "runtime/tvrt.h"
#include "small_models.h"

using namespace tests;
namespace ir = tvc::ir;

namespace {

// reversed = the items of s, last first; there = o, or nothing; texts = t, "a" and "bc" by default; twice[2 * n] = x[n]
// twice, where x2 must have 2 * n elements.
const char* const kProgram = R"(
#include <string.h>
#include "abi.h"
static int32_t prepare(tvrt_frame* f) {
  f->arena_bytes = 0;
  f->outputs[3].dims[0] = 2 * f->symbols[0];
  return 0;
}
static int32_t run(tvrt_frame* f) {
  const tvrt_value* s = &f->inputs[0];
  tvrt_value* items = f->host->acquire(f, s->count * (int64_t)sizeof(tvrt_value));
  if (!items) return TVRT_OUT_OF_MEMORY;
  for (int64_t k = 0; k < s->count; ++k) items[k] = s->items[s->count - 1 - k];
  f->outputs[0] = (tvrt_value){.kind = TVRT_KIND_SEQUENCE, .dtype = TVRT_F32, .count = s->count, .items = items};
  f->outputs[1] = f->inputs[1];
  f->outputs[2] = f->inputs[2];
  int64_t n = f->symbols[0];
  char* twice = f->host->acquire(f, 8 * n);
  if (!twice) return TVRT_OUT_OF_MEMORY;
  memcpy(twice, f->inputs[3].data, 4 * n);
  memcpy(twice + 4 * n, f->inputs[3].data, 4 * n);
  f->outputs[3].data = twice;
  return 0;
}
static const tvrt_program program = {TVRT_ABI_VERSION, 5, 4, 1, 0, 0, prepare, run};
__attribute__((visibility("default"))) const tvrt_program* tvrt_query_program(uint32_t version) { (void)version; return &program; }
)";

ir::Module container_module() {
  ir::Module m;
  m.symbols.push_back({"n", "n", 1, 100});
  ir::Dim n = ir::Dim::symbol("n");
  ir::Type floats{.kind = ir::Kind::kTensor, .dtype = ir::DType::kF32, .shape = {n}, .inner = {}};
  ir::Type sequence{.kind = ir::Kind::kSequence, .dtype = ir::DType::kF32, .shape = {}, .inner = {ir::Kind::kTensor}};
  ir::Type optional{.kind = ir::Kind::kOptional, .dtype = ir::DType::kI64, .shape = {}, .inner = {ir::Kind::kTensor}};
  ir::Type strings{.kind = ir::Kind::kTensor, .dtype = ir::DType::kString, .shape = {2}, .inner = {}};
  ir::Type twice = floats;
  twice.shape = {n + n};
  auto add = [&](const char* name, const ir::Type& type) { return ir::add_value(m, name, type, 0); };
  m.main().inputs = {add("s", sequence), add("o", optional), add("t", strings), add("x", floats), add("x2", twice)};
  ir::Tensor texts;
  texts.dtype = ir::DType::kString;
  texts.dims = {2};
  texts.strings = {"a", "bc"};
  m.value(m.main().inputs[2]).default_value = std::make_shared<ir::Tensor>(texts);
  m.main().outputs = {add("reversed", sequence), add("there", optional), add("texts", strings), add("twice", twice)};
  return m;
}

struct Opened {
  Opened() {
    ir::Module module = container_module();
    tvc::ArtifactContents contents;
    contents.module = &module;
    contents.variants = {{"any", {}, compile(kProgram)}};
    auto path = folder.path / "model.tvc";
    REQUIRE(tvc::write_artifact(path, contents).ok());
    REQUIRE_MESSAGE(tvrt_model_open(path.c_str(), nullptr, &model) == TVRT_OK, tvrt_last_error());
    REQUIRE(tvrt_context_create(model, nullptr, &context) == TVRT_OK);
  }
  ~Opened() {
    tvrt_context_destroy(context);
    tvrt_model_close(model);
  }
  tvrt_status set(int32_t k, const tvrt_value& value) { return tvrt_context_set_input(context, k, &value); }
  const tvrt_value& output(int32_t k) const {
    const tvrt_value* value = nullptr;
    REQUIRE(tvrt_context_output(context, k, &value) == TVRT_OK);
    return *value;
  }
  std::string error() const { return tvrt_context_error(context); }
  Folder folder;
  tvrt_model* model = nullptr;
  tvrt_context* context = nullptr;
};

tvrt_value vector_of(int32_t dtype, int64_t count, void* data, int64_t element) {
  tvrt_value v = {};
  v.dtype = dtype;
  v.rank = 1;
  v.dims[0] = count;
  v.data = data;
  v.bytes = count * element;
  return v;
}

tvrt_value sequence_of(int64_t count, tvrt_value* items) {
  tvrt_value v = {};
  v.kind = TVRT_KIND_SEQUENCE;
  v.dtype = TVRT_F32;
  v.count = count;
  v.items = items;
  return v;
}

std::string text_of(const tvrt_value& value, int64_t k) {
  const auto& s = static_cast<const tvrt_string*>(value.data)[k];
  return std::string(s.data, static_cast<size_t>(s.size));
}

}  // namespace

TEST_CASE("sequences, optionals and strings pass through") {
  Opened o;
  CHECK(tvrt_model_input_info(o.model, 0)->kind == TVRT_KIND_SEQUENCE);
  CHECK(tvrt_model_input_info(o.model, 1)->flags == TVRT_INFO_OPTIONAL);
  CHECK(tvrt_model_input_info(o.model, 1)->rank == -1);
  CHECK(std::string(tvrt_model_input_info(o.model, 4)->dim_names[0]) == "2*n");
  float data[6] = {1, 2, 3, 4, 5, 6};
  tvrt_value items[2] = {vector_of(TVRT_F32, 2, data, 4), vector_of(TVRT_F32, 3, data, 4)};
  REQUIRE(o.set(0, sequence_of(2, items)) == TVRT_OK);
  REQUIRE(o.set(3, vector_of(TVRT_F32, 3, data, 4)) == TVRT_OK);
  REQUIRE(o.set(4, vector_of(TVRT_F32, 6, data, 4)) == TVRT_OK);
  REQUIRE_MESSAGE(tvrt_context_run(o.context) == TVRT_OK, o.error());
  REQUIRE(o.output(0).count == 2);
  CHECK(o.output(0).items[0].dims[0] == 3);
  CHECK(o.output(1).kind == TVRT_KIND_NONE);
  CHECK(text_of(o.output(2), 0) == "a");
  CHECK(text_of(o.output(2), 1) == "bc");
  CHECK(static_cast<float*>(o.output(3).data)[5] == 3);
  int64_t number = 7;
  tvrt_value given = vector_of(TVRT_I64, 1, &number, 8);
  tvrt_string texts[2] = {{"x", 1}, {"", 0}};
  REQUIRE(o.set(0, sequence_of(0, nullptr)) == TVRT_OK);
  REQUIRE(o.set(1, given) == TVRT_OK);
  REQUIRE(o.set(2, vector_of(TVRT_STRING, 2, texts, 16)) == TVRT_OK);
  REQUIRE(tvrt_context_run(o.context) == TVRT_OK);
  CHECK(o.output(0).count == 0);
  CHECK(o.output(1).data == &number);
  CHECK(text_of(o.output(2), 0) == "x");
}

TEST_CASE("a size that another one decides must agree with it") {
  Opened o;
  float data[6] = {};
  REQUIRE(o.set(0, sequence_of(0, nullptr)) == TVRT_OK);
  REQUIRE(o.set(3, vector_of(TVRT_F32, 3, data, 4)) == TVRT_OK);
  REQUIRE(o.set(4, vector_of(TVRT_F32, 5, data, 4)) == TVRT_OK);
  CHECK(tvrt_context_run(o.context) == TVRT_BAD_ARGUMENT);
  CHECK(o.error() == "input 'x2' has 5 in dimension 0, where 2*n is 6");
}

TEST_CASE("containers that do not fit are refused") {
  Opened o;
  float data[6] = {};
  tvrt_value items[2] = {vector_of(TVRT_F32, 2, data, 4), vector_of(TVRT_I64, 1, data, 8)};
  CHECK(o.set(0, sequence_of(2, items)) == TVRT_BAD_ARGUMENT);
  CHECK(o.error() == "input 's' takes sequence of f32, item 1 is i64[1]");
  CHECK(o.set(0, sequence_of(-1, items)) == TVRT_BAD_ARGUMENT);
  CHECK(o.set(0, sequence_of(2, nullptr)) == TVRT_BAD_ARGUMENT);
  items[1] = vector_of(TVRT_F32, 2, data, 3);
  CHECK(o.set(0, sequence_of(2, items)) == TVRT_BAD_ARGUMENT);
  tvrt_value nothing = {};
  nothing.kind = TVRT_KIND_NONE;
  CHECK(o.set(0, nothing) == TVRT_BAD_ARGUMENT);
  CHECK(o.set(1, nothing) == TVRT_OK);
  CHECK(o.set(1, items[0]) == TVRT_BAD_ARGUMENT);
  CHECK(o.error() == "input 'o' takes optional i64, got f32[2]");
  CHECK(tvrt_context_bind_output(o.context, 0, data, 4) == TVRT_BAD_ARGUMENT);
  CHECK(tvrt_context_bind_output(o.context, 2, data, 4) == TVRT_BAD_ARGUMENT);
}
