// SPDX-License-Identifier: Apache-2.0
// Every definition's samples, evaluated: the result has the inferred type, and numbers in it.
#include <doctest/doctest.h>

#include <cmath>

#include "ops/op_def.h"
#include "ops/sample.h"

using namespace tvc;
using namespace tvc::tests;

namespace {

void check_sample(const ops::OpDef& def, std::string_view text) {
  auto sample = read_sample(text, Seeded(7));
  REQUIRE_MESSAGE(sample.ok(), sample.error().text());
  ir::Module module;
  ir::NodeId id = add_sample(module, std::string(def.name), *sample, 1,
                             [&](const ir::Tensor& tensor) { return ir::add_constant(module, "", tensor); });
  auto status = ops::infer_node(module, id);
  REQUIRE_MESSAGE(status.ok(), status.error().text());
  std::vector<const ir::Tensor*> inputs;
  for (const auto& tensor : sample->operands) inputs.push_back(tensor ? &*tensor : nullptr);
  auto results = ops::evaluate(module, id, inputs);
  REQUIRE_MESSAGE(results.ok(), results.error().text());
  const ir::Type& type = module.value(module.node(id).outputs[0]).type;
  const ir::Tensor& y = results->at(0);
  CHECK(y.dtype == type.dtype);
  REQUIRE(y.dims.size() == type.shape.size());
  for (size_t k = 0; k < y.dims.size(); ++k) CHECK(type.shape[k].is(y.dims[k]));
  int undefined = 0;
  if (ir::is_float(y.dtype))
    for (double v : ir::to_f64(y)) undefined += !std::isfinite(v);
  if (def.name != "Acosh" && def.name != "BitCast") CHECK(undefined == 0);  // of numbers below 1; of any bits
}

}  // namespace

TEST_CASE("samples of every operator") {
  size_t count = 0;
  for (const ops::OpDef* def : ops::all())
    for (std::string_view text : def->samples) {
      CAPTURE(def->name);
      CAPTURE(text);
      if (def->random) continue;
      check_sample(*def, text);
      ++count;
    }
  CHECK(count > 200);
}

TEST_CASE("a definition has exactly one meaning") {
  for (const ops::OpDef* def : ops::all()) {
    CAPTURE(def->name);
    // A routine beside an expression is for strings, a decomposition for sizes that only the run knows; Scan is
    // control, and becomes a Loop.
    const bool computed = def->express != nullptr || def->routine != nullptr;
    const int meanings = (computed || def->decompose != nullptr) + def->view;
    CHECK((def->routine == nullptr || def->decompose == nullptr));
    CHECK(meanings == (def->control && meanings == 0 ? 0 : 1));
    CHECK(static_cast<bool>(def->infer));
  }
}
