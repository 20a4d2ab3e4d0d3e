// SPDX-License-Identifier: Apache-2.0
// tvc bench: latency of an artifact: warm-up, then at least --runs runs and --seconds seconds.
#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "runner.h"
#include "support/file.h"

namespace tvc::tool {
namespace {

struct BenchOptions {
  RunnerOptions runner;
  std::string json;
  int runs = 60;
  double seconds = 1.0;
};

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

double quantile(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}

Result<void> bench(const BenchOptions& options, Diagnostics& diagnostics) {
  auto opened = Clock::now();
  TVC_TRY(auto runner, Runner::open(options.runner));
  TVC_CHECK_OK(runner->run());
  double first = milliseconds(Clock::now() - opened);
  for (int k = 0; k < 5; ++k) TVC_CHECK_OK(runner->run());
  std::vector<double> times;
  auto start = Clock::now();
  while (static_cast<int>(times.size()) < options.runs || milliseconds(Clock::now() - start) < options.seconds * 1e3) {
    auto begin = Clock::now();
    TVC_CHECK_OK(runner->run());
    times.push_back(milliseconds(Clock::now() - begin));
    diagnostics.progress("bench", std::min(times.size(), static_cast<size_t>(options.runs)),
                         static_cast<size_t>(options.runs) + 1);
  }
  diagnostics.progress("bench", 1, 1);
  double total = milliseconds(Clock::now() - start);
  const size_t count = times.size();
  std::sort(times.begin(), times.end());
  tvrt_metrics metrics = runner->metrics();
  nlohmann::json result = {{"artifact", options.runner.artifact},
                           {"target", runner->target()},
                           {"threads", runner->threads()},
                           {"runs", count},
                           {"p50_ms", quantile(times, 0.50)},
                           {"p90_ms", quantile(times, 0.90)},
                           {"p95_ms", quantile(times, 0.95)},
                           {"p99_ms", quantile(times, 0.99)},
                           {"min_ms", times.front()},
                           {"max_ms", times.back()},
                           {"runs_per_second", static_cast<double>(count) / total * 1e3},
                           {"open_and_first_run_ms", first},
                           {"arena_bytes", metrics.arena_bytes},
                           {"pool_bytes", metrics.pool_bytes},
                           {"weight_bytes", metrics.weight_bytes}};
  if (options.json == "-") {
    fmt::print("{}\n", result.dump(2));
    return {};
  }
  if (!options.json.empty()) TVC_CHECK_OK(write_file_atomically(options.json, std::string_view(result.dump(2) + "\n")));
  fmt::print("{} on {} with {} thread(s), {} runs\n", options.runner.artifact, runner->target(), runner->threads(),
             count);
  fmt::print("P50 {:.3f} ms   P90 {:.3f} ms   P95 {:.3f} ms   P99 {:.3f} ms   min {:.3f} ms   max {:.3f} ms\n",
             quantile(times, 0.5), quantile(times, 0.9), quantile(times, 0.95), quantile(times, 0.99), times.front(),
             times.back());
  fmt::print("{:.1f} runs/s   open and first run {:.2f} ms   arena {:.2f} MB   weights {:.2f} MB\n",
             static_cast<double>(count) / total * 1e3, first, static_cast<double>(metrics.arena_bytes) / 1e6,
             static_cast<double>(metrics.weight_bytes) / 1e6);
  return {};
}

}  // namespace

void add_bench(CLI::App& app, Session& session, int& exit_code) {
  auto options = std::make_shared<BenchOptions>();
  auto* command = app.add_subcommand("bench", "Time an artifact");
  command->add_option("artifact", options->runner.artifact, "A compiled model (.tvc)")->required();
  command->add_option("--input", options->runner.inputs,
                      "NAME=FILE.npy, NAME=random:1x3x224x224, ...; default: random");
  command->add_option("--threads", options->runner.threads, "Threads (default: all cores)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--target", options->runner.target, "The variant to time (default: the best for this machine)");
  command->add_option("--runs", options->runs, "At least so many runs")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "At least so long")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--json", options->json, "Write the figures into this file; - for standard output");
  command->callback([=, &session, &exit_code] {
    Terminal terminal(session);
    exit_code = finish(bench(*options, terminal), terminal, session);
  });
}

}  // namespace tvc::tool
