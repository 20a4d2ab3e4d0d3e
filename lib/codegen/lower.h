// SPDX-License-Identifier: Apache-2.0
// How a kernel family turns a node into emitted C.
//
// A family is a folder: lower.cpp defines a `const Family k<Name>Family` (claims, lower); families.inc lists them, the
// first that claims a node takes it. Kernels are C functions with tvrt_kernel's signature, given as text in which the
// token NAME stands for the function's name; equal texts are emitted once. Host lines go into the model's run function,
// where tensors are `char*` locals and symbolic sizes `int64_t` locals.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/target.h"
#include "ir/ir.h"
#include "support/diagnostics.h"
#include "support/result.h"
#include "tensorexpr/expr.h"

namespace tvc::codegen {

class Emitter;  // host/emitter.h

// One field of a kernel's NAME_args and the host expression that fills it.
struct Arg {
  std::string type;   // "const float*", "int64_t"
  std::string field;  // "x"
  std::string value;  // host C expression
};

struct KernelText {
  std::string hint;                   // identifier-safe words for the name: "conv_3x3"
  std::string text;                   // C text with the token NAME
  std::vector<std::string> includes;  // "isa/avx2.h", "isa/math.h"; isa/prelude.h is always there
};

class Lowering {
 public:
  explicit Lowering(Emitter& emitter) : emitter_(emitter) {}

  const ir::Module& module() const;
  const Target& target() const;
  Diagnostics& diagnostics();

  // -- expressions for host lines and Arg values
  // The tensor's first element as "((const float*)v12)" / "((float*)v12)" by the value's storage type.
  std::string in(ir::ValueId value);
  std::string out(ir::ValueId value);
  std::string size(const ir::Dim& dim);  // int64_t expression
  // Places bytes in the artifact's weight section (equal bytes once, 64-byte aligned); a "const char*" host expression.
  // Holds on to `owner` until the artifact is written, so that big weights are not copied.
  std::string weight(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  std::string weight(std::vector<std::byte> bytes);
  // Scratch memory that lives while this node runs; a "char*" host expression. bytes in input symbols and constants
  // only where the node's sizes are; per_thread: bytes for each thread, index it by thread * bytes.
  std::string scratch(const ir::Dim& bytes, bool per_thread = false);

  // -- emission
  // Emits (or finds) a kernel; returns its unique name.
  std::string kernel(const KernelText& text);
  // Emits (or finds) a shared static inline function of NAME; callers splice the returned name into their texts.
  std::string function(const KernelText& text);
  // Runs the kernel over [0, tasks). work: rough scalar operations of the whole call; little work runs on the caller.
  void launch(const KernelText& text, const std::vector<Arg>& args, const ir::Dim& tasks, const ir::Dim& work);
  void launch(const KernelText& text, const std::vector<Arg>& args, const std::string& tasks, const std::string& work);
  void line(std::string text);  // a host statement

 private:
  Emitter& emitter_;
};

struct Family {
  std::string_view name;
  bool (*claims)(const ir::Module&, ir::NodeId, const Target&);
  Result<void> (*lower)(Lowering&, ir::NodeId);
  // The input in whose place output 0 may be written (every element is read before its place is written), or -1.
  int (*in_place)(const ir::Module&, ir::NodeId) = nullptr;
  bool epilogue = false;  // lower computes the nodes' attribute "epilogue"
};
const std::vector<const Family*>& families();
const Family* family_of(const ir::Module& module, ir::NodeId node, const Target& target);

// -- epilogues -------------------------------------------------------------------------------------------------------
// An element-wise chain that a kernel computes on its result in registers. In the IR it is a node's graph attribute
// "epilogue": input 0 is the result, further inputs are the node's operands from attribute "epilogue_inputs" on (the
// index of the first one among the node's inputs); one output. `code` is vector text over the target's primitives:
// reads the variable `acc` (tv_f32) and operand vectors `e0`, `e1`, ... (tv_f32), leaves its result in `acc`.
enum class EpilogueOperand {
  kFull,
  kPerChannel,
  kScalar
};  // same place as the output; vector of the channel; one number
struct Epilogue {
  std::vector<EpilogueOperand> kinds;
  std::vector<ir::ValueId> values;
  std::string code;  // "" : nothing to do
  bool empty() const { return code.empty(); }
};
// channel_axis: which axis of the output is the vector's (blocked layouts: the last one together with axis 1).
Result<Epilogue> epilogue_of(const ir::Module& module, ir::NodeId node, const Target& target);
// Whether epilogue_of can write this body (input 0: the result, whose shape counts); for passes that fuse.
bool epilogue_supported(const ir::Module& module, ir::GraphId body);
// Whether the node's kernel would compute the body on its result.
bool takes_epilogue(const ir::Module& module, ir::NodeId node, ir::GraphId body, const Target& target);
// C text of a scalar expression over vector primitives (the target's header and isa/math.h): operand texts by read
// index.
Result<std::string> vector_text(const te::Expr& body, const std::vector<std::string>& operands);

}  // namespace tvc::codegen
