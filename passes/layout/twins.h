// SPDX-License-Identifier: Apache-2.0
// Twins: for a planar value [N, C, H, W] (or [N, C, L], taken as H = 1) the same tensor in the blocked layout
// [N, ceil(C / 16), H, W, 16], made once and shared by all its readers in the graph.
#pragma once

#include <unordered_map>
#include <vector>

#include "ops/op_def.h"

namespace tvc::passes::layout {

inline constexpr int64_t kBlock = 16;

class Twins {
 public:
  explicit Twins(ir::Module& module) : module_(module) {}

  // The blocked twin, if there is one.
  ir::ValueId find(ir::ValueId planar) const;
  // The blocked twin, made before node `at` if there is none: a copy, or a new constant.
  Result<ir::ValueId> get(ir::ValueId planar, ir::NodeId at);
  // Replaces the readers of `node`'s output k by a planar copy of `blocked`; the copy goes if nobody needs it.
  Result<void> replace(ir::NodeId node, size_t k, ir::ValueId blocked);
  // An operand of an element-wise node in blocked form: a twin, a scalar as it is, one plane for all channels, or a
  // constant laid out anew, its padding filled with `padding`. kNone: has no such form.
  Result<ir::ValueId> operand(ir::ValueId planar, ir::NodeId at, double padding);

  ir::Module& module() { return module_; }

 private:
  Result<ir::ValueId> constant(const ir::Tensor& tensor, double padding, ir::GraphId graph);
  ir::Module& module_;
  std::unordered_map<ir::ValueId, ir::ValueId> twin_;
};

// Rank 3 or 4, f32, a number of channels known at compile time.
bool has_planar_form(const ir::Type& type);
int64_t channels_of(const ir::Type& type);
inline bool is_aligned(const ir::Type& type) { return channels_of(type) % kBlock == 0; }

}  // namespace tvc::passes::layout
