// SPDX-License-Identifier: Apache-2.0
// The text form; parse.cpp reads it back. Grammar: docs/ir.md.
#include <cmath>

#include "ir/ir.h"

namespace tvc::ir {
namespace {

// Constants of more elements are named by size only; such text is for people and does not parse.
constexpr int64_t kPrintedElements = 64;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 32) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else out += c;
  }
  return out + "\"";
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return fmt::format("{}", value);
}

template <typename Range, typename Fn>
std::string joined(const Range& range, Fn&& text) {
  std::string out;
  for (const auto& item : range) out += (out.empty() ? "" : ", ") + text(item);
  return out;
}

std::string type_text(const Type& type) {
  std::string out;
  auto prefix = [&](Kind kind) {
    if (kind == Kind::kSequence) out += "seq ";
    if (kind == Kind::kOptional) out += "opt ";
  };
  prefix(type.kind);
  for (Kind kind : type.inner) prefix(kind);
  out += name(type.dtype);
  if (type.kind != Kind::kTensor && type.items == Items::kNone) out += " none";
  if (type.kind == Kind::kTensor || type.items == Items::kAlike)
    out += "[" + joined(type.shape, [](const Dim& d) { return d.text(); }) + "]";
  return out;
}

std::string constant_text(const Tensor& tensor) {
  if (tensor.dtype == DType::kString) return "{" + joined(tensor.strings, quoted) + "}";
  if (tensor.dtype == DType::kC64 || tensor.dtype == DType::kC128 || tensor.count() > kPrintedElements)
    return fmt::format("elided({} bytes)", tensor.bytes.size());
  if (is_float(tensor.dtype)) return "{" + joined(to_f64(tensor), number_text) + "}";
  return "{" + joined(to_i64(tensor), [](int64_t v) { return std::to_string(v); }) + "}";
}

std::string literal_text(const Tensor& tensor) {
  Type type;
  type.dtype = tensor.dtype;
  for (int64_t d : tensor.dims) type.shape.emplace_back(d);
  return "const " + type_text(type) + " " + constant_text(tensor);
}

struct AttrText {
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const {
    std::string text = number_text(v);
    return text.find_first_of(".einf") == std::string::npos ? text + ".0" : text;
  }
  std::string operator()(const std::string& v) const { return quoted(v); }
  std::string operator()(const std::vector<int64_t>& v) const {
    return "[" + joined(v, [](int64_t x) { return std::to_string(x); }) + "]";
  }
  std::string operator()(const std::vector<double>& v) const { return "floats [" + joined(v, number_text) + "]"; }
  std::string operator()(const std::vector<std::string>& v) const { return "strings [" + joined(v, quoted) + "]"; }
  std::string operator()(const std::shared_ptr<const Tensor>& v) const { return literal_text(*v); }
  std::string operator()(GraphId v) const { return fmt::format("graph {}", v); }
};

std::string reference(ValueId id) { return id == kNone ? "_" : fmt::format("%{}", id); }

std::string definition(const Module& module, ValueId id) {
  if (id == kNone) return "_";
  const Value& value = module.value(id);
  return fmt::format("%{}{}: {}", id, value.name.empty() ? "" : " " + quoted(value.name), type_text(value.type));
}

std::string node_text(const Module& module, const Node& node) {
  std::string out = joined(node.outputs, [&](ValueId id) { return definition(module, id); }) + " = " + node.op + "(" +
                    joined(node.inputs, reference) + ")";
  if (!node.attrs.empty())
    out +=
        " {" +
        joined(node.attrs, [](const auto& item) { return item.first + ": " + std::visit(AttrText{}, item.second); }) +
        "}";
  if (!node.origin.empty()) out += " @ " + joined(node.origin, quoted);
  return out;
}

std::string graph_text(const Module& module, GraphId id) {
  const Graph& graph = module.graphs[id];
  std::string out = fmt::format("graph {} {}({}) {{\n", id, quoted(graph.name),
                                joined(graph.inputs, [&](ValueId v) { return definition(module, v); }));
  for (ValueId v = 0; v < module.values.size(); ++v)
    if (module.value(v).constant && module.value(v).graph == id)
      out += fmt::format("  {} = const {}\n", definition(module, v), constant_text(*module.value(v).constant));
  for (ValueId v : graph.inputs)
    if (module.value(v).default_value)
      out += fmt::format("  default %{} = {}\n", v, constant_text(*module.value(v).default_value));
  for (NodeId n : graph.nodes) out += "  " + node_text(module, module.node(n)) + "\n";
  return out + "  return " + joined(graph.outputs, reference) + "\n}\n";
}

}  // namespace

std::string print(const Module& module) {
  std::string out;
  for (const Symbol& symbol : module.symbols) {
    std::string high = symbol.high == INT64_MAX ? "*" : std::to_string(symbol.high);
    out += fmt::format("symbol {} {}..{} {}\n", symbol.name, symbol.low, high, quoted(symbol.source_name));
  }
  std::vector<bool> dead(module.graphs.size(), true);
  dead[0] = false;
  for (const Node& node : module.nodes)
    for (const auto& [key, graph] : subgraphs(node)) dead[graph] = false;
  for (GraphId id = 0; id < module.graphs.size(); ++id)
    if (!dead[id]) out += graph_text(module, id);
  return out;
}

}  // namespace tvc::ir
