// SPDX-License-Identifier: Apache-2.0
#include "ir/dim.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tvc::ir {
namespace {

constexpr std::string_view kFnNames[] = {"", "floordiv", "mod", "min", "max", "bcast", "ifeq", "iflt"};

bool same_factors(const Dim::Term& a, const Dim::Term& b) {
  if (a.factors.size() != b.factors.size()) return false;
  for (size_t i = 0; i < a.factors.size(); ++i)
    if (a.factors[i]->text != b.factors[i]->text) return false;
  return true;
}

bool before(const Dim::Term& a, const Dim::Term& b) {
  return std::lexicographical_compare(a.factors.begin(), a.factors.end(), b.factors.begin(), b.factors.end(),
                                      [](const auto& x, const auto& y) { return x->text < y->text; });
}

int64_t floor_div_value(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

}  // namespace

Dim Dim::from_atom(std::shared_ptr<const DimAtom> atom) {
  Dim d;
  d.terms_.push_back({1, {std::move(atom)}});
  return d;
}

Dim Dim::symbol(std::string_view name) {
  return from_atom(std::make_shared<DimAtom>(DimAtom{DimFn::kSymbol, std::string(name), {}, std::string(name)}));
}

const std::string* Dim::as_symbol() const {
  if (constant_ != 0 || terms_.size() != 1) return nullptr;
  const Term& t = terms_[0];
  if (t.coefficient != 1 || t.factors.size() != 1 || t.factors[0]->fn != DimFn::kSymbol) return nullptr;
  return &t.factors[0]->symbol;
}

void Dim::add_term(Term term) {
  auto it = std::lower_bound(terms_.begin(), terms_.end(), term, before);
  if (it != terms_.end() && same_factors(*it, term)) {
    it->coefficient += term.coefficient;
    if (it->coefficient == 0) terms_.erase(it);
  } else if (term.coefficient != 0) {
    terms_.insert(it, std::move(term));
  }
}

Dim operator+(const Dim& a, const Dim& b) {
  Dim sum = a;
  sum.constant_ = static_cast<int64_t>(static_cast<uint64_t>(sum.constant_) + static_cast<uint64_t>(b.constant_));
  for (const auto& term : b.terms_) sum.add_term(term);
  return sum;
}

Dim operator*(const Dim& a, const Dim& b) {
  auto wrap = [](int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  };
  Dim out(wrap(a.constant_, b.constant_));
  for (const auto& t : a.terms_)
    if (b.constant_ != 0) out.add_term({wrap(t.coefficient, b.constant_), t.factors});
  for (const auto& t : b.terms_)
    if (a.constant_ != 0) out.add_term({wrap(t.coefficient, a.constant_), t.factors});
  for (const auto& x : a.terms_)
    for (const auto& y : b.terms_) {
      Dim::Term t{wrap(x.coefficient, y.coefficient), x.factors};
      t.factors.insert(t.factors.end(), y.factors.begin(), y.factors.end());
      std::sort(t.factors.begin(), t.factors.end(), [](const auto& p, const auto& q) { return p->text < q->text; });
      out.add_term(std::move(t));
    }
  return out;
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

bool Dim::operator==(const Dim& other) const {
  if (constant_ != other.constant_ || terms_.size() != other.terms_.size()) return false;
  for (size_t i = 0; i < terms_.size(); ++i)
    if (terms_[i].coefficient != other.terms_[i].coefficient || !same_factors(terms_[i], other.terms_[i])) return false;
  return true;
}

std::string Dim::text() const {
  std::string out;
  auto append = [&](int64_t coefficient, const std::string& body) {
    if (!out.empty()) out += coefficient < 0 ? " - " : " + ";
    else if (coefficient < 0) out += "-";
    uint64_t magnitude = coefficient < 0 ? 0 - static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient);
    if (body.empty()) out += std::to_string(magnitude);
    else out += magnitude == 1 ? body : std::to_string(magnitude) + "*" + body;
  };
  for (const auto& t : terms_) {
    std::string body;
    for (const auto& f : t.factors) body += (body.empty() ? "" : "*") + f->text;
    append(t.coefficient, body);
  }
  if (constant_ != 0 || terms_.empty()) append(constant_, "");
  return out;
}

Dim make_function(DimFn fn, std::vector<Dim> args) {
  std::string text = std::string(kFnNames[static_cast<int>(fn)]) + "(";
  for (size_t i = 0; i < args.size(); ++i) text += (i ? ", " : "") + args[i].text();
  text += ")";
  return Dim::from_atom(std::make_shared<DimAtom>(DimAtom{fn, "", std::move(args), std::move(text)}));
}

Dim floor_div(const Dim& a, const Dim& b) {
  if (b.is(1)) return a;
  if (a == b && !a.is(0)) return 1;
  if (a.is(0)) return 0;
  auto divisor = b.as_constant();
  if (divisor && *divisor == 0) return make_function(DimFn::kFloorDiv, {a, b});
  if (!divisor) {
    auto quotient = exact_quotient(a, b);
    return quotient ? *quotient : make_function(DimFn::kFloorDiv, {a, b});
  }
  if (a.is_constant()) return floor_div_value(a.constant(), *divisor);
  // floor((d*p + r) / d) = p + floor(r / d)
  Dim whole, rest;
  for (const auto& t : a.terms()) {
    Dim term(t.coefficient % *divisor == 0 ? t.coefficient / *divisor : t.coefficient);
    for (const auto& f : t.factors)
      term = term * (f->fn == DimFn::kSymbol ? Dim::symbol(f->symbol) : make_function(f->fn, f->args));
    (t.coefficient % *divisor == 0 ? whole : rest) = (t.coefficient % *divisor == 0 ? whole : rest) + term;
  }
  int64_t c = floor_div_value(a.constant(), *divisor);
  whole = whole + Dim(c);
  rest = rest + Dim(a.constant() - c * *divisor);
  if (rest.is_constant()) return whole;
  return whole + make_function(DimFn::kFloorDiv, {rest, b});
}

Dim ceil_div(const Dim& a, const Dim& b) { return floor_div(a + b - Dim(1), b); }

Dim mod(const Dim& a, const Dim& b) {
  if (b.is(1) || a == b) return 0;
  if (auto d = b.as_constant(); d && *d != 0 && a.is_constant())
    return a.constant() - floor_div_value(a.constant(), *d) * *d;
  return make_function(DimFn::kMod, {a, b});
}

namespace {

// Elements of tensors (e<value>_<k>) may be negative; every other symbol is a size.
bool is_element_symbol(const std::string& name) {
  return name.size() > 1 && name[0] == 'e' && name.find_first_not_of("0123456789_", 1) == std::string::npos;
}

bool not_negative(const DimAtom& atom) {
  switch (atom.fn) {
    case DimFn::kSymbol: return !is_element_symbol(atom.symbol);
    case DimFn::kMax: return not_negative(atom.args[0]) || not_negative(atom.args[1]);
    case DimFn::kMin:
    case DimFn::kFloorDiv:
    case DimFn::kBroadcast: return not_negative(atom.args[0]) && not_negative(atom.args[1]);
    case DimFn::kMod: return not_negative(atom.args[1]);
    case DimFn::kIfEq:
    case DimFn::kIfLt: return not_negative(atom.args[2]) && not_negative(atom.args[3]);
  }
  return false;
}

}  // namespace

bool not_negative(const Dim& d) {
  if (d.constant() < 0) return false;
  for (const auto& term : d.terms()) {
    if (term.coefficient < 0) return false;
    for (const auto& factor : term.factors)
      if (!not_negative(*factor)) return false;
  }
  return true;
}

// A difference that is a constant decides, whatever the symbols are.
static std::optional<int64_t> difference(const Dim& a, const Dim& b) { return (a - b).as_constant(); }

static bool is_at_most_zero(const Dim& d) { return d.is_constant() && d.constant() <= 0; }

Dim min(const Dim& a, const Dim& b) {
  if (auto d = difference(a, b)) return *d <= 0 ? a : b;
  constexpr int64_t kNoBound = int64_t{1} << 62;  // how exporters say "to the end"
  if (a.is_constant() && a.constant() >= kNoBound) return b;
  if (b.is_constant() && b.constant() >= kNoBound) return a;
  if (is_at_most_zero(a) && not_negative(b)) return a;
  if (is_at_most_zero(b) && not_negative(a)) return b;
  return make_function(DimFn::kMin, a.text() <= b.text() ? std::vector{a, b} : std::vector{b, a});
}

Dim max(const Dim& a, const Dim& b) {
  if (auto d = difference(a, b)) return *d >= 0 ? a : b;
  if (is_at_most_zero(a) && not_negative(b)) return b;
  if (is_at_most_zero(b) && not_negative(a)) return a;
  return make_function(DimFn::kMax, a.text() <= b.text() ? std::vector{a, b} : std::vector{b, a});
}

namespace {

const DimAtom* single_atom(const Dim& d) {
  const bool single =
      d.constant() == 0 && d.terms().size() == 1 && d.terms()[0].coefficient == 1 && d.terms()[0].factors.size() == 1;
  return single ? d.terms()[0].factors[0].get() : nullptr;
}

// The sizes that are broadcast together, each once, in the order of their texts.
void collect_broadcast(const Dim& d, std::map<std::string, Dim>& out) {
  const DimAtom* atom = single_atom(d);
  if (atom == nullptr || atom->fn != DimFn::kBroadcast) {
    out.emplace(d.text(), d);
    return;
  }
  for (const Dim& arg : atom->args) collect_broadcast(arg, out);
}

// min(n, c) beside n, for a constant c > 0: equal to n or 1 where the model has a meaning at all, as when a table of c
// positions is cut to n rows.
bool follows_another(const Dim& d, const std::map<std::string, Dim>& all) {
  const DimAtom* atom = single_atom(d);
  if (atom == nullptr || atom->fn != DimFn::kMin) return false;
  for (size_t k = 0; k < 2; ++k) {
    auto bound = atom->args[k].as_constant();
    if (bound && *bound > 0 && all.contains(atom->args[1 - k].text())) return true;
  }
  return false;
}

}  // namespace

Dim broadcast(const Dim& a, const Dim& b) {
  if (a == b || b.is(1)) return a;
  if (a.is(1)) return b;
  if (a.is_constant()) return a;
  if (b.is_constant()) return b;
  // Sizes that are not 1 are equal, so that neither order nor repetition counts.
  std::map<std::string, Dim> sizes;
  collect_broadcast(a, sizes);
  collect_broadcast(b, sizes);
  std::optional<Dim> out;
  for (const auto& [text, size] : sizes) {
    if (follows_another(size, sizes)) continue;
    out = out ? make_function(DimFn::kBroadcast, {*out, size}) : size;
  }
  return *out;
}

Dim if_eq(const Dim& a, const Dim& b, const Dim& x, const Dim& y) {
  if (auto d = difference(a, b)) return *d == 0 ? x : y;
  if (x == y) return x;
  return make_function(DimFn::kIfEq, {a, b, x, y});
}

Dim if_lt(const Dim& a, const Dim& b, const Dim& x, const Dim& y) {
  if (is_at_most_zero(b) && not_negative(a)) return y;
  if (auto d = difference(a, b)) return *d < 0 ? x : y;
  if (x == y) return x;
  return make_function(DimFn::kIfLt, {a, b, x, y});
}

Dim call_function(DimFn fn, const std::vector<Dim>& a) {
  switch (fn) {
    case DimFn::kFloorDiv: return floor_div(a[0], a[1]);
    case DimFn::kMod: return mod(a[0], a[1]);
    case DimFn::kMin: return min(a[0], a[1]);
    case DimFn::kMax: return max(a[0], a[1]);
    case DimFn::kBroadcast: return broadcast(a[0], a[1]);
    case DimFn::kIfEq: return if_eq(a[0], a[1], a[2], a[3]);
    case DimFn::kIfLt: return if_lt(a[0], a[1], a[2], a[3]);
    case DimFn::kSymbol: break;
  }
  return 0;
}

Dim product(const Shape& shape) {
  Dim p = 1;
  for (const auto& d : shape) p = p * d;
  return p;
}

void collect_symbols(const Dim& dim, std::set<std::string>& out) {
  for (const auto& t : dim.terms())
    for (const auto& f : t.factors) {
      if (f->fn == DimFn::kSymbol) out.insert(f->symbol);
      for (const auto& arg : f->args) collect_symbols(arg, out);
    }
}

namespace {

std::optional<int64_t> evaluate_atom(const DimAtom& atom, const SymbolLookup& lookup) {
  if (atom.fn == DimFn::kSymbol) return lookup(atom.symbol);
  std::vector<int64_t> v;
  for (const auto& arg : atom.args) {
    auto x = evaluate(arg, lookup);
    if (!x) return std::nullopt;
    v.push_back(*x);
  }
  switch (atom.fn) {
    case DimFn::kFloorDiv: return v[1] == 0 ? std::nullopt : std::optional(floor_div_value(v[0], v[1]));
    case DimFn::kMod: return v[1] == 0 ? std::nullopt : std::optional(v[0] - floor_div_value(v[0], v[1]) * v[1]);
    case DimFn::kMin: return std::min(v[0], v[1]);
    case DimFn::kMax: return std::max(v[0], v[1]);
    case DimFn::kBroadcast: return v[0] == 1 ? v[1] : v[0];
    case DimFn::kIfEq: return v[0] == v[1] ? v[2] : v[3];
    case DimFn::kIfLt: return v[0] < v[1] ? v[2] : v[3];
    case DimFn::kSymbol: break;
  }
  return std::nullopt;
}

Dim substitute_atom(const DimAtom& atom, const SymbolMap& map) {
  if (atom.fn == DimFn::kSymbol) return map(atom.symbol).value_or(Dim::symbol(atom.symbol));
  std::vector<Dim> args;
  for (const auto& arg : atom.args) args.push_back(substitute(arg, map));
  return call_function(atom.fn, args);
}

std::string atom_c_text(const DimAtom& atom, const std::function<std::string(const std::string&)>& spell) {
  if (atom.fn == DimFn::kSymbol) return spell(atom.symbol);
  std::vector<std::string> a;
  for (const auto& arg : atom.args) a.push_back(c_text(arg, spell));
  switch (atom.fn) {
    case DimFn::kFloorDiv: return "tv_floordiv(" + a[0] + ", " + a[1] + ")";
    case DimFn::kMod: return "tv_mod(" + a[0] + ", " + a[1] + ")";
    case DimFn::kMin: return "tv_size_min(" + a[0] + ", " + a[1] + ")";
    case DimFn::kMax: return "tv_size_max(" + a[0] + ", " + a[1] + ")";
    case DimFn::kBroadcast: return "tv_size_broadcast(" + a[0] + ", " + a[1] + ")";
    case DimFn::kIfEq: return "(" + a[0] + " == " + a[1] + " ? " + a[2] + " : " + a[3] + ")";
    case DimFn::kIfLt: return "(" + a[0] + " < " + a[1] + " ? " + a[2] + " : " + a[3] + ")";
    case DimFn::kSymbol: break;
  }
  return "0";
}

std::string literal(int64_t v) {
  if (v == INT64_MIN) return "INT64_MIN";
  return v > INT32_MAX || v < INT32_MIN ? "INT64_C(" + std::to_string(v) + ")" : std::to_string(v);
}

}  // namespace

std::optional<int64_t> evaluate(const Dim& dim, const SymbolLookup& lookup) {
  int64_t sum = dim.constant();
  for (const auto& t : dim.terms()) {
    int64_t v = t.coefficient;
    for (const auto& f : t.factors) {
      auto x = evaluate_atom(*f, lookup);
      if (!x || __builtin_mul_overflow(v, *x, &v)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, v, &sum)) return std::nullopt;
  }
  return sum;
}

Dim substitute(const Dim& dim, const SymbolMap& map) {
  Dim sum(dim.constant());
  for (const auto& t : dim.terms()) {
    Dim v(t.coefficient);
    for (const auto& f : t.factors) v = v * substitute_atom(*f, map);
    sum = sum + v;
  }
  return sum;
}

std::string c_text(const Dim& dim, const std::function<std::string(const std::string&)>& spell) {
  if (dim.is_constant()) return dim.constant() < 0 ? "(" + literal(dim.constant()) + ")" : literal(dim.constant());
  std::string out;
  for (const auto& t : dim.terms()) {
    std::string body;
    for (const auto& f : t.factors) body += (body.empty() ? "" : " * ") + atom_c_text(*f, spell);
    if (t.coefficient == -1) body = "-" + body;
    else if (t.coefficient != 1) body = literal(t.coefficient) + " * " + body;
    out += (out.empty() ? "" : " + ") + body;
  }
  if (dim.constant() != 0) out += " + " + literal(dim.constant());
  bool single = dim.terms().size() == 1 && dim.constant() == 0 && dim.terms()[0].coefficient == 1 &&
                dim.terms()[0].factors.size() == 1;
  return single ? out : "(" + out + ")";
}

}  // namespace tvc::ir
