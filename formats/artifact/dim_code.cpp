// SPDX-License-Identifier: Apache-2.0
#include "formats/artifact/dim_code.h"

#include "formats/artifact/manifest_generated.h"

namespace tvc {
namespace {

using artifact::DimOp;

DimOp op_of(ir::DimFn fn) {
  switch (fn) {
    case ir::DimFn::kSymbol: return DimOp::symbol;
    case ir::DimFn::kFloorDiv: return DimOp::floor_divide;
    case ir::DimFn::kMod: return DimOp::modulo;
    case ir::DimFn::kMin: return DimOp::minimum;
    case ir::DimFn::kMax: return DimOp::maximum;
    case ir::DimFn::kBroadcast: return DimOp::broadcast;
    case ir::DimFn::kIfEq: return DimOp::if_equal;
    case ir::DimFn::kIfLt: return DimOp::if_less;
  }
  return DimOp::constant;
}

class Coder {
 public:
  explicit Coder(const SymbolIndex& index_of) : index_of_(index_of) {}

  bool add(const ir::Dim& dim) {
    bool first = dim.constant() != 0 || dim.is_constant();
    if (first) number(dim.constant());
    for (const auto& term : dim.terms()) {
      if (!add(term)) return false;
      if (first) put(DimOp::add);
      first = true;
    }
    return true;
  }

  std::vector<int64_t> code;

 private:
  bool add(const ir::Dim::Term& term) {
    bool first = term.coefficient != 1;
    if (first) number(term.coefficient);
    for (const auto& atom : term.factors) {
      if (!add(*atom)) return false;
      if (first) put(DimOp::multiply);
      first = true;
    }
    return true;
  }

  bool add(const ir::DimAtom& atom) {
    if (atom.fn == ir::DimFn::kSymbol) {
      int index = index_of_(atom.symbol);
      put(DimOp::symbol);
      code.push_back(index);
      return index >= 0;
    }
    for (const auto& arg : atom.args)
      if (!add(arg)) return false;
    put(op_of(atom.fn));
    return true;
  }

  void number(int64_t value) {
    put(DimOp::constant);
    code.push_back(value);
  }
  void put(DimOp op) { code.push_back(static_cast<int64_t>(op)); }

  const SymbolIndex& index_of_;
};

}  // namespace

std::optional<std::vector<int64_t>> dim_code(const ir::Dim& dim, const SymbolIndex& index_of) {
  Coder coder(index_of);
  if (!coder.add(dim)) return std::nullopt;
  return std::move(coder.code);
}

}  // namespace tvc
