// SPDX-License-Identifier: Apache-2.0
// Dim: a symbolic integer. A polynomial over atoms with integer coefficients, kept in normal form, so that equal
// polynomials compare equal: 2*batch + past + 1. An atom is a symbol or a function of Dims that stays opaque.
//
// Symbols: free dimensions of the model's inputs ("batch"; known before a run), elements of integer tensors
// ("e12_0": element 0 of value 12) and data-dependent sizes ("u12_1": dimension 1 of value 12), both known only while
// the program runs. Division is floor division; mod has the divisor's sign.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tvc::ir {

class Dim;

enum class DimFn : uint8_t {
  kSymbol,
  kFloorDiv,   // (a, b)
  kMod,        // (a, b)
  kMin,        // (a, b)
  kMax,        // (a, b)
  kBroadcast,  // (a, b): b where a == 1, else a (ONNX broadcasting of two sizes)
  kIfEq,       // (a, b, x, y): a == b ? x : y
  kIfLt,       // (a, b, x, y): a < b ? x : y
};

struct DimAtom {
  DimFn fn;
  std::string symbol;     // kSymbol
  std::vector<Dim> args;  // functions
  std::string text;       // canonical text; equality and order of atoms
};

class Dim {
 public:
  struct Term {
    int64_t coefficient;
    std::vector<std::shared_ptr<const DimAtom>> factors;  // sorted by text, never empty
  };

  Dim() = default;
  Dim(int64_t constant) : constant_(constant) {}  // NOLINT: implicit on purpose
  Dim(int constant) : constant_(constant) {}      // NOLINT
  static Dim symbol(std::string_view name);       // name: an identifier

  bool is_constant() const { return terms_.empty(); }
  int64_t constant() const { return constant_; }  // the constant term
  std::optional<int64_t> as_constant() const { return is_constant() ? std::optional(constant_) : std::nullopt; }
  bool is(int64_t value) const { return is_constant() && constant_ == value; }
  const std::vector<Term>& terms() const { return terms_; }
  // Set when this is exactly one symbol.
  const std::string* as_symbol() const;

  std::string text() const;
  bool operator==(const Dim& other) const;
  bool operator!=(const Dim& other) const { return !(*this == other); }

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);

 private:
  friend Dim make_function(DimFn fn, std::vector<Dim> args);
  static Dim from_atom(std::shared_ptr<const DimAtom> atom);
  void add_term(Term term);
  int64_t constant_ = 0;
  std::vector<Term> terms_;  // sorted by their factors' texts, coefficients not 0
};

using Shape = std::vector<Dim>;

Dim floor_div(const Dim& a, const Dim& b);  // exact where every coefficient divides
// The polynomial q with q * b = a, where there is one: 2*n*m / m.
std::optional<Dim> exact_quotient(const Dim& a, const Dim& b);
Dim ceil_div(const Dim& a, const Dim& b);
Dim mod(const Dim& a, const Dim& b);
Dim min(const Dim& a, const Dim& b);
Dim max(const Dim& a, const Dim& b);
Dim broadcast(const Dim& a, const Dim& b);
Dim if_eq(const Dim& a, const Dim& b, const Dim& x, const Dim& y);
Dim if_lt(const Dim& a, const Dim& b, const Dim& x, const Dim& y);

// One of these by name; not for kSymbol.
Dim call_function(DimFn fn, const std::vector<Dim>& args);

// Whether the value can't be negative, whatever the sizes are. Elements of tensors ("e12_0") may be.
bool not_negative(const Dim& dim);
Dim product(const Shape& shape);
void collect_symbols(const Dim& dim, std::set<std::string>& out);
using SymbolLookup = std::function<std::optional<int64_t>(const std::string&)>;
// nullopt: a symbol is unknown, or a divisor is 0, or the value overflows.
std::optional<int64_t> evaluate(const Dim& dim, const SymbolLookup& lookup);
using SymbolMap = std::function<std::optional<Dim>(const std::string&)>;
Dim substitute(const Dim& dim, const SymbolMap& map);
// C text over int64_t variables named as `spell` says; needs tv_floordiv, tv_mod, tv_size_min, tv_size_max,
// tv_size_broadcast of the prelude.
std::string c_text(const Dim& dim, const std::function<std::string(const std::string&)>& spell);
// The inverse of Dim::text(): "2*batch + max(past, 1)"; nullopt if malformed.
std::optional<Dim> parse_dim(std::string_view text);

}  // namespace tvc::ir
