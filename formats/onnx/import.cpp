// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/import.h"

#include "formats/onnx/builder.h"
#include "formats/onnx/protos.h"

namespace tvc::onnx_format {
namespace {

constexpr int kOldestSureOpset = 7;

Result<ir::Module> import(const std::filesystem::path& path, const ImportOptions& options, Diagnostics& diagnostics) {
  const auto folder = path.parent_path().empty() ? std::filesystem::path(".") : path.parent_path();
  TVC_TRY(auto model, read_proto(path));
  TVC_CHECK_OK(check_model(*model, folder));
  const int opset = opset_of(*model, "");
  if (opset != 0 && opset < kOldestSureOpset)
    diagnostics.warning(fmt::format("{}: opset {} is older than {}; compare results with the model's source",
                                    path.string(), opset, kOldestSureOpset));
  TVC_CHECK_OK(inline_functions(*model, true));
  TVC_CHECK_OK(upgrade_model(*model));
  TVC_CHECK_OK(inline_functions(*model, false));
  TVC_CHECK_OK(expand_operators(*model));
  TVC_TRY(auto module, Builder(std::move(model), folder, options).build());
  if (opset != 0) module.metadata["onnx.opset"] = std::to_string(opset);
  return module;
}

}  // namespace

Result<ir::Module> import_model(const std::filesystem::path& path, const ImportOptions& options,
                                Diagnostics& diagnostics) {
  auto module = import(path, options, diagnostics);
  if (!module.ok()) return std::move(module).error().at(path.string());
  return module;
}

}  // namespace tvc::onnx_format
