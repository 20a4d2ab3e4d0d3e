// SPDX-License-Identifier: Apache-2.0
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>

#include "command.h"

namespace tvc::tool {
namespace {

spdlog::logger& log() {
  static auto logger = [] {
    auto made = spdlog::stderr_color_st("tvc");
    made->set_pattern("tvc: %v");
    made->set_level(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

}  // namespace

Terminal::Terminal(const Session& session) : session_(session), is_terminal_(isatty(STDERR_FILENO) != 0) {}

void Terminal::clear_bar() {
  if (!bar_) return;
  std::fputs("\r\033[K", stderr);
  bar_ = false;
}

void Terminal::info(std::string_view message) {
  if (session_.verbosity != Verbosity::kVerbose) return;
  clear_bar();
  log().info(message);
}

void Terminal::warning(std::string_view message) {
  ++warnings_;
  if (session_.verbosity == Verbosity::kQuiet && !session_.strict) return;
  clear_bar();
  log().warn("warning: {}", message);
}

void Terminal::progress(std::string_view what, size_t done, size_t total) {
  if (!is_terminal_ || session_.verbosity == Verbosity::kQuiet) return;
  if (done >= total) return clear_bar();
  constexpr size_t kWidth = 30;
  size_t filled = kWidth * done / total;
  std::string line = fmt::format("\r\033[K{} [{:<{}}] {}/{}", what, std::string(filled, '='), kWidth, done, total);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  bar_ = true;
}

int report(const Error& error) {
  log().error("error: {}", error.text());
  return static_cast<int>(error.code);
}

int finish(const Result<void>& result, const Terminal& terminal, const Session& session) {
  if (!result.ok()) return report(result.error());
  if (session.strict && terminal.warnings() > 0)
    return report(unsupported("{} warning(s), and --strict is given", terminal.warnings()));
  return 0;
}

}  // namespace tvc::tool
