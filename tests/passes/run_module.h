// SPDX-License-Identifier: Apache-2.0
// A whole module through the interpreter, node by node: the same numbers before and after a pass.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <random>

#include "ir/ir.h"
#include "ops/op_def.h"
#include "passes/pass.h"

namespace tvc {

inline ir::Module parsed_module(std::string_view text) {
  auto module = ir::parse(text);
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  auto typed = ops::infer_types(*module);
  REQUIRE_MESSAGE(typed.ok(), typed.error().text());
  return std::move(*module);
}

inline int run_pass(passes::PassFn pass, ir::Module& module) {
  CollectedDiagnostics diagnostics;
  passes::PassContext context{.diagnostics = diagnostics};
  auto changes = pass(module, context);
  REQUIRE_MESSAGE(changes.ok(), changes.error().text());
  auto sound = ir::verify(module);
  REQUIRE_MESSAGE(sound.ok(), sound.error().text());
  auto typed = ops::infer_types(module);
  REQUIRE_MESSAGE(typed.ok(), typed.error().text());
  return *changes;
}

// The outputs for seeded inputs in [-1, 1); sizes must be numbers.
inline std::vector<std::vector<double>> run_module(const ir::Module& module) {
  std::map<ir::ValueId, ir::Tensor> values;
  std::mt19937 generator(7);
  for (ir::ValueId id : module.main().inputs) {
    const ir::Type& type = module.value(id).type;
    std::vector<int64_t> dims;
    int64_t count = 1;
    for (const ir::Dim& d : type.shape) dims.push_back(d.constant()), count *= d.constant();
    std::vector<double> numbers;
    for (int64_t k = 0; k < count; ++k) numbers.push_back(static_cast<double>(generator()) / 2147483648.0 - 1.0);
    values[id] = ir::from_f64(type.dtype, std::move(dims), numbers);
  }
  auto tensor = [&](ir::ValueId id) -> const ir::Tensor* {
    if (id == ir::kNone) return nullptr;
    return module.value(id).constant ? module.value(id).constant.get() : &values.at(id);
  };
  for (ir::NodeId id : module.main().nodes) {
    std::vector<const ir::Tensor*> inputs;
    for (ir::ValueId input : module.node(id).inputs) inputs.push_back(tensor(input));
    auto outputs = ops::evaluate(module, id, inputs);
    REQUIRE_MESSAGE(outputs.ok(), outputs.error().text());
    for (size_t k = 0; k < outputs->size(); ++k)
      if (module.node(id).output(k) != ir::kNone) values[module.node(id).output(k)] = (*outputs)[k];
  }
  std::vector<std::vector<double>> out;
  for (ir::ValueId id : module.main().outputs) out.push_back(ir::to_f64(*tensor(id)));
  return out;
}

inline void check_close(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    REQUIRE(a[k].size() == b[k].size());
    for (size_t i = 0; i < a[k].size(); ++i)
      worst = std::max(worst, std::fabs(a[k][i] - b[k][i]) / (1 + std::fabs(a[k][i])));
  }
  CHECK(worst < 2e-5);
}

// The pass makes `changes` changes and leaves the numbers as they are; the module afterwards.
inline ir::Module check_pass(passes::PassFn pass, std::string_view text, int changes) {
  ir::Module module = parsed_module(text);
  auto before = run_module(module);
  CHECK(run_pass(pass, module) == changes);
  INFO(ir::print(module));
  check_close(before, run_module(module));
  return module;
}

inline int count_nodes(const ir::Module& module, std::string_view op) {
  int n = 0;
  for (const auto& node : module.nodes) n += node.op == op;
  return n;
}

}  // namespace tvc
