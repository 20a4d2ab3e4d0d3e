// SPDX-License-Identifier: Apache-2.0
// Reads the text form. Value numbers in the text are names: the module numbers its values anew.
#include <map>
#include <random>

#include "ir/ir.h"
#include "ir/scanner.h"

namespace tvc::ir {
namespace {

constexpr int64_t kMaxElements = 1 << 24;  // text is for tests; no constant there is larger

class Parser {
 public:
  explicit Parser(std::string_view text) : scan_(text) {}

  Result<Module> module() {
    while (scan_.take("symbol")) TVC_CHECK_OK(symbol());
    while (!scan_.at_end()) TVC_CHECK_OK(graph());
    for (const auto& [number, id] : ids_)
      if (!defined_.count(id)) return bad_input("%{} is read but not defined", number);
    for (GraphId id = 0; id < module_.graphs.size(); ++id)
      if (!graphs_seen_.count(id)) return bad_input("graph {} is missing", id);
    return std::move(module_);
  }

 private:
  Result<void> symbol() {
    Symbol symbol;
    symbol.name = scan_.word();
    if (auto low = scan_.integer()) {
      symbol.low = *low;
      TVC_CHECK_OK(scan_.expect(".."));
      if (!scan_.take("*")) symbol.high = scan_.integer().value_or(INT64_MAX);
    }
    symbol.source_name = symbol.name;
    if (scan_.peek() == '"') {
      TVC_TRY(symbol.source_name, scan_.string());
    }
    module_.symbols.push_back(std::move(symbol));
    return {};
  }

  Result<GraphId> graph_number() {
    auto number = scan_.integer();
    if (!number || *number < 0 || *number > 4096) return scan_.error("a graph's number");
    if (module_.graphs.size() <= static_cast<size_t>(*number)) module_.graphs.resize(static_cast<size_t>(*number) + 1);
    return static_cast<GraphId>(*number);
  }

  Result<void> graph() {
    TVC_CHECK_OK(scan_.expect("graph"));
    TVC_TRY(GraphId id, graph_number());
    graphs_seen_.insert(id);
    if (scan_.peek() == '"') {
      TVC_TRY(module_.graphs[id].name, scan_.string());
    }
    TVC_CHECK_OK(scan_.expect("("));
    while (!scan_.take(")")) {
      TVC_TRY(ValueId input, definition(id));
      module_.graphs[id].inputs.push_back(input);
      scan_.take(",");
    }
    TVC_CHECK_OK(scan_.expect("{"));
    while (!scan_.take("return")) TVC_CHECK_OK(scan_.take("default") ? default_value() : statement(id));
    while (!scan_.take("}")) {
      TVC_TRY(ValueId output, reference());
      module_.graphs[id].outputs.push_back(output);
      scan_.take(",");
    }
    return {};
  }

  Result<ValueId> reference() {
    if (scan_.take("_")) return kNone;
    TVC_CHECK_OK(scan_.expect("%"));
    auto number = scan_.integer();
    if (!number) return scan_.error("a value's number");
    auto [it, fresh] = ids_.try_emplace(*number, 0);
    if (fresh) it->second = add_value(module_, "", {}, 0);
    return it->second;
  }

  Result<ValueId> definition(GraphId graph) {
    TVC_TRY(ValueId id, reference());
    if (id == kNone) return id;
    if (!defined_.insert(id).second) return scan_.error("a value that is not defined twice");
    module_.value(id).graph = graph;
    if (scan_.peek() == '"') {
      TVC_TRY(module_.value(id).name, scan_.string());
    }
    if (scan_.take(":")) {
      TVC_TRY(module_.value(id).type, type());
    }
    return id;
  }

  Result<Type> type() {
    Type type;
    std::vector<Kind> kinds;
    while (true) {
      if (scan_.take("seq")) kinds.push_back(Kind::kSequence);
      else if (scan_.take("opt")) kinds.push_back(Kind::kOptional);
      else break;
    }
    auto dtype = dtype_from_name(scan_.word());
    if (!dtype) return scan_.error("an element type");
    type.dtype = *dtype;
    if (!kinds.empty()) {
      type.kind = kinds[0];
      type.inner.assign(kinds.begin() + 1, kinds.end());
      if (scan_.take("none")) type.items = Items::kNone;
      if (scan_.peek() != '[') return type;
      type.items = Items::kAlike;
    }
    TVC_CHECK_OK(scan_.expect("["));
    while (!scan_.take("]")) {
      auto dim = parse_dim(scan_.until(",]"));
      if (!dim) return scan_.error("a dimension");
      type.shape.push_back(*dim);
      scan_.take(",");
    }
    return type;
  }

  Result<void> statement(GraphId graph) {
    std::vector<ValueId> outputs;
    do {
      TVC_TRY(ValueId id, definition(graph));
      outputs.push_back(id);
    } while (scan_.take(","));
    TVC_CHECK_OK(scan_.expect("="));
    if (scan_.take("const")) {
      TVC_TRY(auto tensor, elements(module_.value(outputs[0]).type));
      module_.value(outputs[0]).constant = std::make_shared<const Tensor>(std::move(tensor));
      return {};
    }
    return node(graph, std::move(outputs));
  }

  Result<void> node(GraphId graph, std::vector<ValueId> outputs) {
    Node node;
    node.graph = graph;
    node.op = scan_.word();
    if (node.op.empty()) return scan_.error("an operator");
    TVC_CHECK_OK(scan_.expect("("));
    while (!scan_.take(")")) {
      TVC_TRY(ValueId input, reference());
      node.inputs.push_back(input);
      scan_.take(",");
    }
    if (scan_.take("{")) TVC_CHECK_OK(attributes(node));
    if (scan_.take("@")) {
      do {
        TVC_TRY(auto name, scan_.string());
        node.origin.push_back(std::move(name));
      } while (scan_.take(","));
    }
    auto id = static_cast<NodeId>(module_.nodes.size());
    for (uint32_t slot = 0; slot < outputs.size(); ++slot) {
      if (outputs[slot] == kNone) continue;
      module_.value(outputs[slot]).producer = id;
      module_.value(outputs[slot]).slot = slot;
    }
    node.outputs = std::move(outputs);
    module_.nodes.push_back(std::move(node));
    module_.graphs[graph].nodes.push_back(id);
    return {};
  }

  Result<void> attributes(Node& node) {
    while (!scan_.take("}")) {
      std::string key(scan_.word());
      TVC_CHECK_OK(scan_.expect(":"));
      TVC_TRY(auto value, attribute());
      node.attrs.emplace(std::move(key), std::move(value));
      scan_.take(",");
    }
    return {};
  }

  Result<Attr> attribute() {
    if (scan_.take("graph")) {
      TVC_TRY(GraphId id, graph_number());
      return Attr(id);
    }
    if (scan_.take("const")) {
      TVC_TRY(auto its_type, type());
      TVC_TRY(auto tensor, elements(its_type));
      return Attr(std::make_shared<const Tensor>(std::move(tensor)));
    }
    if (scan_.peek() == '"') {
      TVC_TRY(auto text, scan_.string());
      return Attr(std::move(text));
    }
    if (scan_.take("floats")) return list<double>([&]() -> Result<double> { return need(scan_.number()); });
    if (scan_.take("strings")) return list<std::string>([&] { return scan_.string(); });
    if (scan_.peek() == '[') return list<int64_t>([&]() -> Result<int64_t> { return need(scan_.integer()); });
    bool has_point = false;
    auto value = scan_.number(&has_point);
    if (!value) return scan_.error("an attribute's value");
    return has_point ? Attr(*value) : Attr(static_cast<int64_t>(*value));
  }

  template <typename T>
  Result<T> need(std::optional<T> value) {
    if (!value) return scan_.error("a number");
    return *value;
  }

  template <typename T, typename Fn>
  Result<Attr> list(Fn&& item) {
    TVC_CHECK_OK(scan_.expect("["));
    std::vector<T> out;
    while (!scan_.take("]")) {
      TVC_TRY(T value, item());
      out.push_back(std::move(value));
      scan_.take(",");
    }
    return Attr(std::move(out));
  }

  // {1, 2, 3}, or random(SEED): uniform in [-1, 1), for tests.
  Result<Tensor> elements(const Type& type) {
    std::vector<int64_t> dims;
    int64_t count = 1;
    for (const Dim& d : type.shape) {
      if (!d.is_constant() || d.constant() < 0) return scan_.error("a constant of known size");
      dims.push_back(d.constant());
      count *= d.constant();
      if (count > kMaxElements) return scan_.error("a smaller constant");
    }
    std::vector<double> values;
    if (scan_.take("random")) {
      TVC_CHECK_OK(scan_.expect("("));
      std::mt19937 generator(static_cast<uint32_t>(scan_.integer().value_or(0)));
      TVC_CHECK_OK(scan_.expect(")"));
      for (int64_t k = 0; k < count; ++k) values.push_back(static_cast<double>(generator()) / 2147483648.0 - 1.0);
      return from_f64(type.dtype, std::move(dims), values);
    }
    TVC_CHECK_OK(scan_.expect("{"));
    std::vector<std::string> strings;
    while (!scan_.take("}")) {
      if (type.dtype == DType::kString) {
        TVC_TRY(auto text, scan_.string());
        strings.push_back(std::move(text));
      } else {
        TVC_TRY(double value, need(scan_.number()));
        values.push_back(value);
      }
      scan_.take(",");
    }
    if (static_cast<int64_t>(std::max(values.size(), strings.size())) != count)
      return scan_.error(fmt::format("{} elements", count));
    Tensor tensor = from_f64(type.dtype, std::move(dims), values);
    tensor.strings = std::move(strings);
    return tensor;
  }

  Result<void> default_value() {
    TVC_TRY(ValueId id, reference());
    TVC_CHECK_OK(scan_.expect("="));
    TVC_TRY(auto tensor, elements(module_.value(id).type));
    module_.value(id).default_value = std::make_shared<const Tensor>(std::move(tensor));
    return {};
  }

  Scanner scan_;
  Module module_;
  std::map<int64_t, ValueId> ids_;
  std::set<ValueId> defined_;
  std::set<GraphId> graphs_seen_;
};

}  // namespace

Result<Module> parse(std::string_view text) { return Parser(text).module(); }

}  // namespace tvc::ir
