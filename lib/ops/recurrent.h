// SPDX-License-Identifier: Apache-2.0
// The body of a loop over time, for recurrent operators.
#pragma once

#include "ops/op_def.h"

namespace tvc::ops {

struct StepResult {
  ir::ValueId hidden, cell;
};

// Builds (iteration, condition, states...) -> (condition, next states..., hidden) node by node.
class StepBuilder {
 public:
  // shares: [T, B, gates]; the states' types are those of `initial`; first_activation: index into the node's lists.
  StepBuilder(DecomposeContext& context, ir::ValueId shares, const std::vector<ir::ValueId>& initial,
              size_t first_activation);

  ir::ValueId add(std::string op, std::vector<ir::ValueId> inputs,
                  std::map<std::string, ir::Attr, std::less<>> attrs = {});
  std::vector<ir::ValueId> add_multi(std::string op, std::vector<ir::ValueId> inputs,
                                     std::map<std::string, ir::Attr, std::less<>> attrs, size_t outputs);
  ir::ValueId input() const { return input_; }  // this step's share, [B, gates]
  ir::ValueId state(size_t k) const { return states_[k]; }
  ir::ValueId number(double value);                                                  // a scalar of the operands' type
  std::vector<ir::ValueId> split(ir::ValueId x, const std::vector<int64_t>& sizes);  // along the last of two axes
  ir::ValueId clipped(ir::ValueId x);                                                // attribute clip
  // The k-th activation of this direction, or the default.
  Result<ir::ValueId> activation(size_t k, ir::ValueId x, std::string_view otherwise);
  // Ends the body. With lengths [B], a sequence that has ended keeps its states and gives zeros.
  ir::GraphId finish(std::vector<ir::ValueId> next, ir::ValueId lengths);

 private:
  ir::Module& module() { return context_.mutable_module(); }
  DecomposeContext& context_;
  ir::GraphId graph_;
  ir::ValueId iteration_, condition_, input_;
  std::vector<ir::ValueId> states_;
  size_t first_activation_;
};

}  // namespace tvc::ops
