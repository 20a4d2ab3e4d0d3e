// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <random>

#include "formats/npy/npy.h"
#include "ir/storage.h"

namespace tvc::tool {
namespace {

Error from_status(tvrt_status status, const char* message) {
  ErrorCode code = status == TVRT_UNSUPPORTED     ? ErrorCode::kUnsupported
                   : status == TVRT_OUT_OF_MEMORY ? ErrorCode::kInternal
                                                  : ErrorCode::kBadInput;
  return {code, fmt::format("{}", message), {}};
}

std::vector<int64_t> default_sizes(const tvrt_model* model, const tvrt_value_info& info) {
  std::vector<int64_t> sizes;
  for (int k = 0; k < info.rank; ++k) {
    int64_t size = info.dims[k];
    if (size < 0) {
      size = 1;
      for (int s = 0; s < tvrt_model_symbol_count(model); ++s) {
        const auto* symbol = tvrt_model_symbol_info(model, s);
        if (info.dim_names[k] != nullptr && std::strcmp(symbol->name, info.dim_names[k]) == 0)
          size = std::max<int64_t>(symbol->low, 1);
      }
    }
    sizes.push_back(size);
  }
  return sizes;
}

// Uniform in [0, 1) for floats, 0 or 1 for integers: small enough for indices and lengths.
Result<ir::Tensor> random_tensor(ir::DType dtype, std::vector<int64_t> sizes, std::mt19937_64& generator) {
  if (!ir::is_float(dtype) && !ir::is_int(dtype) && dtype != ir::DType::kBool)
    return unsupported("random {} values are not offered: give a file", ir::name(dtype));
  int64_t count = 1;
  for (int64_t d : sizes)
    if (d < 0 || __builtin_mul_overflow(count, d, &count) || count > (int64_t{1} << 34))
      return bad_input("the shape is too large");
  std::span<std::byte> out;
  ir::Tensor tensor = ir::make_tensor(dtype, std::move(sizes), &out);
  for (int64_t k = 0; k < count; ++k) {
    auto bits = generator() >> 40;
    if (ir::is_float(dtype)) ir::store_float(dtype, out.data(), k, static_cast<double>(bits) / 16777216.0);
    else ir::store_integer(dtype, out.data(), k, static_cast<int64_t>(bits & 1));
  }
  return tensor;
}

Result<ir::Tensor> make_input(const tvrt_model* model, const tvrt_value_info& info, const std::string& source,
                              std::mt19937_64& generator) {
  auto dtype = static_cast<ir::DType>(info.dtype);
  const bool random = source == "random" || source.starts_with("random:"),
             zeros = source == "zeros" || source.starts_with("zeros:");
  if (random || zeros) {
    if (info.kind != TVRT_KIND_TENSOR || info.rank < 0) return unsupported("only tensors can be made up");
    auto sizes = default_sizes(model, info);
    if (size_t colon = source.find(':'); colon != std::string::npos) {
      TVC_TRY(sizes, parse_sizes(std::string_view(source).substr(colon + 1), "--input"));
    }
    if (random) return random_tensor(dtype, std::move(sizes), generator);
    return ir::make_tensor(dtype, std::move(sizes), nullptr);
  }
  if (!source.ends_with(".npy")) return unsupported("'{}': only .npy files, random and zeros are read", source);
  TVC_TRY(auto tensor, npy::read(source));
  // NumPy has no name for bfloat16 and smaller floats: their bits come as unsigned integers.
  if (tensor.dtype != dtype && ir::is_unsigned_int(tensor.dtype) && ir::bit_width(tensor.dtype) == ir::bit_width(dtype))
    tensor.dtype = dtype;
  return tensor;
}

}  // namespace

Result<std::pair<std::string, std::string>> name_and_value(const std::string& text, std::string_view option) {
  size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    return bad_input("{} wants NAME=VALUE, got '{}'", option, text);
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

Result<std::vector<int64_t>> parse_sizes(std::string_view text, std::string_view option) {
  std::vector<int64_t> sizes;
  while (true) {
    size_t end = std::min(text.find_first_of("x,"), text.size());
    std::string_view item = text.substr(0, end);
    int64_t size = -1;
    auto [stop, code] = std::from_chars(item.data(), item.data() + item.size(), size);
    if (item != "?" && (code != std::errc() || stop != item.data() + item.size() || size < -1))
      return bad_input("{} wants sizes like 1x3x224x224, got '{}'", option, item);
    sizes.push_back(size);
    if (end == text.size()) return sizes;
    text.remove_prefix(end + 1);
  }
}

Result<std::unique_ptr<Runner>> Runner::open(const RunnerOptions& options) {
  std::unique_ptr<Runner> runner(new Runner());
  tvrt_model_options model_options{};
  model_options.size = sizeof(model_options);
  if (!options.target.empty()) model_options.target = options.target.c_str();
  if (auto status = tvrt_model_open(options.artifact.c_str(), &model_options, &runner->model_); status != TVRT_OK)
    return from_status(status, tvrt_last_error()).at(options.artifact);
  tvrt_context_options context_options{};
  context_options.size = sizeof(context_options);
  context_options.threads = options.threads;
  if (auto status = tvrt_context_create(runner->model_, &context_options, &runner->context_); status != TVRT_OK)
    return from_status(status, tvrt_last_error()).at(options.artifact);
  TVC_CHECK_OK(runner->bind(options));
  return runner;
}

Runner::~Runner() {
  tvrt_context_destroy(context_);
  tvrt_model_close(model_);
}

Result<void> Runner::bind(const RunnerOptions& options) {
  std::map<std::string, std::string> sources;
  for (const auto& text : options.inputs) {
    TVC_TRY(auto item, name_and_value(text, "--input"));
    sources[item.first] = item.second;
  }
  std::mt19937_64 generator(options.seed);
  const int count = tvrt_model_input_count(model_);
  tensors_.resize(static_cast<size_t>(count));
  std::vector<std::string> names;
  for (int k = 0; k < count; ++k) {
    const auto& info = *tvrt_model_input_info(model_, k);
    names.emplace_back(info.name);
    auto source = sources.find(info.name);
    if (source == sources.end() && (info.flags & TVRT_INFO_HAS_DEFAULT) != 0) continue;
    auto made = make_input(model_, info, source == sources.end() ? "random" : source->second, generator);
    if (!made.ok()) return std::move(made).error().at(fmt::format("input '{}'", info.name));
    auto& tensor = tensors_[static_cast<size_t>(k)] = std::move(*made);
    if (source != sources.end()) sources.erase(source);
    tvrt_value value{};
    value.kind = TVRT_KIND_TENSOR;
    value.dtype = static_cast<int32_t>(tensor.dtype);
    value.rank = static_cast<int32_t>(tensor.dims.size());
    if (tensor.dims.size() > TVRT_MAX_RANK)
      return bad_input("input '{}' has {} dimensions, at most {} are possible", info.name, tensor.dims.size(),
                       TVRT_MAX_RANK);
    std::copy(tensor.dims.begin(), tensor.dims.end(), value.dims);
    value.data = const_cast<std::byte*>(tensor.bytes.data());
    value.bytes = static_cast<int64_t>(tensor.bytes.size());
    if (auto status = tvrt_context_set_input(context_, k, &value); status != TVRT_OK)
      return from_status(status, tvrt_context_error(context_));
  }
  if (!sources.empty())
    return bad_input("--input names '{}', the inputs are: {}", sources.begin()->first, fmt::join(names, ", "));
  return {};
}

Result<void> Runner::run() {
  if (auto status = tvrt_context_run(context_); status != TVRT_OK)
    return from_status(status, tvrt_context_error(context_));
  return {};
}

int Runner::output_count() const { return tvrt_model_output_count(model_); }
std::string Runner::output_name(int index) const { return tvrt_model_output_info(model_, index)->name; }

Result<ir::Tensor> Runner::output(int index) const {
  const tvrt_value* value = nullptr;
  if (auto status = tvrt_context_output(context_, index, &value); status != TVRT_OK)
    return from_status(status, tvrt_context_error(context_));
  if (value->kind != TVRT_KIND_TENSOR || value->dtype == TVRT_STRING)
    return unsupported("output '{}' is no tensor of numbers", output_name(index));
  std::span<std::byte> out;
  ir::Tensor tensor =
      ir::make_tensor(static_cast<ir::DType>(value->dtype), {value->dims, value->dims + value->rank}, &out);
  if (!out.empty()) std::memcpy(out.data(), value->data, out.size());
  return tensor;
}

tvrt_metrics Runner::metrics() const {
  tvrt_metrics metrics{};
  metrics.size = sizeof(metrics);
  tvrt_context_metrics(context_, &metrics);
  return metrics;
}

}  // namespace tvc::tool
