// SPDX-License-Identifier: Apache-2.0
#include "codegen/window/window_text.h"

namespace tvc::codegen {

std::string operand_fields(const Epilogue& epilogue) {
  std::string out;
  for (size_t k = 0; k < epilogue.kinds.size(); ++k) out += fmt::format("  const float* p{};\n", k);
  return out;
}

void add_operands(Lowering& lowering, const Epilogue& epilogue, std::vector<Arg>& args) {
  for (size_t k = 0; k < epilogue.values.size(); ++k)
    args.push_back({"", fmt::format("p{}", k), lowering.in(epilogue.values[k])});
}

std::string store_text(const Epilogue& epilogue, const std::string& value, const std::string& place,
                       const std::string& indent) {
  if (epilogue.empty()) return fmt::format("{}tv_store({}, {});\n", indent, place, value);
  std::string out = fmt::format("{}{{ float* const to = {}; tv_f32 acc = {};", indent, place, value);
  for (size_t k = 0; k < epilogue.kinds.size(); ++k) {
    std::string load;
    switch (epilogue.kinds[k]) {
      case EpilogueOperand::kFull: load = fmt::format("tv_load(a->p{} + (to - a->y))", k); break;
      case EpilogueOperand::kPerChannel: load = fmt::format("tv_load(a->p{} + block * 16 + c)", k); break;
      case EpilogueOperand::kScalar: load = fmt::format("tv_set1(*a->p{})", k); break;
    }
    out += fmt::format(" const tv_f32 e{} = {};", k, load);
  }
  return out + fmt::format(" {} tv_store(to, acc); }}\n", epilogue.code);
}

}  // namespace tvc::codegen
