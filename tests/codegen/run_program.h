// SPDX-License-Identifier: Apache-2.0
// Runs a module's emitted code for one target in this process: inputs in order, outputs in order.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "codegen/source_tree.h"
#include "ir/ir.h"
#include "runtime/abi.h"

namespace tvc::tests {

// A host that runs tasks one after the other, cut for `threads` threads, and gives every buffer a place of its own.
struct PlainHost {
  int32_t threads = 1;
  std::string message;
  std::vector<void*> blocks;
  ~PlainHost() {
    for (void* block : blocks) std::free(block);
  }

  static PlainHost& of(tvrt_frame* f) { return *static_cast<PlainHost*>(f->context); }
  static void parallel(tvrt_frame* f, tvrt_kernel kernel, const void* args, int64_t tasks) {
    const int64_t n = f->threads;
    for (int64_t t = 0; t < n; ++t) kernel(args, tasks * t / n, tasks * (t + 1) / n, static_cast<int32_t>(t));
  }
  static void* acquire(tvrt_frame* f, int64_t bytes) {
    of(f).blocks.push_back(std::aligned_alloc(64, static_cast<size_t>(bytes + 64) / 64 * 64 + 64));
    return of(f).blocks.back();
  }
  static void release(tvrt_frame*, void*) {}
  static int64_t plan(int32_t n, const int64_t* bytes, const int32_t*, const int32_t*, int64_t* offsets) {
    int64_t at = 0;
    for (int32_t k = 0; k < n; ++k) {
      offsets[k] = at;
      at += (bytes[k] + 127) / 64 * 64;
    }
    return at;
  }
  static int32_t fail(tvrt_frame* f, int32_t status, const char* text) {
    of(f).message = text;
    return status;
  }
};

inline Result<std::vector<ir::Tensor>> run_loaded(const tvrt_program& program, const codegen::WeightSection& section,
                                                  const std::vector<ir::Tensor>& inputs,
                                                  const std::vector<int64_t>& symbols, int32_t threads) {
  PlainHost context;
  const tvrt_host host = {sizeof(tvrt_host),  PlainHost::parallel, PlainHost::acquire,
                          PlainHost::release, PlainHost::plan,     PlainHost::fail};
  tvrt_frame frame = {};
  frame.host = &host;
  frame.context = &context;
  frame.threads = threads;
  std::vector<std::byte> weights(static_cast<size_t>(section.bytes()) + 64);
  auto* aligned = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(weights.data()) + 63) / 64 * 64);
  for (const auto& chunk : section.chunks())
    if (!chunk.bytes.empty()) std::memcpy(aligned + chunk.offset, chunk.bytes.data(), chunk.bytes.size());
  frame.weights = reinterpret_cast<const uint8_t*>(aligned);
  std::vector<int64_t> offsets(static_cast<size_t>(program.buffer_count) + 1);
  std::vector<tvrt_value> in(inputs.size()), out(static_cast<size_t>(program.output_count));
  for (size_t k = 0; k < inputs.size(); ++k) {
    in[k].dtype = static_cast<int32_t>(inputs[k].dtype);
    in[k].rank = static_cast<int32_t>(inputs[k].dims.size());
    for (size_t d = 0; d < inputs[k].dims.size(); ++d) in[k].dims[d] = inputs[k].dims[d];
    in[k].data = const_cast<std::byte*>(inputs[k].bytes.data());
    in[k].bytes = static_cast<int64_t>(inputs[k].bytes.size());
  }
  frame.offsets = offsets.data();
  frame.symbols = symbols.data();
  frame.inputs = in.data();
  frame.outputs = out.data();
  if (program.prepare(&frame) != TVRT_OK) return internal("prepare: {}", context.message);
  frame.arena = static_cast<uint8_t*>(PlainHost::acquire(&frame, frame.arena_bytes));
  std::memset(frame.arena, 0x7f, static_cast<size_t>(frame.arena_bytes));  // nothing may count on zeros
  if (program.run(&frame) != TVRT_OK) return internal("run: {}", context.message);
  std::vector<ir::Tensor> results;
  for (const tvrt_value& v : out) {
    std::span<std::byte> bytes;
    results.push_back(ir::make_tensor(static_cast<ir::DType>(v.dtype), {v.dims, v.dims + v.rank}, &bytes));
    if (!bytes.empty()) std::memcpy(bytes.data(), v.data, bytes.size());
  }
  return results;
}

// Compiled units of this process's programs, many of which share their kernels; gone at its end.
struct UnitCache {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("tvc_units_" + std::to_string(getpid()));
  ~UnitCache() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  static const UnitCache& shared() {
    static UnitCache cache;
    return cache;
  }
};

// The module's program for `target`, loaded; symbols in the module's order.
class LoadedProgram {
 public:
  static Result<std::unique_ptr<LoadedProgram>> build(const ir::Module& module, const codegen::Target& target) {
    CollectedDiagnostics diagnostics;
    auto self = std::make_unique<LoadedProgram>();
    TVC_TRY(self->tree, codegen::emit_source(module, target, self->weights, diagnostics));
    TVC_TRY(auto object,
            codegen::build_object(self->tree, target, {.cache_folder = UnitCache::shared().path}, diagnostics));
    std::string path = (std::filesystem::temp_directory_path() / "tvc_test_XXXXXX").string();
    int fd = mkstemp(path.data());
    if (fd < 0) return internal("no temporary file");
    close(fd);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(object.data()), static_cast<std::streamsize>(object.size()));
    self->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    std::filesystem::remove(path);
    if (self->handle_ == nullptr) return internal("dlopen: {}", dlerror());
    auto query = reinterpret_cast<tvrt_query_fn>(dlsym(self->handle_, TVRT_QUERY_SYMBOL));
    if (query == nullptr) return internal("no {}", TVRT_QUERY_SYMBOL);
    self->program_ = query(TVRT_ABI_VERSION);
    return self;
  }
  ~LoadedProgram() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Result<std::vector<ir::Tensor>> run(const std::vector<ir::Tensor>& inputs, const std::vector<int64_t>& symbols = {},
                                      int32_t threads = 1) const {
    return run_loaded(*program_, weights, inputs, symbols, threads);
  }

  codegen::SourceTree tree;
  codegen::WeightSection weights;

 private:
  void* handle_ = nullptr;
  const tvrt_program* program_ = nullptr;
};

// Targets that this machine runs.
inline std::vector<const codegen::Target*> runnable_targets() {
  std::vector<const codegen::Target*> out;
  bool at = false;
  for (const codegen::Target* target : codegen::targets()) {
    at |= target == &codegen::host_target();
    if (at) out.push_back(target);
  }
  return out;
}

}  // namespace tvc::tests
