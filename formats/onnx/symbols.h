// SPDX-License-Identifier: Apache-2.0
// The free dimensions of a model's inputs.
#pragma once

#include <set>

#include "formats/onnx/import.h"
#include "formats/onnx/protos.h"

namespace tvc::onnx_format {

// Gives each free dimension a symbol whose name is an identifier; the same text in the model is the same symbol.
class Symbols {
 public:
  Symbols(ir::Module& module, const ImportOptions& options) : module_(module), options_(options) {}
  // The type of a value, a model input's free sizes as symbols, after --shape and --dim.
  Result<ir::Type> input_type(const pb::ValueInfoProto& value);
  // Names in the options that no input and no dimension has.
  Result<void> check_all_used() const;

 private:
  ir::Dim symbol(const std::string& source);
  ir::Dim dimension(const pb::TensorShapeProto::Dimension& dim, const std::string& input, int axis);
  std::string identifier_for(const std::string& source) const;

  ir::Module& module_;
  const ImportOptions& options_;
  std::map<std::string, ir::Dim> by_source_;
  std::set<std::string> used_shapes_, used_dims_, inputs_;
};

// Kinds and element type; the shape where it is said. Dimensions without a value are left as size 0 by `free_dim`.
Result<ir::Type> read_type(const pb::TypeProto& type, const std::function<ir::Dim(const pb::TensorShapeProto::Dimension&, int)>& dimension);

}  // namespace tvc::onnx_format
