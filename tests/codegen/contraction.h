// SPDX-License-Identifier: Apache-2.0
// One node of a kernel family: its emitted code against its interpreted expression.
#pragma once

#include <doctest/doctest.h>

#include <cmath>

#include "codegen/run_program.h"
#include "ops/op_def.h"

namespace tvc::tests {

using Dims = std::vector<int64_t>;
using Attrs = std::map<std::string, ir::Attr, std::less<>>;

inline ir::Tensor ramp(Dims dims, uint32_t seed) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  std::vector<float> values(static_cast<size_t>(count));
  uint32_t state = seed * 2654435761u + 1;
  for (float& v : values) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(static_cast<int32_t>(state >> 8) % 2001 - 1000) / 1000.0f;
  }
  return ir::make_f32(std::move(dims), values);
}

// Element-wise operators on the result: {"Relu"}, or {"Add", dims of a further operand}.
struct Step {
  std::string op;
  std::optional<Dims> operand = {};
  bool constant = false;
};

struct NodeCase {
  std::string op;
  std::vector<Dims> operands;
  std::vector<bool> constant;  // by operand
  Attrs attrs = {};
  std::vector<Step> epilogue = {};
  std::string_view family = "contraction";  // that is to take the node
};

struct Built {
  ir::Module module;
  ir::NodeId node = ir::kNone;
  std::vector<ir::Tensor> inputs;
  std::vector<ir::Tensor> operands;  // of the node, in order
};

inline ir::ValueId add_operand(Built& b, const Dims& dims, bool constant) {
  ir::Tensor tensor = ramp(dims, static_cast<uint32_t>(b.operands.size()) + 1);
  b.operands.push_back(tensor);
  std::string name = "x" + std::to_string(b.operands.size());
  if (constant) return ir::add_constant(b.module, name, tensor);
  ir::Type type{ir::Kind::kTensor, ir::DType::kF32, {dims.begin(), dims.end()}, {}};
  ir::ValueId id = ir::add_value(b.module, name, type, 0);
  b.module.main().inputs.push_back(id);
  b.inputs.push_back(tensor);
  return id;
}

inline void add_epilogue(Built& b, const std::vector<Step>& steps) {
  auto graph = static_cast<ir::GraphId>(b.module.graphs.size());
  b.module.graphs.emplace_back();
  while (b.module.node(b.node).inputs.size() < 3) {  // no bias
    b.module.node(b.node).inputs.push_back(ir::kNone);
    b.operands.emplace_back();
  }
  const auto first = static_cast<int64_t>(b.module.node(b.node).inputs.size());
  ir::Type type = b.module.value(b.module.node(b.node).outputs[0]).type;
  ir::ValueId at = ir::add_value(b.module, "acc", type, graph);
  b.module.graphs[graph].inputs.push_back(at);
  for (const Step& step : steps) {
    std::vector<ir::ValueId> inputs = {at};
    if (step.operand) {
      ir::ValueId outer = add_operand(b, *step.operand, step.constant);
      b.module.node(b.node).inputs.push_back(outer);
      inputs.push_back(ir::add_value(b.module, "e", b.module.value(outer).type, graph));
      b.module.graphs[graph].inputs.push_back(inputs[1]);
    }
    at = b.module.node(ir::add_node(b.module, graph, {step.op, inputs})).outputs[0];
  }
  b.module.graphs[graph].outputs = {at};
  b.module.node(b.node).attrs["epilogue"] = graph;
  b.module.node(b.node).attrs["epilogue_inputs"] = first;
}

inline Built build(const NodeCase& c) {
  Built b;
  std::vector<ir::ValueId> inputs;
  for (size_t k = 0; k < c.operands.size(); ++k) inputs.push_back(add_operand(b, c.operands[k], c.constant[k]));
  b.node = ir::add_node(b.module, 0, {c.op, inputs, c.attrs});
  auto status = ops::infer_types(b.module);
  REQUIRE_MESSAGE(status.ok(), status.error().text());
  if (!c.epilogue.empty()) {
    add_epilogue(b, c.epilogue);
    status = ops::infer_types(b.module);
    REQUIRE_MESSAGE(status.ok(), status.error().text());
  }
  ir::ValueId y = b.module.node(b.node).outputs[0];
  b.module.value(y).name = "y";
  b.module.main().outputs = {y};
  return b;
}

inline void check_close(const ir::Tensor& got, const ir::Tensor& want, double scale) {
  REQUIRE(got.dims == want.dims);
  auto a = got.as<float>(), b = want.as<float>();
  double worst = 0;
  for (size_t k = 0; k < a.size(); ++k)
    if (!(std::abs(a[k] - b[k]) <= worst)) worst = std::abs(a[k] - b[k]);
  CHECK_MESSAGE(worst <= scale, "largest difference ", worst);
}

// Emits, runs and compares for every target of this machine, with one thread and with three.
inline void check_node(const NodeCase& c, double tolerance = 2e-5) {
  Built b = build(c);
  std::vector<const ir::Tensor*> operands;
  for (const auto& t : b.operands) operands.push_back(t.dtype == ir::DType::kUndefined ? nullptr : &t);
  auto want = ops::evaluate(b.module, b.node, operands);
  REQUIRE_MESSAGE(want.ok(), want.error().text());
  for (const codegen::Target* target : runnable_targets()) {
    CAPTURE(target->name);
    const codegen::Family* family = codegen::family_of(b.module, b.node, *target);
    REQUIRE(family != nullptr);
    CHECK(family->name == c.family);
    auto program = LoadedProgram::build(b.module, *target);
    REQUIRE_MESSAGE(program.ok(), program.error().text());
    auto one = (*program)->run(b.inputs);
    REQUIRE_MESSAGE(one.ok(), one.error().text());
    check_close((*one)[0], (*want)[0], tolerance);
    auto three = (*program)->run(b.inputs, {}, 3);
    REQUIRE(three.ok());
    CHECK(std::memcmp((*one)[0].bytes.data(), (*three)[0].bytes.data(), (*one)[0].bytes.size()) == 0);
  }
}

}  // namespace tvc::tests
