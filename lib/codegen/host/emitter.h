// SPDX-License-Identifier: Apache-2.0
// Emitter: walks a Module and emits the host program. Decides where each value lives:
// - a view shares the storage of its root value;
// - a value whose size follows from the input symbols lies in the arena, planned over its life;
// - a value whose size only the run knows is a block acquired from the pool and released after its last reader;
// - the main graph's outputs lie in the caller's buffer if one is bound;
// - an integer value whose elements are all known as sizes is written from these, its producers are not run.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/host/program.h"
#include "codegen/lower.h"

namespace tvc::codegen {

struct Slot {
  bool declared = false;
  ir::ValueId alias_of = ir::kNone;  // shares that value's storage
  int buffer = -1;                   // arena buffer
  bool pooled = false;               // owns a pool block
  bool moved = false;                // its block went to another owner
  int last_node = -1;                // ordinal of the last node, at its own graph's level, that touched it
};

// What has to run: nodes whose results are read, and symbols that sizes mention.
struct Needed {
  std::set<ir::NodeId> nodes;   // operators that run
  std::set<ir::ValueId> known;  // values written from their known elements
  std::set<std::string> symbols;
};
Result<Needed> find_needed(const ir::Module& module, const Target& target);
// All elements known, and not merely named after the run-time tensor itself.
bool is_materialisable(const ir::Module& module, ir::ValueId value);

class Emitter {
 public:
  Emitter(const ir::Module& module, const Target& target, HostProgram& program, Diagnostics& diagnostics);

  // Fills the program with run()'s body and buffers.
  Result<void> emit();
  std::string prepare_text() const;  // the body of prepare()
  std::vector<std::string> routine_files() const { return {routine_files_.begin(), routine_files_.end()}; }
  const std::set<std::string>& routine_symbols() const { return routine_symbols_; }

  // -- for Lowering
  const ir::Module& module;
  const Target& target;
  HostProgram& program;
  Diagnostics& diagnostics;
  std::string pointer(ir::ValueId value, bool writable);  // typed; marks a use
  std::string raw(ir::ValueId value);                     // "v12" or a weight; marks a use
  std::string size(const ir::Dim& dim) const;
  std::string scratch(const ir::Dim& bytes, bool per_thread);
  // The value's storage may be overwritten by the node that reads it now (its last reader).
  bool dies_at(ir::ValueId value, ir::NodeId reader) const;
  void share(ir::ValueId value, ir::ValueId with);  // value lies where `with` lies

 private:
  Result<void> emit_graph(ir::GraphId graph);
  Result<void> emit_node(ir::NodeId node);
  void define_sizes(ir::NodeId node);
  void define_before(const ir::Dim& dim, std::set<std::string>& done, std::string& text) const;
  Result<void> emit_operator(ir::NodeId node);
  Result<void> emit_routine(ir::NodeId node);
  Result<void> emit_guard(ir::NodeId node);
  Result<void> emit_if(ir::NodeId node);
  Result<void> emit_loop(ir::NodeId node);
  void emit_known(ir::ValueId value);
  void emit_outputs();
  void emit_inputs();

  bool at_prepare(const ir::Dim& dim) const;  // made of input symbols only
  bool at_prepare(const ir::Type& type) const;
  ir::Dim bytes_of(const ir::Type& type) const;
  void share_or_copy(ir::ValueId from, ir::ValueId to);
  void declare(ir::ValueId value);  // storage and C local of a node's output
  void declare_pooled(ir::ValueId value, bool mutable_pointer);
  void acquire(const std::string& local, const std::string& bytes, bool declare_local);
  ir::ValueId root(ir::ValueId value) const;
  void touch(ir::ValueId value);
  void bind_elements(ir::ValueId value);  // e<id>_<k> locals that somebody needs
  void release_dead();
  std::string value_struct(ir::ValueId value);  // a tvrt_value initialiser
  std::string string_table(ir::ValueId value);  // of a constant: the name of its descriptors
  // control.cpp
  void transfer(ir::ValueId from, ir::ValueId to, ir::GraphId from_graph);
  void assign_sizes(ir::ValueId from, ir::ValueId to);
  void declare_result(ir::ValueId value);  // of If and Loop: storage written by a body
  struct ScanResult {
    ir::ValueId out, body;
    std::string count, capacity;
  };
  void append_scan(const ScanResult& scan);
  void assign_scan_sizes(const ScanResult& scan);
  Result<void> carry_over(const ir::Graph& body, ir::GraphId graph, const std::vector<ir::ValueId>& homes);

  Needed needed_;
  std::vector<Slot> slots_;
  std::vector<int> current_node_;                  // by graph: ordinal of the node being emitted at that level
  std::vector<std::pair<size_t, int>> node_ends_;  // by ordinal: marker, step
  std::set<std::string> input_symbols_;
  std::set<std::string> routine_files_, routine_symbols_;
  std::vector<std::string> scratch_blocks_;  // pool blocks of the node being emitted
  std::set<ir::ValueId> string_tables_;
  size_t head_ = 0;  // marker at the head of run()
  int locals_ = 0;   // counter of temporary names
  std::vector<int> reader_counts_;
};

std::string c_type(ir::DType dtype);  // storage type: "float", "uint16_t" for f16, "uint8_t" for sub-byte types
std::string comment_text(std::string_view text);

}  // namespace tvc::codegen
