// SPDX-License-Identifier: Apache-2.0
// One running instance of a model.
#pragma once

#include "runtime/memory.h"
#include "runtime/message.h"
#include "runtime/metrics.h"
#include "runtime/model.h"
#include "runtime/pool.h"

namespace tvrt {

struct OutputBinding {
  void* data;
  int64_t bytes;
  bool sized;  // its sizes follow from the symbols; else each run finds them
};

}  // namespace tvrt

struct tvrt_context {
  tvrt_frame frame = {};
  tvrt_model* model = nullptr;
  tvrt::Allocator allocator = {};
  tvrt_parallel_for parallel = nullptr;
  void* parallel_user = nullptr;
  tvrt::Pool pool;
  bool has_pool = false;
  tvrt::BlockPool blocks;
  tvrt::GrowingBlock arena, states;
  // Tables of one allocation: the frame's inputs, outputs, offsets and symbols, and these.
  void* tables = nullptr;
  size_t table_bytes = 0;
  bool* bound = nullptr;                   // by input: given by the caller
  tvrt::OutputBinding* outputs = nullptr;  // by output
  int64_t* symbols = nullptr;              // behind frame.symbols
  int64_t* derived = nullptr;              // symbols as the bound inputs give them, before they are taken over
  bool stale = true;                       // an input's sizes changed since symbols were derived
  bool prepared = false;                   // prepare() was called for `symbols`
  bool has_run = false;
  tvrt::Durations durations;
  mutable tvrt::Message message;
};

namespace tvrt {

// host.cpp: the services for emitted code, with threads or without.
const tvrt_host& host_services(bool parallel);

// sizes.cpp: brings symbols, offsets and arena up to date with the bound inputs.
int32_t settle(tvrt_context& context);
int32_t prepare(tvrt_context& context, const int64_t* symbols);

}  // namespace tvrt
