// SPDX-License-Identifier: Apache-2.0
// Values seen as arithmetic, so that an exporter's order of additions and products does not matter. Each look collects
// the nodes that it goes through: a value that is taken apart must have no reader outside of them (see replace.h).
#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "ir/ir.h"

namespace tvc::passes::recognise {

using Nodes = std::set<ir::NodeId>;

// The node that makes `value`, if it is an `op`.
const ir::Node* producer(const ir::Module& module, ir::ValueId value, std::string_view op);
// The one element of an f32 constant.
std::optional<double> scalar(const ir::Module& module, ir::ValueId value);
// Equal within the rounding of f32 constants.
bool is_near(double a, double b);

// c[0] + c[1] x + c[2] x^2 + c[3] x^3, without zeros at the end.
using Polynomial = std::vector<double>;
// `value` as a polynomial in x; nullopt: it is none, or of a degree above 3.
std::optional<Polynomial> polynomial(const ir::Module& module, ir::ValueId value, ir::ValueId x, Nodes& through);
bool is_near(const Polynomial& a, const Polynomial& b);

// A product: coefficient times the values in `factors`. Products inside are opened where nobody else reads them.
struct Product {
  double coefficient = 1;
  std::vector<ir::ValueId> factors;
};
Product product(const ir::Module& module, const ir::Uses& uses, ir::ValueId value, Nodes& through);

}  // namespace tvc::passes::recognise
