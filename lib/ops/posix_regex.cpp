// SPDX-License-Identifier: Apache-2.0
#include "ops/posix_regex.h"

namespace tvc::ops {
namespace {

bool is_punctuation(char c) { return c > 32 && c < 127 && std::string_view("_").find(c) != 0 && !isalnum(c); }

class Translation {
 public:
  explicit Translation(std::string_view text) : text_(text) {}

  Result<PosixRegex> run() {
    out_.pattern = "^(";
    while (at_ < text_.size()) TVC_CHECK_OK(item());
    out_.pattern += ")$";
    return std::move(out_);
  }

 private:
  bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }

  Result<void> item() {
    const char c = text_[at_++];
    if (static_cast<unsigned char>(c) >= 0x80) return unsupported("the pattern holds characters outside of ASCII");
    if (c == '\\') return escape();
    if (c == '[') return bracket();
    if (c == '.') {
      out_.pattern += "[^\n]";
      out_.ascii_only = true;
      return {};
    }
    if (c == '(' && next_is('?')) {
      if (text_.substr(at_, 2) != "?:") return unsupported("groups with flags or names are not supported in patterns");
      at_ += 2;
    }
    out_.pattern += c;
    const bool repeats = c == '*' || c == '+' || c == '?' || c == '}';
    if (repeats && (next_is('?') || next_is('+'))) return unsupported("lazy repetition is not supported in patterns");
    return {};
  }

  Result<void> escape() {
    if (at_ == text_.size()) return bad_input("the pattern ends in a backslash");
    const char c = text_[at_++];
    switch (c) {
      case 'd': out_.pattern += "[0-9]"; return {};
      case 'w': out_.pattern += "[A-Za-z0-9_]"; return {};
      case 's': out_.pattern += "[\t\n\f\r ]"; return {};
      case 'D': return negated("[^0-9]");
      case 'W': return negated("[^A-Za-z0-9_]");
      case 'S': return negated("[^\t\n\f\r ]");
      case 'b': out_.pattern += "\\b"; return {};
      case 'n': out_.pattern += '\n'; return {};
      case 't': out_.pattern += '\t'; return {};
      case 'r': out_.pattern += '\r'; return {};
      default: break;
    }
    if (!is_punctuation(c)) return unsupported("\\{} is not supported in patterns", c);
    out_.pattern += fmt::format("\\{}", c);
    return {};
  }

  Result<void> negated(std::string_view set) {
    out_.pattern += set;
    out_.ascii_only = true;
    return {};
  }

  // A bracket of POSIX has no escapes: ] stands first in it, - last, ^ not first.
  Result<void> bracket() {
    const bool negative = next_is('^');
    at_ += negative;
    std::string items;
    bool close = false, dash = false, caret = false, first = true;
    for (;; first = false) {
      if (at_ == text_.size()) return bad_input("a bracket in the pattern is not closed");
      char c = text_[at_++];
      if (c == ']' && !first) break;
      if (c == '[' && next_is(':')) {
        size_t end = text_.find(":]", at_);
        if (end == std::string_view::npos) return bad_input("a class in the pattern is not closed");
        items += fmt::format("[{}]", text_.substr(at_, end + 1 - at_));
        at_ = end + 2;
        continue;
      }
      if (static_cast<unsigned char>(c) >= 0x80) return unsupported("the pattern holds characters outside of ASCII");
      bool literal = false;
      if (c == '\\') {
        if (at_ == text_.size()) return bad_input("the pattern ends in a backslash");
        c = text_[at_++];
        literal = is_punctuation(c);
        if (c == 'w') items += "A-Za-z0-9_";
        else if (c == 'd') items += "0-9";
        else if (c == 's') items += "\t\n\f\r ";
        else if (c == 'n' || c == 't' || c == 'r') items += c == 'n' ? '\n' : c == 't' ? '\t' : '\r';
        else if (!literal) return unsupported("\\{} is not supported in brackets of patterns", c);
        if (!literal) continue;
      }
      const bool range = c == '-' && !literal && !items.empty() && !next_is(']');
      if (c == ']') close = true;
      else if (c == '^') caret = true;
      else if (c == '-' && !range) dash = true;
      else items += c;
    }
    if (negative) out_.ascii_only = true;
    if (caret && items.empty() && !close && !negative) {  // a caret alone: never first
      out_.pattern += dash ? "[-^]" : "\\^";
      return {};
    }
    out_.pattern +=
        fmt::format("[{}{}{}{}{}]", negative ? "^" : "", close ? "]" : "", items, caret ? "^" : "", dash ? "-" : "");
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  PosixRegex out_;
};

}  // namespace

Result<PosixRegex> to_posix_regex(std::string_view re2) { return Translation(re2).run(); }

}  // namespace tvc::ops
