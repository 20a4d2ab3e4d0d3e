// SPDX-License-Identifier: Apache-2.0
// A code section as a loaded shared object.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/abi.h"
#include "runtime/message.h"

namespace tvrt {

struct LoadedCode {
  void* library = nullptr;
  int fd = -1;

  int32_t load(const uint8_t* bytes, size_t size, const tvrt_program** program, Message& message);
  void unload();
};

}  // namespace tvrt
