// SPDX-License-Identifier: Apache-2.0
// A call of a function becomes the nodes of its body.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/onnx/names.h"
#include "formats/onnx/protos.h"

namespace tvc::onnx_format {

// The nodes of `body` with the call's values and attributes in place of the formal ones, inner values under fresh
// names.
std::vector<pb::NodeProto> inline_body(const pb::FunctionProto& body, const pb::NodeProto& call, Names& names);

}  // namespace tvc::onnx_format
