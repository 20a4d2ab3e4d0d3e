// SPDX-License-Identifier: Apache-2.0
// The importer's steps over onnx's own messages.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "support/diagnostics.h"
#include "support/result.h"

namespace tvc::onnx_format {

namespace pb = ONNX_NAMESPACE;

inline constexpr int kMaxGraphDepth = 32;
inline constexpr int kMaxRank = 8;  // of inputs and constants: what the run time takes

// -- read.cpp: the parsed message, domain "ai.onnx" written as "", versions within what is known.
Result<std::shared_ptr<pb::ModelProto>> read_proto(const std::filesystem::path& path);
int opset_of(const pb::ModelProto& model, std::string_view domain);  // 0: not imported
int newest_opset();
Result<void> check_depth(const pb::ModelProto& model);

// -- check.cpp: onnx's rules; a refusal names node, operator and reason.
Result<void> check_model(pb::ModelProto& model, const std::filesystem::path& folder);
// A node as the newest opset has it: what it reads and says is there. Function bodies may leave that open.
Result<void> check_newest_form(const pb::NodeProto& node);

// -- functions.cpp: calls of the model's own functions become their bodies. Those of another opset than the model's
// wait for the second call, when the model is in the newest form.
Result<void> inline_functions(pb::ModelProto& model, bool same_opset_only);

// -- expand.cpp: nodes without a definition of ours become their schema's function body, until none is left that can.
Result<void> expand_operators(pb::ModelProto& model);

// -- upgrade/upgrade_model.cpp: every node of the model, bodies too, as in the newest opset.
Result<void> upgrade_model(pb::ModelProto& model);

// -- names.cpp
std::string operator_name(const pb::NodeProto& node);     // "Conv", "com.microsoft.X"
const std::string& node_name(const pb::NodeProto& node);  // its first output's where it has none
std::string node_place(const pb::NodeProto& node);        // for messages

}  // namespace tvc::onnx_format
