// SPDX-License-Identifier: Apache-2.0
// What BatchNormalization computes in inference: y = factor * x + shift for each channel.
#pragma once

#include <optional>
#include <vector>

#include "ir/ir.h"

namespace tvc::passes {

struct Affine {
  std::vector<double> factor, shift;  // y = factor * x + shift, one a channel
};

// nullopt where a parameter is no constant, or the node is in training.
std::optional<Affine> affine_of(const ir::Module& module, const ir::Node& norm);

}  // namespace tvc::passes
