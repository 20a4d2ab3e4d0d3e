// SPDX-License-Identifier: Apache-2.0
// Every target row; best first within an architecture.
#pragma once

#include "codegen/target.h"

namespace tvc::codegen {

#define TVC_TARGET(symbol) extern const Target symbol;
#include "codegen/targets/list.inc"
#undef TVC_TARGET

}  // namespace tvc::codegen
