// SPDX-License-Identifier: Apache-2.0
// Runs a program without a shell.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"

namespace tvc {

struct ProcessResult {
  int exit_code = 0;   // 128 + signal where one ended it
  std::string output;  // standard output and standard error together
};
// argv[0] is looked up in PATH. An error only where the program could not be started.
Result<ProcessResult> run_process(const std::vector<std::string>& argv);

}  // namespace tvc
