// SPDX-License-Identifier: Apache-2.0
// Exact division of polynomials: the q with q * b = a, found term by term from the largest one in graded lexicographic
// order.
#include <algorithm>

#include "ir/dim.h"

namespace tvc::ir {
namespace {

using Factors = std::vector<std::shared_ptr<const DimAtom>>;  // sorted by text

Dim dim_of(const DimAtom& atom) {
  return atom.fn == DimFn::kSymbol ? Dim::symbol(atom.symbol) : call_function(atom.fn, atom.args);
}

bool larger(const Factors& a, const Factors& b) {
  if (a.size() != b.size()) return a.size() > b.size();
  // Of equal degree: more of the alphabetically first atom is larger.
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](const auto& x, const auto& y) { return x->text < y->text; });
}

struct Leading {
  int64_t coefficient = 0;
  Factors factors;
};

Leading leading(const Dim& dim) {
  Leading out{dim.constant(), {}};
  for (const auto& term : dim.terms())
    if (out.coefficient == 0 || larger(term.factors, out.factors)) out = {term.coefficient, term.factors};
  return out;
}

std::optional<Factors> without(Factors from, const Factors& what) {
  for (const auto& factor : what) {
    auto at = std::find_if(from.begin(), from.end(), [&](const auto& f) { return f->text == factor->text; });
    if (at == from.end()) return std::nullopt;
    from.erase(at);
  }
  return from;
}

}  // namespace

std::optional<Dim> exact_quotient(const Dim& a, const Dim& b) {
  constexpr int kMaxTerms = 64;
  if (b.is(0)) return std::nullopt;
  const Leading divisor = leading(b);
  Dim quotient, rest = a;
  for (int step = 0; step < kMaxTerms; ++step) {
    if (rest.is(0)) return quotient;
    const Leading top = leading(rest);
    auto factors = without(top.factors, divisor.factors);
    if (!factors || top.coefficient % divisor.coefficient != 0) return std::nullopt;
    Dim term = top.coefficient / divisor.coefficient;
    for (const auto& f : *factors) term = term * dim_of(*f);
    quotient = quotient + term;
    rest = rest - term * b;
  }
  return std::nullopt;
}

}  // namespace tvc::ir
