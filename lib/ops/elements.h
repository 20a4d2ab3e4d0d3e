// SPDX-License-Identifier: Apache-2.0
// Known elements: the elements of small tensors as Dims, before or while the program runs.
#pragma once

#include <optional>
#include <vector>

#include "ir/ir.h"

namespace tvc::ops {

inline constexpr int64_t kMaxKnown = 64;

// Elements of a constant or of a value with known elements. Float constants count where every element is a whole
// number.
std::optional<std::vector<ir::Dim>> elements_of(const ir::Module& module, ir::ValueId value);
// Number of elements where every dimension is a number.
std::optional<int64_t> static_count(const ir::Type& type);

// Fills `known` of the node's outputs: through a view, by evaluating the node's expressions over Dims, or, for a list
// of integers that only the run knows, with one symbol an element.
void derive_known(ir::Module& module, ir::NodeId node);
// The symbols e<value>_<k> for a small list of integers without known elements.
void name_elements(ir::Module& module, ir::ValueId value);

}  // namespace tvc::ops
