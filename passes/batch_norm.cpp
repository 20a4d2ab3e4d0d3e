// SPDX-License-Identifier: Apache-2.0
#include "passes/batch_norm.h"

#include <cmath>

namespace tvc::passes {

std::optional<Affine> affine_of(const ir::Module& module, const ir::Node& norm) {
  if (norm.i("training_mode", 0) != 0) return std::nullopt;
  std::vector<std::vector<double>> parameters;
  for (size_t k = 1; k <= 4; ++k) {
    const ir::Tensor* tensor = module.constant(norm.input(k));
    if (tensor == nullptr || !ir::is_float(tensor->dtype)) return std::nullopt;
    parameters.push_back(ir::to_f64(*tensor));
    if (parameters[k - 1].size() != parameters[0].size()) return std::nullopt;
  }
  const double epsilon = norm.f("epsilon", 1e-5);
  Affine out;
  for (size_t c = 0; c < parameters[0].size(); ++c) {
    const double factor = parameters[0][c] / std::sqrt(parameters[3][c] + epsilon);
    out.factor.push_back(factor);
    out.shift.push_back(parameters[1][c] - parameters[2][c] * factor);
  }
  return out;
}

}  // namespace tvc::passes
