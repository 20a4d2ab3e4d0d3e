// SPDX-License-Identifier: Apache-2.0
// An artifact loaded through the C API, with inputs from files or random numbers: what run and bench share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "runtime/tvrt.h"
#include "support/result.h"

namespace tvc::tool {

struct RunnerOptions {
  std::string artifact, target;
  std::vector<std::string> inputs;  // NAME=FILE.npy, NAME=random, NAME=random:1x3x224x224, NAME=zeros[:SHAPE]
  int threads = 0;
  uint64_t seed = 0;
};

class Runner {
 public:
  // Opens the artifact, creates a context and binds every input; inputs that are not named get random numbers.
  static Result<std::unique_ptr<Runner>> open(const RunnerOptions& options);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  Result<void> run();
  int output_count() const;
  std::string output_name(int index) const;
  Result<ir::Tensor> output(int index) const;  // a copy
  tvrt_metrics metrics() const;
  std::string target() const { return tvrt_model_target(model_); }
  int threads() const { return tvrt_context_threads(context_); }

 private:
  Runner() = default;
  Result<void> bind(const RunnerOptions& options);
  tvrt_model* model_ = nullptr;
  tvrt_context* context_ = nullptr;
  std::vector<ir::Tensor> tensors_;
};

// "1x3x224x224" -> sizes; bad_input otherwise.
Result<std::vector<int64_t>> parse_sizes(std::string_view text, std::string_view option);
// "NAME=VALUE" -> both; an ONNX name may hold "=", so the last one divides.
Result<std::pair<std::string, std::string>> name_and_value(const std::string& text, std::string_view option);

}  // namespace tvc::tool
