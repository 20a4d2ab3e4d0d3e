// SPDX-License-Identifier: Apache-2.0
// A pass rewrites a Module. One function in a file of its own; list.inc is the pipeline.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace tvc::passes {

using Changes = int;

struct PassContext {
  Diagnostics& diagnostics;
  bool allow_fast_math = false;  // rewrites that change numerics by more than rounding
  // Whether code generation has a kernel of its own for the node, so that it is not taken apart. Empty: none has.
  std::function<bool(const ir::Module&, ir::NodeId)> has_kernel = {};
  // Whether a kernel of the node can compute the graph on its result before storing it (see codegen/lower.h). Empty:
  // none can.
  std::function<bool(const ir::Module&, ir::NodeId, ir::GraphId)> takes_epilogue = {};
};

using PassFn = Result<Changes> (*)(ir::Module&, const PassContext&);

struct PassInfo {
  std::string_view name;
  std::string_view description;
  PassFn run;
};
const std::vector<PassInfo>& pipeline();

struct PipelineOptions {
  std::vector<std::string> disabled;
  bool verify = false;
  // Called after each pass that changed something: name, changes, seconds, module.
  std::function<void(std::string_view, Changes, double, const ir::Module&)> after;
};
// Runs the pipeline: infers types first and after each pass that changed something.
Result<void> run_pipeline(ir::Module& module, const PassContext& context, const PipelineOptions& options);

#define TVC_PASS(name, description, reason) Result<Changes> name(ir::Module& module, const PassContext& context);
#include "passes/list.inc"
#undef TVC_PASS

}  // namespace tvc::passes
