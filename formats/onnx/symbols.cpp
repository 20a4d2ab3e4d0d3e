// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/symbols.h"

#include <algorithm>
#include <cctype>
#include <regex>

namespace tvc::onnx_format {
namespace {

constexpr size_t kMaxFormula = 64, kMaxName = 32;

bool is_alnum(char c) {
  return static_cast<unsigned char>(c) < 128 && std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// "?" and the like name nothing: each is a size of its own.
bool names_something(const std::string& text) { return std::any_of(text.begin(), text.end(), is_alnum); }

bool is_free(const pb::TensorShapeProto::Dimension& dim) { return !dim.has_dim_value() || dim.dim_value() < 0; }

}  // namespace

Result<void> Symbols::fix(const std::string& source, int64_t size) {
  auto [it, is_new] = fixed_.emplace(source, size);
  if (!is_new && it->second != size) return bad_input("--shape gives {} and {} for '{}'", it->second, size, source);
  auto range = options_.dims.find(source);
  if (range != options_.dims.end() && (size < range->second.first || size > range->second.second))
    return bad_input("--shape gives {} for '{}', --dim {}..{}", size, source, range->second.first,
                     range->second.second);
  return {};
}

Result<void> Symbols::declare(const pb::ValueInfoProto& input) {
  inputs_.insert(input.name());
  const auto& shape = input.type().tensor_type().shape();
  auto given = options_.shapes.find(input.name());
  for (int k = 0; k < shape.dim_size(); ++k) {
    const auto& dim = shape.dim(k);
    if (!is_free(dim) || !names_something(dim.dim_param())) continue;
    plain_.insert(dim.dim_param());
    if (given != options_.shapes.end() && k < static_cast<int>(given->second.size()))
      if (int64_t size = given->second[static_cast<size_t>(k)]; size >= 0) TVC_CHECK_OK(fix(dim.dim_param(), size));
  }
  return {};
}

std::string Symbols::identifier_for(const std::string& source) const {
  std::string name;
  for (char c : source) {
    if (is_alnum(c)) name += c;
    else if (!name.empty() && name.back() != '_') name += '_';
    if (name.size() >= kMaxName) break;
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  // e12_0 and u12_0 are elements and sizes of values, the words are functions of Dims.
  static const std::regex reserved("[eu][0-9]+_[0-9]+|[dvtw][0-9]*|min|max|mod|bcast|ifeq|iflt|floordiv");
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 || std::regex_match(name, reserved))
    name = "dim_" + name;
  auto taken = [&](const std::string& candidate) {
    return std::any_of(module_.symbols.begin(), module_.symbols.end(),
                       [&](const auto& s) { return s.name == candidate; });
  };
  std::string unique = name;
  for (int k = 2; taken(unique); ++k) unique = fmt::format("{}_{}", name, k);
  return unique;
}

ir::Dim Symbols::symbol(const std::string& source) {
  if (auto it = by_source_.find(source); it != by_source_.end()) return it->second;
  ir::Symbol symbol;
  symbol.name = identifier_for(source);
  symbol.source_name = source;
  auto range = options_.dims.find(source);
  if (range == options_.dims.end()) range = options_.dims.find(symbol.name);
  if (range != options_.dims.end()) {
    used_dims_.insert(range->first);
    symbol.low = range->second.first;
    symbol.high = range->second.second;
  }
  if (auto it = fixed_.find(source); it != fixed_.end()) return by_source_[source] = ir::Dim(it->second);
  if (symbol.low == symbol.high) return by_source_[source] = ir::Dim(symbol.low);
  module_.symbols.push_back(symbol);
  return by_source_[source] = ir::Dim::symbol(symbol.name);
}

// "past + 1", where past is said alone somewhere.
std::optional<ir::Dim> Symbols::formula(const std::string& text) {
  static const std::regex form("[A-Za-z_][A-Za-z0-9_]*|[A-Za-z0-9_+*() -]*[+*-][A-Za-z0-9_+*() -]*");
  static const std::regex large("[0-9]{6}");
  if (text.size() > kMaxFormula || !std::regex_match(text, form) || std::regex_search(text, large)) return std::nullopt;
  auto parsed = ir::parse_dim(text);
  if (!parsed || parsed->as_symbol() != nullptr || parsed->is_constant()) return std::nullopt;
  std::set<std::string> names;
  ir::collect_symbols(*parsed, names);
  if (!std::includes(plain_.begin(), plain_.end(), names.begin(), names.end())) return std::nullopt;
  return ir::substitute(*parsed, [&](const std::string& name) -> std::optional<ir::Dim> { return symbol(name); });
}

ir::Dim Symbols::dimension(const Dimension& dim, const std::string& input, int axis) {
  if (!is_free(dim)) return dim.dim_value();
  const std::string& text = dim.dim_param();
  if (!names_something(text)) return symbol(fmt::format("{}_dim{}", input, axis));
  if (fixed_.count(text) == 0)
    if (auto known = formula(text)) return *known;
  return symbol(text);
}

Result<ir::Type> Symbols::input_type(const pb::ValueInfoProto& input) {
  auto read_dim = [&](const Dimension& dim, int axis) { return dimension(dim, input.name(), axis); };
  auto given = options_.shapes.find(input.name());
  if (given == options_.shapes.end()) {
    if (input.type().has_tensor_type() && !input.type().tensor_type().has_shape())
      return bad_input("its number of dimensions is not said: give it with --shape {}=...", input.name());
    return read_type(input.type(), read_dim);
  }
  if (!input.type().has_tensor_type()) return bad_input("--shape is given for it, and it is no tensor");
  const auto& sizes = given->second;
  pb::TypeProto type = input.type();
  const bool has_shape = type.tensor_type().has_shape();
  auto& shape = *type.mutable_tensor_type()->mutable_shape();
  if (has_shape && shape.dim_size() != static_cast<int>(sizes.size()))
    return bad_input("--shape gives {} dimensions, it has {}", sizes.size(), shape.dim_size());
  while (shape.dim_size() < static_cast<int>(sizes.size())) shape.add_dim();
  for (size_t k = 0; k < sizes.size(); ++k) {
    auto& dim = *shape.mutable_dim(static_cast<int>(k));
    if (sizes[k] < 0) continue;
    if (!is_free(dim) && dim.dim_value() != sizes[k])
      return bad_input("--shape gives {} for dimension {}, which is {}", sizes[k], k, dim.dim_value());
    if (is_free(dim) && names_something(dim.dim_param())) symbol(dim.dim_param());
    dim.set_dim_value(sizes[k]);
  }
  return read_type(type, read_dim);
}

Result<void> Symbols::check_options() const {
  for (const auto& [name, sizes] : options_.shapes)
    if (inputs_.count(name) == 0)
      return bad_input("--shape names '{}'; the inputs are: {}", name, fmt::join(inputs_, ", "));
  std::vector<std::string> sources;
  for (const auto& [source, dim] : by_source_) sources.push_back(source);
  for (const auto& [name, range] : options_.dims) {
    if (range.first < 0 || range.second < range.first)
      return bad_input("--dim {}={}..{} is no range of sizes", name, range.first, range.second);
    if (used_dims_.count(name) == 0)
      return bad_input("--dim names '{}'; the free dimensions are: {}", name,
                       sources.empty() ? "none" : fmt::format("{}", fmt::join(sources, ", ")));
  }
  return {};
}

}  // namespace tvc::onnx_format
