// SPDX-License-Identifier: Apache-2.0
// HostProgram: the emitted C of one variant while it grows: kernels, weights, arena buffers, and the text of run().
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/lower.h"

namespace tvc::codegen {

// A buffer of the arena, alive in steps [first, last].
struct Buffer {
  ir::Dim bytes;
  bool per_thread = false;  // bytes for each thread
  int first = 0, last = 0;
};

struct EmittedFunction {
  std::string name, text, arguments;  // arguments: the NAME_args typedef, for the shared header
  std::vector<std::string> includes;
  std::vector<std::string> uses;  // names of shared functions that the text calls
};

struct WeightChunk {
  int64_t offset;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

class WeightSection {
 public:
  // Offset of the bytes; equal bytes share one chunk.
  int64_t add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  const std::vector<WeightChunk>& chunks() const { return chunks_; }
  int64_t bytes() const { return size_; }

 private:
  std::vector<WeightChunk> chunks_;
  std::unordered_multimap<uint64_t, size_t> by_hash_;
  int64_t size_ = 0;
};

class HostProgram {
 public:
  explicit HostProgram(WeightSection& weights) : weights(weights) {}

  WeightSection& weights;
  std::vector<EmittedFunction> kernels;    // in order of first use
  std::vector<EmittedFunction> functions;  // shared by kernels
  std::vector<Buffer> buffers;
  int step = 0;

  // -- run()'s text. A marker is a place between statements that may receive text later (releases of blocks).
  void line(std::string text);
  void open(const std::string& head) {
    line(head + " {");
    ++indent_;
  }
  void close(const std::string& tail = "") {
    --indent_;
    line("}" + tail);
  }
  size_t marker();
  void at_marker(size_t marker, std::string text);
  std::string body() const;

  std::string add_kernel(const KernelText& text, std::string_view prefix);
  std::string add_function(const KernelText& text);
  int add_buffer(ir::Dim bytes, bool per_thread);

 private:
  struct Line {
    int indent;
    std::string text;
    bool is_marker;
  };
  std::string intern(const KernelText& text, std::string_view prefix, std::vector<EmittedFunction>& into);
  std::vector<Line> lines_;
  int indent_ = 1;
  std::unordered_map<std::string, std::string> names_by_text_;
};

std::string identifier(std::string_view text, size_t max_length = 40);  // [A-Za-z0-9_], never empty, no leading digit
uint64_t hash64(std::string_view text);

}  // namespace tvc::codegen
