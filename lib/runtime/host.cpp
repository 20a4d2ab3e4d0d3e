// SPDX-License-Identifier: Apache-2.0
// tvrt_host: what emitted code may ask of the runtime.
#include "runtime/context.h"
#include "runtime/planner.h"

namespace tvrt {
namespace {

tvrt_context& context_of(tvrt_frame* frame) { return *static_cast<tvrt_context*>(frame->context); }

void serial(tvrt_frame*, tvrt_kernel kernel, const void* args, int64_t tasks) {
  if (tasks > 0) kernel(args, 0, tasks, 0);
}

// A launch on the host's own threads.
struct Launch {
  tvrt_kernel kernel;
  const void* args;
  int64_t tasks;
  int32_t threads;
};

void run_share(void* argument, int32_t t) {
  const Launch& launch = *static_cast<const Launch*>(argument);
  int64_t begin = task_begin(launch.tasks, t, launch.threads), end = task_begin(launch.tasks, t + 1, launch.threads);
  if (begin < end) launch.kernel(launch.args, begin, end, t);
}

void parallel(tvrt_frame* frame, tvrt_kernel kernel, const void* args, int64_t tasks) {
  tvrt_context& context = context_of(frame);
  if (context.has_pool) return context.pool.run(kernel, args, tasks);
  if (tasks <= 1) return serial(frame, kernel, args, tasks);
  Launch launch = {kernel, args, tasks, tasks < frame->threads ? static_cast<int32_t>(tasks) : frame->threads};
  context.parallel(context.parallel_user, launch.threads, run_share, &launch);
}

void* acquire(tvrt_frame* frame, int64_t bytes) {
  tvrt_context& context = context_of(frame);
  void* block = context.blocks.acquire(context.allocator, bytes);
  if (!block) context.message.set(TVRT_OUT_OF_MEMORY, "no memory for %lld bytes", static_cast<long long>(bytes));
  return block;
}

void release(tvrt_frame* frame, void* block) { context_of(frame).blocks.release(block); }

int32_t fail(tvrt_frame* frame, int32_t status, const char* message) {
  return context_of(frame).message.set(status, "%s", message ? message : "");
}

const tvrt_host kSerialHost = {sizeof(tvrt_host), serial, acquire, release, plan, fail};
const tvrt_host kParallelHost = {sizeof(tvrt_host), parallel, acquire, release, plan, fail};

}  // namespace

const tvrt_host& host_services(bool parallel) { return parallel ? kParallelHost : kSerialHost; }

}  // namespace tvrt
