// SPDX-License-Identifier: Apache-2.0
// x86-64 with AVX-512 F, BW, DQ, VL (Skylake-SP, Zen 4 and newer).
#include "codegen/targets/list.h"

namespace tvc::codegen {

const Target kAvx512 = {.name = "avx512",
                        .description = "x86-64 with AVX-512 F, BW, DQ and VL",
                        .isa_header = "isa/avx512.h",
                        .lanes = 16,
                        .vector_registers = 32,
                        .fma = true,
                        .l1_bytes = 48 << 10,
                        .l2_bytes = 2 << 20,
                        .features = {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx2", "fma", "f16c"},
                        .compiler_flags = {"-march=skylake-avx512", "-mprefer-vector-width=512"}};

}  // namespace tvc::codegen
