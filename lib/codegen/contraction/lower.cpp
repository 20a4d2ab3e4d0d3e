// SPDX-License-Identifier: Apache-2.0
// The contraction family: convolutions and products of matrices in f32, as tiles that live in registers.
#include "codegen/contraction/conv.h"
#include "codegen/contraction/gemm.h"

namespace tvc::codegen {
namespace {

bool claims(const ir::Module& module, ir::NodeId id, const Target& target) {
  return contraction::claims_conv(module, id, target) || contraction::claims_conv_transpose(module, id, target) ||
         contraction::claims_gemm(module, id, target);
}

Result<void> lower(Lowering& lowering, ir::NodeId id) {
  const std::string& op = lowering.module().node(id).op;
  if (op == "tvc.ConvBlocked") return contraction::lower_conv(lowering, id);
  if (op == "tvc.ConvTransposeBlocked") return contraction::lower_conv_transpose(lowering, id);
  return contraction::lower_gemm(lowering, id);
}

}  // namespace

extern const Family kContractionFamily;
const Family kContractionFamily = {.name = "contraction", .claims = claims, .lower = lower, .epilogue = true};

}  // namespace tvc::codegen
