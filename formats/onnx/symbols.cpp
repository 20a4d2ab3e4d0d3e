// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/symbols.h"

#include <algorithm>
#include <regex>

namespace tvc::onnx_format {
namespace {

// "?" and the like name nothing: each is a size of its own.
bool names_something(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)); });
}

}  // namespace

Result<ir::Type> read_type(const pb::TypeProto& proto,
                           const std::function<ir::Dim(const pb::TensorShapeProto::Dimension&, int)>& dimension) {
  ir::Type type;
  std::vector<ir::Kind> kinds;
  const pb::TypeProto* inner = &proto;
  while (inner->has_sequence_type() || inner->has_optional_type()) {
    kinds.push_back(inner->has_sequence_type() ? ir::Kind::kSequence : ir::Kind::kOptional);
    inner = inner->has_sequence_type() ? &inner->sequence_type().elem_type() : &inner->optional_type().elem_type();
    if (kinds.size() > 8) return unsupported("its type is nested too deeply");
  }
  if (!inner->has_tensor_type()) return unsupported("its type is neither a tensor nor a sequence or optional of one");
  const auto& tensor = inner->tensor_type();
  if (tensor.elem_type() <= 0 || tensor.elem_type() > static_cast<int>(ir::DType::kI2))
    return unsupported("element type {} is not known", tensor.elem_type());
  type.dtype = static_cast<ir::DType>(tensor.elem_type());
  if (!kinds.empty()) {
    type.kind = kinds[0];
    type.inner.assign(kinds.begin() + 1, kinds.end());
  }
  for (int k = 0; k < tensor.shape().dim_size(); ++k) type.shape.push_back(dimension(tensor.shape().dim(k), k));
  return type;
}

std::string Symbols::identifier_for(const std::string& source) const {
  std::string name;
  for (char c : source) {
    bool keep = std::isalnum(static_cast<unsigned char>(c)) && static_cast<unsigned char>(c) < 128;
    if (keep) name += c;
    else if (!name.empty() && name.back() != '_') name += '_';
    if (name.size() >= 32) break;
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  static const std::regex reserved("[eu][0-9]+_[0-9]+|[dvtw][0-9]*|min|max|mod|bcast|ifeq|iflt|floordiv");
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) || std::regex_match(name, reserved))
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
    if (range->second.first == range->second.second) return by_source_[source] = ir::Dim(range->second.first);
    symbol.low = range->second.first;
    symbol.high = range->second.second;
  }
  module_.symbols.push_back(symbol);
  return by_source_[source] = ir::Dim::symbol(symbol.name);
}

ir::Dim Symbols::dimension(const pb::TensorShapeProto::Dimension& dim, const std::string& input, int axis) {
  if (dim.has_dim_value() && dim.dim_value() >= 0) return dim.dim_value();
  const std::string& text = dim.dim_param();
  if (!names_something(text)) return symbol(fmt::format("{}_dim{}", input, axis));
  auto parsed = ir::parse_dim(text);
  if (!parsed || parsed->as_symbol() != nullptr || parsed->is_constant()) return symbol(text);
  // A formula, of symbols that stand alone somewhere: past + 1.
  std::set<std::string> names;
  ir::collect_symbols(*parsed, names);
  for (const auto& name : names)
    if (by_source_.find(name) == by_source_.end()) return symbol(text);
  return ir::substitute(*parsed,
                        [&](const std::string& name) -> std::optional<ir::Dim> { return by_source_.at(name); });
}

Result<ir::Type> Symbols::input_type(const pb::ValueInfoProto& value) {
  inputs_.insert(value.name());
  auto given = options_.shapes.find(value.name());
  const bool is_tensor = value.type().has_tensor_type();
  if (given == options_.shapes.end()) {
    if (is_tensor && !value.type().tensor_type().has_shape())
      return unsupported("its number of dimensions is not said: give --shape {}=... ", value.name());
    return read_type(value.type(), [&](const auto& dim, int axis) { return dimension(dim, value.name(), axis); });
  }
  used_shapes_.insert(value.name());
  if (!is_tensor) return bad_input("--shape is given for it, and it is no tensor");
  const auto& dims = given->second;
  if (value.type().tensor_type().has_shape() &&
      value.type().tensor_type().shape().dim_size() != static_cast<int>(dims.size()))
    return bad_input("--shape gives {} dimensions, it has {}", dims.size(),
                     value.type().tensor_type().shape().dim_size());
  pb::TypeProto type = value.type();
  auto* shape = type.mutable_tensor_type()->mutable_shape();
  while (shape->dim_size() < static_cast<int>(dims.size())) shape->add_dim();
  for (size_t k = 0; k < dims.size(); ++k) {
    auto* dim = shape->mutable_dim(static_cast<int>(k));
    if (dims[k] < 0) continue;
    if (dim->has_dim_value() && dim->dim_value() >= 0 && dim->dim_value() != dims[k])
      return bad_input("--shape gives {} for dimension {}, which is {}", dims[k], k, dim->dim_value());
    // The same name elsewhere is the same size.
    if (names_something(dim->dim_param())) by_source_.try_emplace(dim->dim_param(), ir::Dim(dims[k]));
    dim->set_dim_value(dims[k]);
  }
  return read_type(type, [&](const auto& dim, int axis) { return dimension(dim, value.name(), axis); });
}

Result<void> Symbols::check_all_used() const {
  for (const auto& [name, dims] : options_.shapes)
    if (!used_shapes_.count(name))
      return bad_input("--shape names '{}', the inputs are: {}", name, fmt::join(inputs_, ", "));
  std::vector<std::string> sources;
  for (const auto& [source, dim] : by_source_) sources.push_back(source);
  for (const auto& [name, range] : options_.dims)
    if (!used_dims_.count(name))
      return bad_input("--dim names '{}', the free dimensions are: {}", name, fmt::join(sources, ", "));
  return {};
}

}  // namespace tvc::onnx_format
