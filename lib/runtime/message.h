// SPDX-License-Identifier: Apache-2.0
// A message of bounded length: nothing is allocated to report a failure.
#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

namespace tvrt {

struct Message {
  char text[512] = "";

  // Keeps the text and gives the status back.
  __attribute__((format(printf, 3, 4))) int32_t set(int32_t status, const char* format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return status;
  }
};

}  // namespace tvrt
