// SPDX-License-Identifier: Apache-2.0
// What the commands share: one function a command adds itself to the command line and sets its exit code when it ran.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

#include "support/diagnostics.h"
#include "support/result.h"

namespace tvc::tool {

enum class Verbosity { kQuiet, kNormal, kVerbose };

struct Session {
  Verbosity verbosity = Verbosity::kNormal;
  bool strict = false;  // warnings are errors
};

// Diagnostics as lines on standard error, and a progress bar where that is a terminal.
class Terminal : public Diagnostics {
 public:
  explicit Terminal(const Session& session);
  void info(std::string_view message) override;
  void warning(std::string_view message) override;
  void progress(std::string_view what, size_t done, size_t total) override;
  size_t warnings() const { return warnings_; }

 private:
  void clear_bar();
  Session session_;
  bool bar_ = false, is_terminal_ = false;
  size_t warnings_ = 0;
};

// Prints the error and returns its exit code.
int report(const Error& error);
// 0, or the code of a failed command; with --strict, warnings make it 3.
int finish(const Result<void>& result, const Terminal& terminal, const Session& session);

// Each command: adds its subcommand to `app`; when that was chosen, `exit_code` is set after parsing.
void add_compile(CLI::App& app, Session& session, int& exit_code);
void add_inspect(CLI::App& app, Session& session, int& exit_code);
void add_run(CLI::App& app, Session& session, int& exit_code);
void add_bench(CLI::App& app, Session& session, int& exit_code);
void add_targets(CLI::App& app, Session& session, int& exit_code);

}  // namespace tvc::tool
