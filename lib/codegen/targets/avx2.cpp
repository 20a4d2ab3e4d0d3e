// SPDX-License-Identifier: Apache-2.0
// x86-64 with AVX2, FMA and F16C (Haswell, Zen and newer); no VNNI.
#include "codegen/targets/list.h"

namespace tvc::codegen {

const Target kAvx2 = {.name = "avx2",
                      .description = "x86-64 with AVX2 and FMA",
                      .isa_header = "isa/avx2.h",
                      .lanes = 8,
                      .vector_registers = 16,
                      .fma = true,
                      .l1_bytes = 32 << 10,
                      .l2_bytes = 1 << 20,
                      .features = {"avx2", "fma", "f16c"},
                      .compiler_flags = {"-march=haswell", "-mtune=skylake"}};

}  // namespace tvc::codegen
