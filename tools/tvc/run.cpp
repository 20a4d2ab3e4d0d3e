// SPDX-License-Identifier: Apache-2.0
// tvc run: one run of an artifact on files or random numbers.
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "formats/npy/npy.h"
#include "model.h"
#include "runner.h"

namespace tvc::tool {
namespace {

struct RunOptions {
  RunnerOptions runner;
  std::string output;
  bool as_json = false;
};

struct Range {
  double low = 0, high = 0, mean = 0;
};

Range range_of(const ir::Tensor& tensor) {
  Range range;
  auto values =
      tensor.dtype == ir::DType::kC64 || tensor.dtype == ir::DType::kC128 ? std::vector<double>() : ir::to_f64(tensor);
  if (values.empty()) return range;
  range.low = INFINITY;
  range.high = -INFINITY;
  for (double v : values) {
    range.low = std::fmin(range.low, v);
    range.high = std::fmax(range.high, v);
    range.mean += v / static_cast<double>(values.size());
  }
  return range;
}

// A name of the model's as the name of a file: nothing that leads out of the folder.
std::string file_name(const std::string& name) {
  std::string out;
  for (char c : name)
    out += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || (c == '.' && !out.empty()) ? c : '_';
  return (out.empty() ? "output" : out) + ".npy";
}

Result<void> run(const RunOptions& options) {
  TVC_TRY(auto runner, Runner::open(options.runner));
  TVC_CHECK_OK(runner->run());
  if (!options.output.empty()) TVC_CHECK_OK(make_folder(options.output));
  auto json = nlohmann::json::array();
  for (int k = 0; k < runner->output_count(); ++k) {
    const std::string name = runner->output_name(k);
    TVC_TRY(auto tensor, runner->output(k));
    Range range = range_of(tensor);
    std::string path;
    if (!options.output.empty()) {
      path = (std::filesystem::path(options.output) / file_name(name)).string();
      TVC_CHECK_OK(npy::write(path, tensor));
    }
    if (options.as_json) {
      json.push_back({{"name", name},
                      {"dtype", ir::name(tensor.dtype)},
                      {"shape", tensor.dims},
                      {"min", range.low},
                      {"max", range.high},
                      {"mean", range.mean},
                      {"file", path}});
    } else {
      fmt::print("{}: {}[{}], {:.6g} to {:.6g}, mean {:.6g}{}{}\n", name, ir::name(tensor.dtype),
                 fmt::join(tensor.dims, ", "), range.low, range.high, range.mean, path.empty() ? "" : " -> ", path);
    }
  }
  if (options.as_json) fmt::print("{}\n", json.dump(2));
  return {};
}

}  // namespace

void add_run(CLI::App& app, Session& session, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  auto* command = app.add_subcommand("run", "Run an artifact once");
  command->add_option("artifact", options->runner.artifact, "A compiled model (.tvc)")->required();
  command->add_option("--input", options->runner.inputs,
                      "NAME=FILE.npy, NAME=random, NAME=random:1x3x224x224 or NAME=zeros; default: random");
  command->add_option("--output", options->output, "Write each output as .npy into this folder");
  command->add_option("--threads", options->runner.threads, "Threads (default: all cores)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--target", options->runner.target, "The variant to run (default: the best for this machine)");
  command->add_option("--seed", options->runner.seed, "Of random inputs");
  command->add_flag("--json", options->as_json, "As JSON");
  command->callback([=, &session, &exit_code] {
    Terminal terminal(session);
    exit_code = finish(run(*options), terminal, session);
  });
}

}  // namespace tvc::tool
