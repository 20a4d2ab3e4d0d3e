// SPDX-License-Identifier: Apache-2.0
// Every operator's samples as one program: the emitted code of each target against the interpreter.
#include <doctest/doctest.h>

#include <cmath>

#include "codegen/run_program.h"
#include "ops/op_def.h"
#include "ops/sample.h"
#include "passes/pass.h"

using namespace tvc;
using namespace tvc::tests;

namespace {

struct Case {
  const ops::OpDef* def;
  std::string_view text;
  ir::Tensor want;
};

struct Program {
  ir::Module module;
  std::vector<ir::Tensor> inputs;
  std::vector<Case> cases;  // one output each
};

// Operands with given values, and those that a definition asks to be constant, are constants; the others inputs.
void add_case(Program& p, const ops::OpDef& def, std::string_view text) {
  auto sample = read_sample(text, Seeded(11, -0.9, 0.9));
  REQUIRE_MESSAGE(sample.ok(), sample.error().text());
  ir::Module& m = p.module;
  ir::NodeId id = add_sample(m, std::string(def.name), *sample, 1, [&](const ir::Tensor& tensor) {
    if (tensor.dims.size() <= 1 && tensor.dtype == ir::DType::kI64) return ir::add_constant(m, "", tensor);
    ir::Type type;
    type.dtype = tensor.dtype;
    type.shape.assign(tensor.dims.begin(), tensor.dims.end());
    ir::ValueId value = ir::add_value(m, fmt::format("x{}", p.inputs.size()), type, 0);
    m.main().inputs.push_back(value);
    p.inputs.push_back(tensor);
    return value;
  });
  std::vector<const ir::Tensor*> operands;
  for (const auto& tensor : sample->operands) operands.push_back(tensor ? &*tensor : nullptr);
  auto want = ops::evaluate(m, id, operands);
  REQUIRE_MESSAGE(want.ok(), want.error().text());
  ir::ValueId y = m.node(id).outputs[0];
  m.value(y).name = fmt::format("y{}", p.cases.size());
  m.main().outputs.push_back(y);
  p.cases.push_back({&def, text, want->at(0)});
}

// Integers to the last bit; f32 by the definition's tolerance, narrower floats by theirs: one unit in the last place.
void compare(const Case& c, const ir::Tensor& got) {
  CAPTURE(c.def->name);
  CAPTURE(c.text);
  REQUIRE(got.dtype == c.want.dtype);
  REQUIRE(got.dims == c.want.dims);
  const double unit = got.dtype == ir::DType::kF16 ? 1e-3 : got.dtype == ir::DType::kBF16 ? 8e-3 : 0.0;
  auto a = ir::to_f64(got), b = ir::to_f64(c.want);
  for (size_t k = 0; k < a.size(); ++k) {
    const double room = ir::is_float(got.dtype)
                            ? c.def->tolerance.absolute + std::max(unit, c.def->tolerance.relative) * std::abs(b[k])
                            : 0.0;
    const bool same = a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k])) || std::abs(a[k] - b[k]) <= room;
    CHECK_MESSAGE(same, k, ": ", a[k], " instead of ", b[k]);
  }
}

}  // namespace

TEST_CASE("samples of every operator, compiled") {
  for (const codegen::Target* target : runnable_targets()) {
    Program p;
    for (const ops::OpDef* def : ops::all())
      for (std::string_view text : def->samples)
        // The last block of a blocked tensor may hold anything; tests of these kernels look at the rest.
        if (!def->random && def->name.find("Blocked") == std::string_view::npos) add_case(p, *def, text);
    CollectedDiagnostics diagnostics;
    passes::PassContext context{diagnostics};
    context.has_kernel = [&](const ir::Module& m, ir::NodeId id) {
      const codegen::Family* family = codegen::family_of(m, id, *target);
      return family != nullptr && family->name != "loops";
    };
    context.takes_epilogue = [&](const ir::Module& m, ir::NodeId id, ir::GraphId body) {
      return codegen::takes_epilogue(m, id, body, *target);
    };
    passes::PipelineOptions options;
    options.verify = true;
    auto status = passes::run_pipeline(p.module, context, options);
    REQUIRE_MESSAGE(status.ok(), status.error().text());
    auto program = LoadedProgram::build(p.module, *target);
    REQUIRE_MESSAGE(program.ok(), program.error().text());
    auto results = (*program)->run(p.inputs);
    REQUIRE_MESSAGE(results.ok(), results.error().text());
    REQUIRE(results->size() == p.cases.size());
    for (size_t k = 0; k < p.cases.size(); ++k) compare(p.cases[k], results->at(k));
  }
}
