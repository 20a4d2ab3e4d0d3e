// SPDX-License-Identifier: Apache-2.0
#include "small_models.h"

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "support/file.h"
#include "support/subprocess.h"

namespace tests {

namespace ir = tvc::ir;

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "tvrt-test-XXXXXX").string();
  path = mkdtemp(name.data());
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::vector<std::byte> compile(const std::string& text) {
  static std::map<std::string, std::vector<std::byte>> known;
  auto& object = known[text];
  if (!object.empty()) return object;
  Folder folder;
  auto source = folder.path / "program.c", library = folder.path / "program.so";
  if (!tvc::write_file_atomically(source, text).ok()) throw std::runtime_error("no source file");
  const char* root = std::getenv("TVC_SOURCE_DIR");
  std::string include = std::string("-I") + (root ? root : ".") + "/lib/runtime";
  auto run = tvc::run_process(
      {"cc", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", include, source.string(), "-o", library.string()});
  if (!run.ok() || run->exit_code != 0) throw std::runtime_error(run.ok() ? run->output : run.error().text());
  return object = tvc::read_file(library).value();
}

const char* const kSmallProgram = R"(
#include <string.h>
#include "abi.h"

typedef struct { const float *a, *b, *w; float* y; } args_t;

static void multiply_add(const void* args, int64_t begin, int64_t end, int32_t thread) {
  const args_t* p = args;
  (void)thread;
  for (int64_t r = begin; r < end; ++r)
    for (int64_t c = 0; c < 4; ++c) p->y[4 * r + c] = p->a[4 * r + c] * p->w[c] + (p->b ? p->b[c] : 0.0f);
}

static int32_t prepare(tvrt_frame* f) {
  int64_t n = f->symbols[0];
  int64_t bytes[1] = {16 * n};
  int32_t first[1] = {0}, last[1] = {1};
  f->arena_bytes = f->host->plan(1, bytes, first, last, f->offsets);
  if (f->arena_bytes < 0) return f->host->fail(f, TVRT_OUT_OF_MEMORY, "the sizes overflow");
  f->outputs[0].dims[0] = n;
  f->outputs[0].dims[1] = 4;
  return TVRT_OK;
}

static int32_t run(tvrt_frame* f) {
  int64_t n = f->symbols[0], count = 0;
  float* y = (float*)(f->arena + f->offsets[0]);
  if (f->outputs[0].data && f->outputs[0].bytes >= 16 * n) y = f->outputs[0].data;
  args_t args = {f->inputs[0].data, f->inputs[1].data, (const float*)f->weights, y};
  f->host->parallel(f, multiply_add, &args, n);
  if (n > 0 && args.a[0] == 666.0f) return f->host->fail(f, TVRT_RUN_FAILED, "the number of the beast");
  f->outputs[0].data = y;
  float* z = f->host->acquire(f, 16 * n);
  float* scratch = f->host->acquire(f, 1000);
  if (!z || !scratch) return TVRT_OUT_OF_MEMORY;
  for (int64_t k = 0; k < 4 * n; ++k)
    if (y[k] > 0) z[count++] = 1.0f;
  f->host->release(f, scratch);
  f->outputs[1] = (tvrt_value){.kind = TVRT_KIND_TENSOR, .dtype = TVRT_F32, .rank = 1, .dims = {count}, .data = z};
  int64_t* runs = (int64_t*)f->states;
  ++*runs;
  f->outputs[2].data = runs;
  return TVRT_OK;
}

static const tvrt_program program = {TVRT_ABI_VERSION, 2, 3, 1, 1, 8, prepare, run};
__attribute__((visibility("default"))) const tvrt_program* tvrt_query_program(uint32_t version) {
  return version >= TVRT_ABI_VERSION ? &program : 0;
}
)";

ir::Module small_module() {
  ir::Module module;
  module.symbols.push_back({"n", "batch size", 0, 1000});
  auto type = [](ir::DType dtype, ir::Shape shape) {
    ir::Type t;
    t.dtype = dtype;
    t.shape = std::move(shape);
    return t;
  };
  ir::Dim n = ir::Dim::symbol("n");
  auto a = ir::add_value(module, "a", type(ir::DType::kF32, {n, 4}), 0);
  auto b = ir::add_value(module, "b", type(ir::DType::kF32, {4}), 0);
  module.value(b).default_value = std::make_shared<ir::Tensor>(ir::make_f32({4}, {0.5f, 0.5f, 0.5f, 0.5f}));
  auto y = ir::add_value(module, "y", type(ir::DType::kF32, {n, 4}), 0);
  auto z = ir::add_value(module, "z", type(ir::DType::kF32, {ir::Dim::symbol("u3_0")}), 0);
  auto runs = ir::add_value(module, "runs", type(ir::DType::kI64, {}), 0);
  module.main().inputs = {a, b};
  module.main().outputs = {y, z, runs};
  return module;
}

std::filesystem::path write_small_model(const Folder& folder, const std::vector<tvc::CodeVariant>& variants) {
  ir::Module module = small_module();
  static const float kWeights[4] = {1, 2, 3, 4};
  tvc::ArtifactContents contents;
  contents.module = &module;
  contents.weights = {{0, std::as_bytes(std::span(kWeights))}};
  contents.weight_bytes = sizeof kWeights;
  contents.variants = variants;
  for (auto& variant : contents.variants)
    if (variant.object.empty()) variant.object = compile(kSmallProgram);
  contents.metadata = {{"tool", "tests"}, {"source", "by hand"}};
  auto path = folder.path / "model.tvc";
  auto written = tvc::write_artifact(path, contents);
  if (!written.ok()) throw std::runtime_error(written.error().text());
  return path;
}

}  // namespace tests
