// SPDX-License-Identifier: Apache-2.0
// The IR: SSA graphs in a Module. Plain data; work on it is free functions in files named after the work.
//
// Semantics
// - A Module owns values, nodes, constants and graphs in vectors; ids are indices and stay valid until compact().
//   Graph 0 is the model. If/Loop/Scan bodies and fused nodes' bodies are further graphs; a body sees its own values
//   and those of the graphs around it (captures), each value has one producer.
// - Operators have ONNX's names and newest meaning ("Conv", "com.microsoft.FusedMatMul"); our own are "tvc.<Name>".
// - A value's type says dtype and shape; dimensions are Dims, so that free sizes stay free. The rank is always known.
// - `known` holds the elements of small integer tensors as Dims where they are known before or while the program runs.
//   It is what makes shape arithmetic (Shape, Gather, Concat, Reshape) disappear at compile time.
// - An erased node has an empty `op` and is in no graph's list.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/dim.h"
#include "ir/dtype.h"
#include "support/result.h"

namespace tvc::ir {

using ValueId = uint32_t;
using NodeId = uint32_t;
using GraphId = uint32_t;
inline constexpr int kFirstPart = 64, kMaxParts = 16;
inline constexpr uint32_t kNone = 0xffffffffu;  // an omitted input or output, a value without producer

// A dense tensor with concrete dims, a view into bytes that `owner` keeps alive (a mapped file, a vector).
// Sub-byte types are packed, low bits first. Strings lie in `strings`, bytes is empty then.
struct Tensor {
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  std::vector<std::string> strings;

  int64_t count() const;
  template <typename T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};
// A tensor with its own zeroed bytes; `out_bytes` receives the writable view.
Tensor make_tensor(DType dtype, std::vector<int64_t> dims, std::span<std::byte>* out_bytes);
Tensor make_i64(std::vector<int64_t> dims, const std::vector<int64_t>& values);
Tensor make_f32(std::vector<int64_t> dims, const std::vector<float>& values);
Tensor make_scalar(DType dtype, double value);
// Elements as int64 / double whatever the dtype (all but strings and complex); exact for what fits.
std::vector<int64_t> to_i64(const Tensor& tensor);
std::vector<double> to_f64(const Tensor& tensor);
// The inverse: rounds to nearest even (floats) or wraps (integers).
Tensor from_f64(DType dtype, std::vector<int64_t> dims, const std::vector<double>& values);
Tensor from_i64(DType dtype, std::vector<int64_t> dims, const std::vector<int64_t>& values);

enum class Kind : uint8_t { kTensor, kSequence, kOptional };
// What is known of the shapes of the tensors in a sequence or optional.
enum class Items : uint8_t {
  kAny,    // nothing
  kNone,   // that there are none
  kAlike,  // all have the type's shape, in which the symbol "_" is a size that each has for itself
};

struct Type {
  Kind kind = Kind::kTensor;
  DType dtype = DType::kUndefined;  // of the tensor or of the items
  Shape shape;                      // of the tensor, or of every item
  Items items = Items::kAny;        // sequences and optionals
  std::vector<Kind> inner;          // what a sequence or optional holds, outermost first; empty for tensors
  int rank() const { return static_cast<int>(shape.size()); }
  bool operator==(const Type&) const = default;
};

struct Value {
  std::string name;
  Type type;
  NodeId producer = kNone;                      // kNone: graph input or constant
  uint32_t slot = 0;                            // which output of the producer
  GraphId graph = 0;                            // where it is defined
  std::shared_ptr<const Tensor> constant;       // set: this value is a constant
  std::vector<Dim> known;                       // elements, row-major, of an integer tensor; empty: unknown
  std::shared_ptr<const Tensor> default_value;  // a graph input that has one (ONNX: initializer that is also an input)
};

struct Node;
// Graph attributes are ids; a Tensor attribute is shared.
using Attr = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                          std::vector<std::string>, std::shared_ptr<const Tensor>, GraphId>;

struct Node {
  std::string op;                // "" when erased
  std::vector<ValueId> inputs;   // kNone: omitted
  std::vector<ValueId> outputs;  // kNone: not wanted
  std::map<std::string, Attr, std::less<>> attrs;
  GraphId graph = 0;
  std::vector<std::string> origin;  // names of the source nodes that this one computes

  int64_t i(std::string_view key, int64_t otherwise) const;
  double f(std::string_view key, double otherwise) const;
  std::string s(std::string_view key, std::string_view otherwise) const;
  std::vector<int64_t> ints(std::string_view key) const;  // empty if absent
  std::vector<double> floats(std::string_view key) const;
  std::vector<std::string> strings(std::string_view key) const;
  bool has(std::string_view key) const { return attrs.find(key) != attrs.end(); }
  std::optional<GraphId> subgraph(std::string_view key) const;
  const std::string& label() const;  // origin's first, or the op: for messages
  ValueId input(size_t k) const { return k < inputs.size() ? inputs[k] : kNone; }
  ValueId output(size_t k) const { return k < outputs.size() ? outputs[k] : kNone; }
};

struct Graph {
  std::string name;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<NodeId> nodes;  // topological order
};

// A free dimension of the model's inputs.
struct Symbol {
  std::string name;         // an identifier, as in Dim
  std::string source_name;  // the model's own text
  int64_t low = 0, high = INT64_MAX;
};

class Module {
 public:
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<Graph> graphs{1};
  std::vector<Symbol> symbols;
  // Sizes whose formula is too long to be repeated wherever it counts: "u12_1" -> the formula. Made by inference. From
  // kFirstPart on the number is no axis: "u12_64" is a part of the formulas of %12's sizes.
  std::map<std::string, Dim> definitions;
  std::map<std::string, std::string> metadata;

  Value& value(ValueId id) { return values[id]; }
  const Value& value(ValueId id) const { return values[id]; }
  Node& node(NodeId id) { return nodes[id]; }
  const Node& node(NodeId id) const { return nodes[id]; }
  Graph& main() { return graphs[0]; }
  const Graph& main() const { return graphs[0]; }
  const Tensor* constant(ValueId id) const { return id == kNone ? nullptr : values[id].constant.get(); }
};

// -- building ------------------------------------------------------------------------------------------------------
ValueId add_value(Module& module, std::string name, Type type, GraphId graph);
ValueId add_constant(Module& module, std::string name, Tensor tensor, GraphId graph = 0);
// Appends (or inserts before `before`, a node of the same graph) a node with `outputs` fresh values of unknown type.
struct NodeSpec {
  std::string op;
  std::vector<ValueId> inputs;
  std::map<std::string, Attr, std::less<>> attrs = {};
  size_t outputs = 1;
  std::vector<std::string> origin = {};
};
NodeId add_node(Module& module, GraphId graph, NodeSpec spec, NodeId before = kNone);
// Every reader of `from` (nodes of all graphs, graph outputs) reads `to` instead. Keeps a graph output's name: the name
// of `from` moves to `to` when `from` is an output of the main graph and `to` is not an input, output or constant;
// in those cases the caller inserts an Identity.
void replace_uses(Module& module, ValueId from, ValueId to);
// Removes the node from its graph, its bodies with it; its outputs must have no readers.
void erase_node(Module& module, NodeId node);

// -- looking -------------------------------------------------------------------------------------------------------
// Readers of each value: nodes (also those of nested graphs) and uses as an output of any graph.
struct Uses {
  explicit Uses(const Module& module);
  struct Use {
    NodeId node = kNone;  // kNone: a graph output
    uint32_t slot = 0;    // input slot, or output index of the graph
    GraphId graph = 0;    // the reader's graph
  };
  const std::vector<Use>& of(ValueId id) const { return readers_[id]; }
  // One reader, a node in the value's own graph.
  bool single(const Module& module, ValueId id) const;
  bool is_graph_output(ValueId id) const;

 private:
  std::vector<std::vector<Use>> readers_;
};
// Graphs that belong to a node (If/Loop/Scan bodies, fused bodies), with their attribute names.
std::vector<std::pair<std::string, GraphId>> subgraphs(const Node& node);
// Values of outer graphs that `graph` (and graphs within it) reads.
std::vector<ValueId> captures(const Module& module, GraphId graph);

// -- text, checks (print.cpp, parse.cpp, verify.cpp) ---------------------------------------------------------------
std::string print(const Module& module);
Result<Module> parse(std::string_view text);
Result<void> verify(const Module& module);

}  // namespace tvc::ir
