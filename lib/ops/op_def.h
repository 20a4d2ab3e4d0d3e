// SPDX-License-Identifier: Apache-2.0
// OpDef: the one definition of an operator. lib/ops/<name>.cpp holds it, lib/ops/list.inc names it.
//
// Meaning is exactly one of: express (tensor expressions), decompose (other operators), routine (run-time C function
// lib/runtime/ops/<Routine>.c), view (the same elements in the same order under another shape), or control (If, Loop,
// Scan, sequences handled by code generation). Equal has an expression, and a routine for strings; Range and Resize have
// an expression, and a decomposition where the size of their result follows from numbers that only the run knows.
// `infer` gives output types; shape rules of data-dependent operators use fresh().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"
#include "support/diagnostics.h"
#include "support/result.h"
#include "tensorexpr/expr.h"

namespace tvc::ops {

using ir::Dim;
using ir::DType;
using ir::Shape;

// A node with its operands, as definitions see it. The accessors assert presence: check has_input first.
class NodeView {
 public:
  NodeView(const ir::Module& module, ir::NodeId id) : module_(module), id_(id) {}
  const ir::Module& module() const { return module_; }
  const ir::Node& node() const { return module_.node(id_); }
  ir::NodeId id() const { return id_; }
  size_t input_count() const { return node().inputs.size(); }
  size_t output_count() const { return node().outputs.size(); }
  bool has_input(size_t k) const { return node().input(k) != ir::kNone; }
  bool has_output(size_t k) const { return node().output(k) != ir::kNone; }
  const ir::Type& type(size_t k) const { return module_.value(node().inputs[k]).type; }
  DType dtype(size_t k) const { return type(k).dtype; }
  const Shape& shape(size_t k) const { return type(k).shape; }
  int rank(size_t k) const { return type(k).rank(); }
  const ir::Type& out_type(size_t k) const { return module_.value(node().outputs[k]).type; }
  // The operand's value: a constant tensor, or null.
  const ir::Tensor* constant(size_t k) const { return module_.constant(node().input(k)); }
  // Elements of an integer operand as Dims (constants count too): empty optional where unknown.
  std::optional<std::vector<Dim>> elements(size_t k) const;
  // An integer list that is an attribute `attr` or the constant operand k.
  std::optional<std::vector<int64_t>> constant_ints(size_t k) const;
  int64_t i(std::string_view key, int64_t otherwise) const { return node().i(key, otherwise); }
  double f(std::string_view key, double otherwise) const { return node().f(key, otherwise); }
  std::string s(std::string_view key, std::string_view otherwise) const { return node().s(key, otherwise); }
  std::vector<int64_t> ints(std::string_view key) const { return node().ints(key); }
  // axis in [-rank, rank) -> [0, rank), or bad_input naming the node.
  Result<int> axis(int64_t value, int rank) const;

 private:
  const ir::Module& module_;
  ir::NodeId id_;
};

// Sets the types of a node's outputs.
class InferContext : public NodeView {
 public:
  InferContext(ir::Module& module, ir::NodeId id) : NodeView(module, id), mutable_(module) {}
  void set(size_t output, DType dtype, Shape shape);  // ignored where the output is not wanted
  void set(size_t output, ir::Type type);
  void set_known(size_t output, std::vector<Dim> elements);
  // A size that only the run knows: dimension `axis` of output `output`. Stable across repeated inference.
  Dim fresh(size_t output, int axis) const;
  // Names a part of a formula, the k-th of this output's (k < 8), so that it is computed once and not repeated in the
  // text.
  Dim define(size_t output, int k, Dim formula);
  ir::Module& mutable_module() { return mutable_; }

 private:
  ir::Module& mutable_;
};

// Builds replacement nodes before the node; returns the values that stand for its outputs (kNone: not wanted).
class DecomposeContext : public NodeView {
 public:
  DecomposeContext(ir::Module& module, ir::NodeId id) : NodeView(module, id), mutable_(module) {}
  ir::Module& mutable_module() { return mutable_; }
  ir::ValueId in(size_t k) const { return node().input(k); }
  // A node with one output; types are inferred at once, so that shapes can be asked for.
  Result<ir::ValueId> add(std::string op, std::vector<ir::ValueId> inputs,
                          std::map<std::string, ir::Attr, std::less<>> attrs = {});
  Result<std::vector<ir::ValueId>> add_multi(std::string op, std::vector<ir::ValueId> inputs,
                                             std::map<std::string, ir::Attr, std::less<>> attrs, size_t outputs);
  ir::ValueId constant(ir::Tensor tensor);
  ir::ValueId scalar(DType dtype, double value);         // rank 0
  ir::ValueId ints(const std::vector<int64_t>& values);  // 1-D i64

 private:
  ir::Module& mutable_;
};

// Attributes in the order in which the routine reads them from tvrt_attrs.
struct RoutineCall {
  std::string symbol;  // C function, tvrt_op_<Name>; its file is lib/runtime/ops/<Name>.c
  std::string file;    // "<Name>.c"
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;
};

struct Tolerance {
  double relative = 1e-5, absolute = 1e-6;  // of f32 results
};

struct OpDef {
  std::string_view name;  // "Conv", "com.microsoft.FusedMatMul", "tvc.Fused"
  Result<void> (*infer)(InferContext&) = nullptr;
  // One expression an output; operands are numbered as the node's inputs.
  Result<std::vector<te::TensorExpr>> (*express)(const NodeView&) = nullptr;
  // No values: the node stays as it is, for its expression.
  Result<std::vector<ir::ValueId>> (*decompose)(DecomposeContext&) = nullptr;
  Result<RoutineCall> (*routine)(const NodeView&) = nullptr;
  bool view = false;         // output 0 is the bytes of input 0, reshaped
  bool control = false;      // If, Loop, Scan
  bool random = false;       // never folded: differs from run to run
  bool elementwise = false;  // each output element depends on the operands' elements at its own (broadcast) place only
  Tolerance tolerance = {};
  // Operand types as text, comma-separated, one string a sample: "f32[2,3], f32[3]"; given values in braces, _ where
  // one is omitted: "f32[2,3], _, i64[1]{1}"; attributes after a bar: "f32[2,3] | axis=1 mode=\"linear\"". Tests of
  // the interpreter and of every target come from them.
  std::vector<std::string_view> samples = {};
};

// Opens a definition: TVC_DEFINE_OP(kRelu) = {.name = "Relu", ...}; with TVC_OP(kRelu) in list.inc.
#define TVC_DEFINE_OP(symbol) \
  extern const OpDef symbol;  \
  const OpDef symbol

const OpDef* find(std::string_view name);
std::vector<const OpDef*> all();

// Types (and known elements) of every value, in order, graphs within graphs too. Errors carry the node's label.
Result<void> infer_types(ir::Module& module);
Result<void> infer_node(ir::Module& module, ir::NodeId node);
// The nodes of one graph in order; for definitions that own bodies, after they have set the types of its inputs.
Result<void> infer_graph(ir::Module& module, ir::GraphId graph);
// Runs one node on constants: folding, tests. Outputs in order; unsupported where it cannot be (random, control).
Result<std::vector<ir::Tensor>> evaluate(const ir::Module& module, ir::NodeId node,
                                         const std::vector<const ir::Tensor*>& inputs);
// Broadcast shape of several (ONNX multidirectional), or bad_input.
Result<Shape> broadcast_shapes(const std::vector<Shape>& shapes);
// Index of an operand of shape `from` at output index vars `at` (rank >= from's): broadcast dims read 0.
std::vector<te::Expr> broadcast_index(const Shape& from, const Shape& to, const std::vector<te::Axis>& at);
std::vector<te::Axis> axes_of(const Shape& shape);  // fresh variables over a shape

// -- shared shape rules and bodies (elementwise.cpp) -----------------------------------------------------------------
Result<void> infer_same_as_input(InferContext&);  // output 0 = type of input 0
Result<void> infer_broadcast(InferContext&);      // output 0 = dtype of input 0, broadcast shape of all
Result<void> infer_broadcast_bool(InferContext&);
using ScalarBody = std::function<te::Expr(const std::vector<te::Expr>&)>;
// body over the (broadcast) elements of all present inputs; result stored as output 0's dtype.
Result<std::vector<te::TensorExpr>> express_elementwise(const NodeView&, const ScalarBody&);

}  // namespace tvc::ops
