// SPDX-License-Identifier: Apache-2.0
// TensorProto in all its forms as ir::Tensor: raw bytes, typed fields, external data, sparse.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "formats/onnx/protos.h"
#include "ir/ir.h"

namespace tvc::onnx_format {

// Files beside the model that hold tensors, mapped once each. A path may not lead out of the model's folder.
class ExternalData {
 public:
  explicit ExternalData(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // The bytes that the tensor names; `owner` keeps them mapped.
  Result<std::span<const std::byte>> bytes(const pb::TensorProto& tensor, std::shared_ptr<const void>& owner);

 private:
  struct File {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
  Result<const File*> open(const std::string& location);

  std::filesystem::path folder_;
  std::map<std::string, File> files_;
};

// Known element type, rank and dimensions, whose bytes can be counted.
struct TensorLayout {
  ir::DType dtype;
  std::vector<int64_t> dims;
  int64_t count, bytes;  // bytes: 0 for strings
};
Result<TensorLayout> read_layout(int data_type, const google::protobuf::RepeatedField<int64_t>& dims);

// Reads tensors of one model. A tensor is a view where message or file hold the bytes as they are, else a copy.
class TensorReader {
 public:
  TensorReader(std::shared_ptr<const void> owner, std::filesystem::path folder)
      : owner_(std::move(owner)), external_(std::move(folder)) {}
  Result<ir::Tensor> dense(const pb::TensorProto& proto);
  Result<ir::Tensor> sparse(const pb::SparseTensorProto& proto);  // made dense

 private:
  Result<ir::Tensor> read(const pb::TensorProto& proto);
  std::shared_ptr<const void> owner_;  // of the message
  ExternalData external_;
};

}  // namespace tvc::onnx_format
