// SPDX-License-Identifier: Apache-2.0
// Runs the pipeline; alone infers, verifies and times.
#include <algorithm>
#include <chrono>

#include "ops/op_def.h"
#include "passes/pass.h"

namespace tvc::passes {

const std::vector<PassInfo>& pipeline() {
  static const std::vector<PassInfo> passes = {
#define TVC_PASS(name, description, reason) {#name, description, name},
#include "passes/list.inc"
#undef TVC_PASS
  };
  return passes;
}

Result<void> run_pipeline(ir::Module& module, const PassContext& context, const PipelineOptions& options) {
  for (const auto& name : options.disabled) {
    auto named = [&](const PassInfo& pass) { return pass.name == name; };
    if (std::none_of(pipeline().begin(), pipeline().end(), named)) return bad_input("there is no pass named {}", name);
  }
#ifdef NDEBUG
  const bool verify = options.verify;
#else
  const bool verify = true;
#endif
  TVC_CHECK_OK(ops::infer_types(module));
  for (const PassInfo& pass : pipeline()) {
    if (std::find(options.disabled.begin(), options.disabled.end(), pass.name) != options.disabled.end()) continue;
    auto start = std::chrono::steady_clock::now();
    TVC_TRY(Changes changes, pass.run(module, context));
    if (changes == 0) continue;
    if (verify)
      if (auto status = ir::verify(module); !status.ok())
        return std::move(status).error().at(fmt::format("after {}", pass.name));
    if (auto status = ops::infer_types(module); !status.ok())
      return std::move(status).error().at(fmt::format("after {}", pass.name));
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (options.after) options.after(pass.name, changes, seconds.count(), module);
  }
  return {};
}

}  // namespace tvc::passes
