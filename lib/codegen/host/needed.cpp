// SPDX-License-Identifier: Apache-2.0
// Which nodes have to run. A view reads its first input only; an expression reads the operands in it; a value whose
// elements are known needs only the symbols in them; a size's symbol needs the tensor that it is an element of.
#include <charconv>

#include "codegen/host/emitter.h"
#include "ops/op_def.h"

namespace tvc::codegen {
namespace {

// "e12_0" -> 12, "u12_0" -> 12; the model's own symbols are looked up first by the caller.
ir::ValueId value_of_symbol(const std::string& symbol) {
  ir::ValueId id = ir::kNone;
  if (symbol.size() < 2 || (symbol[0] != 'e' && symbol[0] != 'u')) return ir::kNone;
  auto [end, error] = std::from_chars(symbol.data() + 1, symbol.data() + symbol.size(), id);
  return error == std::errc() && end != symbol.data() + symbol.size() && *end == '_' ? id : ir::kNone;
}

void expression_symbols(const te::Expr& e, std::set<std::string>& out) {
  if (e->op == te::Op::kDim) ir::collect_symbols(e->dim, out);
  for (const auto& axis : e->axes) ir::collect_symbols(axis.extent, out);
  for (const auto& arg : e->args) expression_symbols(arg, out);
}

class Walk {
 public:
  Walk(const ir::Module& module, const Target& target) : module_(module), target_(target) {
    for (const auto& s : module.symbols) inputs_.insert(s.name);
    seen_.resize(module.values.size());
  }

  Result<Needed> run() {
    for (auto id : module_.main().inputs) sizes(id);
    for (auto id : module_.main().outputs) want(id);
    while (!work_.empty()) {
      auto id = work_.back();
      work_.pop_back();
      TVC_CHECK_OK(visit(id));
    }
    return std::move(needed_);
  }

 private:
  void want(ir::ValueId id) {
    if (id == ir::kNone || seen_[id]) return;
    seen_[id] = true;
    work_.push_back(id);
  }

  void symbols(const std::set<std::string>& names) {
    for (const auto& name : names) {
      if (inputs_.count(name) || !needed_.symbols.insert(name).second) continue;
      if (auto it = module_.definitions.find(name); it != module_.definitions.end()) {
        std::set<std::string> inner;
        ir::collect_symbols(it->second, inner);
        symbols(inner);
      }
      if (auto id = value_of_symbol(name); id < module_.values.size()) want_source(id);
    }
  }

  // The tensor itself must be computed, whatever is known of it.
  void want_source(ir::ValueId id) {
    seen_[id] = true;
    forced_.insert(id);
    work_.push_back(id);
  }

  void sizes(ir::ValueId id) {
    std::set<std::string> names;
    if (module_.value(id).type.kind != ir::Kind::kTensor) return;  // items know their own sizes
    for (const auto& d : module_.value(id).type.shape) ir::collect_symbols(d, names);
    symbols(names);
  }

  Result<void> visit(ir::ValueId id) {
    const auto& value = module_.value(id);
    if (value.constant) return {};
    sizes(id);
    if (is_materialisable(module_, id) && !forced_.count(id)) {
      std::set<std::string> names;
      for (const auto& d : value.known) ir::collect_symbols(d, names);
      symbols(names);
      needed_.known.insert(id);
      return {};
    }
    if (value.producer == ir::kNone || !expanded_.insert(value.producer).second) return {};
    needed_.nodes.insert(value.producer);
    return expand(value.producer);
  }

  Result<void> expand(ir::NodeId id) {
    const auto& node = module_.node(id);
    for (auto out : node.outputs)
      if (out != ir::kNone) sizes(out);
    const auto* def = ops::find(node.op);
    if (!def) return unsupported("operator {} has no definition", node.op).at(node.label());
    if (def->view) {
      want(node.inputs[0]);
      return {};
    }
    const Family* family = family_of(module_, id, target_);
    if (family && family->name == "loops") {
      auto expressions = def->express(ops::NodeView(module_, id));
      if (!expressions) return std::move(expressions).error().at(node.label());
      for (const auto& e : *expressions) {
        std::set<std::string> names;
        if (!e.body) continue;
        expression_symbols(e.body, names);
        symbols(names);
        for (int k : te::operands_of(e.body)) want(node.input(static_cast<size_t>(k)));
      }
      return {};
    }
    for (auto in : node.inputs) want(in);
    for (const auto& [name, graph] : ir::subgraphs(node)) {
      if (!def->control) continue;
      for (auto out : module_.graphs[graph].outputs) want(out);
      for (auto in : module_.graphs[graph].inputs) sizes(in);
    }
    return {};
  }

  const ir::Module& module_;
  const Target& target_;
  Needed needed_;
  std::set<std::string> inputs_;
  std::vector<bool> seen_;
  std::set<ir::ValueId> forced_;
  std::set<ir::NodeId> expanded_;
  std::vector<ir::ValueId> work_;
};

}  // namespace

bool is_materialisable(const ir::Module& module, ir::ValueId id) {
  const auto& value = module.value(id);
  if (value.known.empty() || value.producer == ir::kNone || value.constant || value.type.kind != ir::Kind::kTensor)
    return false;
  if (!ir::is_int(value.type.dtype) && value.type.dtype != ir::DType::kBool) return false;
  std::string self = "e" + std::to_string(id) + "_";
  std::set<std::string> names;
  for (const auto& d : value.known) ir::collect_symbols(d, names);
  for (const auto& n : names)
    if (n.starts_with(self)) return false;
  return true;
}

Result<Needed> find_needed(const ir::Module& module, const Target& target) { return Walk(module, target).run(); }

}  // namespace tvc::codegen
