// SPDX-License-Identifier: Apache-2.0
// C text of scalar expressions.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "codegen/loops/nest.h"

namespace tvc::codegen::loops {

// Spells the pieces of an expression. Sizes become kernel arguments, numbered in order of first use, so that kernels
// that differ in symbol names only have the same text.
class ScalarText {
 public:
  ScalarText(const Nest& nest, const std::vector<ir::Shape>& shapes, const std::vector<ir::DType>& dtypes,
             const std::vector<std::string>& literals)
      : nest_(nest), shapes_(shapes), dtypes_(dtypes), literals_(literals) {}

  std::string expr(const te::Expr& e);
  std::string size(const ir::Dim& dim);
  std::string position(const Linear& linear);
  static std::string variable(int ordinal) { return "i" + std::to_string(ordinal); }
  // A store of `value` as element `position` of y.
  std::string store(ir::DType dtype, const std::string& position, const std::string& value) const;
  void name_variable(int var);
  // From now on this node is spelled as a local that holds its value.
  void bind(const te::ExprNode* node, std::string local) { bound_[node] = std::move(local); }
  size_t bound_count() const { return bound_.size(); }
  const std::vector<ir::Dim>& sizes() const { return sizes_; }

 private:
  std::string read(const te::Expr& e);
  std::string load(int operand, const std::string& position) const;
  std::string cast(const te::Expr& e);
  std::string reduce(const te::Expr& e);
  std::string call(const te::Expr& e);
  std::string var(int id);

  const Nest& nest_;
  const std::vector<ir::Shape>& shapes_;
  const std::vector<ir::DType>& dtypes_;
  const std::vector<std::string>& literals_;  // "" or the operand's only element as C text
  std::vector<ir::Dim> sizes_;
  std::map<std::string, size_t> size_index_;
  std::map<int, int> variables_;
  std::map<const te::ExprNode*, std::string> bound_;
};

std::string scalar_type(ir::DType compute);  // "float", "int64_t", "uint8_t" for bool
std::string literal_text(ir::DType compute, double number, int64_t integer);

}  // namespace tvc::codegen::loops
