// SPDX-License-Identifier: Apache-2.0
// One node in the place of several.
#pragma once

#include "passes/recognise/algebra.h"

namespace tvc::passes::recognise {

// Whether nothing outside of `nodes` reads what they make, but for the last one's result; all are in its graph.
bool is_closed(const ir::Module& module, const ir::Uses& uses, const Nodes& nodes, ir::NodeId last);

// Puts the node before `last`, moves the readers of last's result to the node's, and removes those of `nodes` that
// nobody reads any more. The new node's inputs must be made before `last`.
ir::NodeId replace(ir::Module& module, const Nodes& nodes, ir::NodeId last, ir::NodeSpec spec);

}  // namespace tvc::passes::recognise
