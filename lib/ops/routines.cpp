// SPDX-License-Identifier: Apache-2.0
#include "ops/routines.h"

#include <cstdlib>
#include <cstring>
#include <map>

#include "runtime/abi.h"

extern "C" {
#define TVRT_ROUTINE(symbol) \
  int32_t symbol(tvrt_frame*, const tvrt_value* const*, int32_t, tvrt_value* const*, int32_t, const tvrt_attrs*);
#include "runtime/ops/list.inc"
#undef TVRT_ROUTINE
}

namespace tvc::ops {
namespace {

tvrt_routine find_routine(const std::string& symbol) {
  static const std::map<std::string, tvrt_routine> table = {
#define TVRT_ROUTINE(symbol) {#symbol, symbol},
#include "runtime/ops/list.inc"
#undef TVRT_ROUTINE
  };
  auto it = table.find(symbol);
  return it == table.end() ? nullptr : it->second;
}

// The blocks and the message of one call.
struct CallState {
  std::vector<void*> blocks;
  std::string message;
  ~CallState() {
    for (void* block : blocks) std::free(block);
  }
};

void* acquire(tvrt_frame* frame, int64_t bytes) {
  if (bytes < 0) return nullptr;
  void* block = std::aligned_alloc(64, (static_cast<size_t>(bytes) + 64) / 64 * 64);
  if (block != nullptr) static_cast<CallState*>(frame->context)->blocks.push_back(block);
  return block;
}
void release(tvrt_frame*, void*) {}
int32_t fail(tvrt_frame* frame, int32_t status, const char* message) {
  static_cast<CallState*>(frame->context)->message = message;
  return status;
}
void parallel(tvrt_frame*, tvrt_kernel kernel, const void* args, int64_t tasks) { kernel(args, 0, tasks, 0); }

tvrt_value value_of(const ir::Tensor& tensor) {
  tvrt_value value{};
  value.dtype = static_cast<int32_t>(tensor.dtype);
  value.rank = static_cast<int32_t>(tensor.dims.size());
  std::copy(tensor.dims.begin(), tensor.dims.end(), value.dims);
  value.data = const_cast<std::byte*>(tensor.bytes.data());
  value.bytes = static_cast<int64_t>(tensor.bytes.size());
  return value;
}

Result<ir::Tensor> tensor_of(const tvrt_value& value) {
  if (value.kind != TVRT_KIND_TENSOR || value.dtype == TVRT_STRING)
    return unsupported("the result is no tensor of numbers");
  std::span<std::byte> bytes;
  ir::Tensor tensor = ir::make_tensor(static_cast<DType>(value.dtype), {value.dims, value.dims + value.rank}, &bytes);
  if (!bytes.empty()) std::memcpy(bytes.data(), value.data, bytes.size());
  return tensor;
}

}  // namespace

Result<std::vector<ir::Tensor>> call_routine(const RoutineCall& call, const std::vector<const ir::Tensor*>& inputs,
                                             size_t output_count) {
  tvrt_routine routine = find_routine(call.symbol);
  if (routine == nullptr) return unsupported("{} is not computed now", call.symbol);
  std::vector<tvrt_value> in(inputs.size()), out(output_count);
  std::vector<const tvrt_value*> in_pointers(inputs.size());
  std::vector<tvrt_value*> out_pointers;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k] == nullptr) continue;
    if (inputs[k]->dims.size() > TVRT_MAX_RANK || inputs[k]->dtype == DType::kString)
      return unsupported("an operand is no tensor of numbers of rank up to {}", TVRT_MAX_RANK);
    in[k] = value_of(*inputs[k]);
    in_pointers[k] = &in[k];
  }
  for (auto& value : out) out_pointers.push_back(&value);
  std::vector<tvrt_string> strings;
  for (const auto& s : call.strings) strings.push_back({s.data(), static_cast<int64_t>(s.size())});
  const tvrt_attrs attrs{call.ints.data(),
                         call.floats.data(),
                         strings.data(),
                         static_cast<int32_t>(call.ints.size()),
                         static_cast<int32_t>(call.floats.size()),
                         static_cast<int32_t>(strings.size())};
  const tvrt_host host{sizeof(tvrt_host), parallel, acquire, release, nullptr, fail};
  CallState state;
  tvrt_frame frame{};
  frame.host = &host;
  frame.context = &state;
  frame.threads = 1;
  int32_t status = routine(&frame, in_pointers.data(), static_cast<int32_t>(inputs.size()), out_pointers.data(),
                           static_cast<int32_t>(output_count), &attrs);
  if (status != TVRT_OK) return bad_input("{}", state.message.empty() ? "the routine failed" : state.message);
  std::vector<ir::Tensor> tensors;
  for (const auto& value : out) {
    TVC_TRY(auto tensor, tensor_of(value));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace tvc::ops
