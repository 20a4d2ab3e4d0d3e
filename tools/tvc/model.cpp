// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>
#include <charconv>

#include "codegen/lower.h"
#include "formats/onnx/import.h"
#include "passes/pass.h"
#include "runner.h"
#include "support/file.h"

namespace tvc::tool {
namespace {

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value) : std::nullopt;
}

Result<std::pair<int64_t, int64_t>> parse_range(std::string_view text) {
  size_t dots = text.find("..");
  auto low = whole_number(text.substr(0, std::min(dots, text.size())));
  auto high = dots == std::string_view::npos ? low : whole_number(text.substr(dots + 2));
  if (!low || !high || *low < 0 || *high < *low) return bad_input("--dim wants N or LOW..HIGH, got '{}'", text);
  return std::pair(*low, *high);
}

}  // namespace

Result<void> make_folder(const std::filesystem::path& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return bad_input("cannot make the folder {}: {}", folder.string(), code.message());
  return {};
}

Result<ir::Module> read_model(const ModelOptions& options, Diagnostics& diagnostics) {
  onnx_format::ImportOptions import;
  for (const auto& text : options.shapes) {
    TVC_TRY(auto item, name_and_value(text, "--shape"));
    TVC_TRY(import.shapes[item.first], parse_sizes(item.second, "--shape"));
  }
  for (const auto& text : options.dims) {
    TVC_TRY(auto item, name_and_value(text, "--dim"));
    TVC_TRY(import.dims[item.first], parse_range(item.second));
  }
  return onnx_format::import_model(options.model, import, diagnostics);
}

Result<void> optimise(ir::Module& module, const codegen::Target& target, const PassOptions& options,
                      Diagnostics& diagnostics) {
  passes::PassContext context{.diagnostics = diagnostics};
  context.has_kernel = [&target](const ir::Module& m, ir::NodeId id) {
    const auto* family = codegen::family_of(m, id, target);
    return family != nullptr && family->name != "loops";
  };
  context.takes_epilogue = [&target](const ir::Module& m, ir::NodeId id, ir::GraphId body) {
    return codegen::takes_epilogue(m, id, body, target);
  };
  if (!options.dump_folder.empty()) TVC_CHECK_OK(make_folder(options.dump_folder));
  Result<void> dumped;
  int step = 0;
  auto dump = [&](std::string_view name, const ir::Module& m) {
    if (!options.dump_folder.empty() && dumped.ok()) {
      auto path = std::filesystem::path(options.dump_folder) / fmt::format("{:02}_{}.txt", step++, name);
      dumped = write_file_atomically(path, ir::print(m));
    }
    if (std::find(options.dump_after.begin(), options.dump_after.end(), name) != options.dump_after.end())
      fmt::print(stderr, "{}", ir::print(m));
  };
  dump("import", module);
  passes::PipelineOptions pipeline;
  pipeline.disabled = options.disabled;
  pipeline.verify = options.verify;
  pipeline.after = [&](std::string_view name, passes::Changes changes, double seconds, const ir::Module& m) {
    diagnostics.info(fmt::format("{}: {} changes, {:.0f} ms", name, changes, seconds * 1e3));
    dump(name, m);
  };
  TVC_CHECK_OK(passes::run_pipeline(module, context, pipeline));
  return dumped;
}

}  // namespace tvc::tool
