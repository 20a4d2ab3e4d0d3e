// SPDX-License-Identifier: Apache-2.0
// Dims from text: sums, products and the functions of DimFn.
#include "ir/dim.h"
#include "ir/scanner.h"

namespace tvc::ir {
namespace {

constexpr int kMaxDepth = 64;

class DimParser {
 public:
  explicit DimParser(std::string_view text) : scan_(text) {}

  std::optional<Dim> whole() {
    auto dim = sum(0);
    return dim && scan_.at_end() ? dim : std::nullopt;
  }

 private:
  std::optional<Dim> sum(int depth) {
    if (depth > kMaxDepth) return std::nullopt;
    bool negative = scan_.take("-");
    auto total = product(depth);
    if (total && negative) total = Dim(-1) * *total;
    while (total) {
      bool minus = scan_.peek() == '-';
      if (!scan_.take("+") && !scan_.take("-")) break;
      auto next = product(depth);
      if (!next) return std::nullopt;
      total = minus ? *total - *next : *total + *next;
    }
    return total;
  }

  std::optional<Dim> product(int depth) {
    auto total = atom(depth);
    while (total && scan_.take("*")) {
      auto next = atom(depth);
      if (!next) return std::nullopt;
      total = *total * *next;
    }
    return total;
  }

  std::optional<Dim> atom(int depth) {
    if (auto value = scan_.integer()) return Dim(*value);
    if (scan_.take("(")) {
      auto inner = sum(depth + 1);
      return inner && scan_.take(")") ? inner : std::nullopt;
    }
    std::string word(scan_.word());
    if (word.empty() || word.find('.') != std::string::npos) return std::nullopt;
    if (!scan_.take("(")) return Dim::symbol(word);
    std::vector<Dim> args;
    do {
      auto arg = sum(depth + 1);
      if (!arg) return std::nullopt;
      args.push_back(*arg);
    } while (scan_.take(","));
    return scan_.take(")") ? call(word, args) : std::nullopt;
  }

  static std::optional<Dim> call(const std::string& name, const std::vector<Dim>& a) {
    if (a.size() == 4) {
      if (name == "ifeq") return if_eq(a[0], a[1], a[2], a[3]);
      if (name == "iflt") return if_lt(a[0], a[1], a[2], a[3]);
    }
    if (a.size() != 2) return std::nullopt;
    if (name == "floordiv") return floor_div(a[0], a[1]);
    if (name == "mod") return mod(a[0], a[1]);
    if (name == "min") return min(a[0], a[1]);
    if (name == "max") return max(a[0], a[1]);
    if (name == "bcast") return broadcast(a[0], a[1]);
    return std::nullopt;
  }

  Scanner scan_;
};

}  // namespace

std::optional<Dim> parse_dim(std::string_view text) { return DimParser(text).whole(); }

}  // namespace tvc::ir
