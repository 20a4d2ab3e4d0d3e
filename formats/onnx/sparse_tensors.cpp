// SPDX-License-Identifier: Apache-2.0
// COO tensors made dense: indices are positions in the flattened tensor (rank 1) or coordinates (rank 2).
#include <cstring>

#include "formats/onnx/tensors.h"

namespace tvc::onnx_format {
namespace {

constexpr int64_t kMaxDenseBytes = int64_t{1} << 30;

Result<int64_t> position(std::span<const int64_t> index, const std::vector<int64_t>& dims, int64_t count) {
  if (index.size() == 1 && dims.size() != 1) {
    if (index[0] < 0 || index[0] >= count) return bad_input("index {} is out of range", index[0]);
    return index[0];
  }
  int64_t at = 0;
  for (size_t a = 0; a < dims.size(); ++a) {
    if (index[a] < 0 || index[a] >= dims[a]) return bad_input("index {} is out of range", index[a]);
    at = at * dims[a] + index[a];
  }
  return at;
}

Result<ir::Tensor> scatter(const ir::Tensor& values, const ir::Tensor& indices, const TensorLayout& layout) {
  const int64_t count = values.count(), width = ir::bit_width(values.dtype) / 8;
  const bool flat = indices.dims.size() == 1;
  const auto per_value = flat ? size_t{1} : layout.dims.size();
  const std::vector<int64_t> expected = flat ? std::vector{count} : std::vector{count, static_cast<int64_t>(per_value)};
  if (indices.dtype != ir::DType::kI64 || indices.dims != expected || values.dims.size() != 1)
    return bad_input("its indices have a wrong type or shape");
  std::span<std::byte> out;
  ir::Tensor dense = ir::make_tensor(layout.dtype, layout.dims, &out);
  for (int64_t k = 0; k < count; ++k) {
    auto index = indices.as<int64_t>().subspan(static_cast<size_t>(k) * per_value, per_value);
    TVC_TRY(int64_t at, position(index, layout.dims, layout.count));
    std::memcpy(out.data() + at * width, values.bytes.data() + k * width, static_cast<size_t>(width));
  }
  return dense;
}

}  // namespace

Result<ir::Tensor> TensorReader::sparse(const pb::SparseTensorProto& proto) {
  const std::string place = fmt::format("sparse tensor '{}'", proto.values().name());
  TVC_TRY(const auto values, dense(proto.values()));
  TVC_TRY(const auto indices, dense(proto.indices()));
  auto layout = read_layout(proto.values().data_type(), proto.dims());
  if (!layout.ok()) return std::move(layout).error().at(place);
  if (ir::bit_width(layout->dtype) < 8) return unsupported("elements below a byte, or strings").at(place);
  if (layout->bytes > kMaxDenseBytes) return unsupported("it has {} MB when made dense", layout->bytes >> 20).at(place);
  auto tensor = scatter(values, indices, *layout);
  if (!tensor.ok()) return std::move(tensor).error().at(place);
  return tensor;
}

}  // namespace tvc::onnx_format
