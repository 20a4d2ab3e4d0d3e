// SPDX-License-Identifier: Apache-2.0
#include "ir/scanner.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace tvc::ir {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

}  // namespace

void Scanner::skip_space() {
  while (!at_end()) {
    if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
    else if (std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    else return;
  }
}

bool Scanner::take(std::string_view token) {
  if (text_.substr(at_, token.size()) != token) return false;
  size_t end = at_ + token.size();
  if (is_word(token.back()) && token.back() != '.' && end < text_.size() && is_word(text_[end])) return false;
  at_ = end;
  skip_space();
  return true;
}

Result<void> Scanner::expect(std::string_view token) {
  if (!take(token)) return error(token);
  return {};
}

std::string_view Scanner::word() {
  size_t end = at_;
  if (end < text_.size() && !std::isdigit(static_cast<unsigned char>(text_[end])))
    while (end < text_.size() && is_word(text_[end])) ++end;
  auto out = text_.substr(at_, end - at_);
  at_ = end;
  skip_space();
  return out;
}

std::optional<int64_t> Scanner::integer() {
  int64_t value = 0;
  auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (code != std::errc()) return std::nullopt;
  at_ = static_cast<size_t>(end - text_.data());
  skip_space();
  return value;
}

std::optional<double> Scanner::number(bool* has_point) {
  double value = 0;
  auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (code != std::errc()) return std::nullopt;
  auto stop = static_cast<size_t>(end - text_.data());
  if (has_point != nullptr)
    *has_point = text_.substr(at_, stop - at_).find_first_of(".einEIN") != std::string_view::npos;
  at_ = stop;
  skip_space();
  return value;
}

Result<std::string> Scanner::string() {
  if (peek() != '"') return error("a string");
  std::string out;
  for (++at_; !at_end() && text_[at_] != '"'; ++at_) {
    if (text_[at_] != '\\') {
      out += text_[at_];
    } else if (text_.substr(at_ + 1, 1) == "x") {
      int code = 0;
      std::from_chars(text_.data() + at_ + 2, text_.data() + std::min(at_ + 4, text_.size()), code, 16);
      out += static_cast<char>(code);
      at_ = std::min(at_ + 3, text_.size() - 1);
    } else if (++at_ < text_.size()) {
      out += text_[at_];
    }
  }
  if (at_end()) return error("the end of a string");
  ++at_;
  skip_space();
  return out;
}

std::string_view Scanner::until(std::string_view stops) {
  int depth = 0;
  size_t end = at_;
  for (; end < text_.size(); ++end) {
    char c = text_[end];
    if (depth == 0 && stops.find(c) != std::string_view::npos) break;
    if (c == '(') ++depth;
    if (c == ')') --depth;
  }
  auto out = text_.substr(at_, end - at_);
  at_ = end;
  return out;
}

Error Scanner::error(std::string_view expected) const {
  auto line = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n') + 1;
  return bad_input("expected {} before '{}'", expected, text_.substr(at_, 20)).at(fmt::format("line {}", line));
}

}  // namespace tvc::ir
