// SPDX-License-Identifier: Apache-2.0
// The free dimensions of a model's inputs.
#pragma once

#include <map>
#include <set>
#include <string>

#include "formats/onnx/import.h"
#include "formats/onnx/types.h"

namespace tvc::onnx_format {

// Gives each free dimension a symbol whose name is an identifier; the same text in the model is the same symbol.
// All inputs are declared before the type of any is asked for, for a size may be said at one and used at another.
class Symbols {
 public:
  Symbols(ir::Module& module, const ImportOptions& options) : module_(module), options_(options) {}
  Result<void> declare(const pb::ValueInfoProto& input);
  // The type of a declared input, its free sizes as symbols, after --shape and --dim.
  Result<ir::Type> input_type(const pb::ValueInfoProto& input);
  // bad_input where the options name an input or a dimension that there is not.
  Result<void> check_options() const;

 private:
  using Dimension = pb::TensorShapeProto::Dimension;
  Result<void> fix(const std::string& source, int64_t size);
  ir::Dim dimension(const Dimension& dim, const std::string& input, int axis);
  ir::Dim symbol(const std::string& source);
  std::optional<ir::Dim> formula(const std::string& text);
  std::string identifier_for(const std::string& source) const;

  ir::Module& module_;
  const ImportOptions& options_;
  std::set<std::string> inputs_, plain_;      // names of inputs; dimensions that are said alone
  std::map<std::string, int64_t> fixed_;      // by --shape
  std::map<std::string, ir::Dim> by_source_;  // what stands for a text of the model
  std::set<std::string> used_dims_;
};

}  // namespace tvc::onnx_format
