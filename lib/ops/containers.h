// SPDX-License-Identifier: Apache-2.0
// Types of sequences and optionals, and of what they hold.
#pragma once

#include "ops/op_def.h"

namespace tvc::ops {

// The type of what a sequence or optional holds. Sizes that differ from item to item stay "_".
ir::Type content_of(const ir::Type& container);
// The type of a container of such values. Sizes that are no numbers become "_", for they may differ.
ir::Type container_of(ir::Kind kind, const ir::Type& content);
// The type that holds whatever is of either; an optional takes in the sequence that it may hold. Tensors need the same
// rank: a size that differs is taken from `size`.
Result<ir::Type> join_types(const ir::Type& a, const ir::Type& b, const std::function<Dim(size_t axis)>& size);
// The shape of an item, with sizes of the output's own where they may differ; unsupported where the rank is not known.
Result<Shape> item_shape(const InferContext& c, const ir::Type& container, size_t output);

}  // namespace tvc::ops
