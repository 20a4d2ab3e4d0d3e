// SPDX-License-Identifier: Apache-2.0
// Functions of the model, and operators that are functions.
#include <doctest/doctest.h>

#include "formats/onnx_text.h"

using namespace tvc;
using namespace tvc::test;
using Ops = std::vector<std::string>;

TEST_CASE("the model's functions are inlined, with their attributes, defaults and captured names") {
  auto module = import_text(R"(<ir_version: 9, opset_import: ["" : 17, "local" : 1]>
    g (float[4] x) => (float[4] y, float[4] z) {
      [one] t = local.Twice <slope = 0.5> (x)
      [two] y = local.Twice (t)
      z = Identity(t)
    }
    <domain: "local", opset_import: ["" : 17, "local" : 1]>
    Twice <slope: float = 0.25> (a) => (b) {
      t = local.Once <slope: float = @slope> (a)
      b = local.Once <slope: float = @slope> (t)
    }
    <domain: "local", opset_import: ["" : 17]>
    Once <slope> (a) => (b) { [leaky] b = LeakyRelu <alpha: float = @slope> (a) })");
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  CHECK(ops_of(*module) == Ops{"LeakyRelu", "LeakyRelu", "LeakyRelu", "LeakyRelu", "Identity"});
  std::vector<double> slopes;
  for (ir::NodeId id : module->main().nodes)
    if (module->node(id).op == "LeakyRelu") slopes.push_back(module->node(id).f("alpha", 0));
  CHECK(slopes == std::vector<double>{0.5, 0.5, 0.25, 0.25});
  CHECK(module->node(module->main().nodes[0]).label() == "one/leaky");
}

TEST_CASE("a function of an older opset than the model's is brought to the newest form") {
  auto module = import_text(R"(<ir_version: 9, opset_import: ["" : 17, "local" : 1]>
    g (float[1, 4] x) => (float[4] y) { y = local.Drop(x) }
    <domain: "local", opset_import: ["" : 11]>
    Drop (a) => (b) { b = Squeeze <axes = [0]> (a) })");
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  const ir::Node& squeeze = *find_node(*module, "Squeeze");
  REQUIRE(squeeze.inputs.size() == 2);
  CHECK(constant_ints(*module, squeeze.inputs[1]) == std::vector<int64_t>{0});
}

TEST_CASE("a function that passes an input on") {
  auto module = import_text(R"(<ir_version: 9, opset_import: ["" : 17, "local" : 1]>
    g (float[4] x) => (float[4] y, float[4] z) { y, z = local.Both(x) }
    <domain: "local", opset_import: ["" : 17]>
    Both (a) => (a, b) { b = Relu(a) })");
  if (module.ok()) CHECK(ops_of(*module) == Ops{"Relu", "Identity"});
  else CHECK(module.error().code == ErrorCode::kBadInput);  // where onnx's rules forbid it
}

TEST_CASE("functions that call themselves, and such that explode, are refused") {
  auto recursive = import_text(R"(<ir_version: 9, opset_import: ["" : 17, "local" : 1]>
    g (float[4] x) => (float[4] y) { y = local.F(x) }
    <domain: "local", opset_import: ["" : 17, "local" : 1]> F (a) => (b) { b = local.G(a) }
    <domain: "local", opset_import: ["" : 17, "local" : 1]> G (a) => (b) { b = local.F(a) })");
  REQUIRE(!recursive.ok());
  CHECK(recursive.error().code != ErrorCode::kInternal);

  auto model = model_from_text(R"(<ir_version: 9, opset_import: ["" : 17, "local" : 1]>
    g (float[4] x) => (float[4] y) { y = local.F0(x) }
    <domain: "local", opset_import: ["" : 17, "local" : 1]> F0 (a) => (b) { t = local.F1(a) b = local.F1(t) })");
  for (int k = 1; k < 50; ++k) {
    auto* function = model.add_functions();
    *function = model.functions(0);
    function->set_name(fmt::format("F{}", k));
    for (auto& node : *function->mutable_node()) {
      if (k == 49) node.clear_domain();
      node.set_op_type(k == 49 ? "Relu" : fmt::format("F{}", k + 1));
    }
  }
  auto exploding = import_proto(model);
  REQUIRE(!exploding.ok());
  CHECK(exploding.error().code == ErrorCode::kUnsupported);
  CHECK(exploding.error().message.find("grow") != std::string::npos);
}

TEST_CASE("an operator without a definition becomes its schema's function") {
  auto module = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[3, 4] x) => (float[3, 4] y) { [norm] y = MeanVarianceNormalization <axes = [1]> (x) })");
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  CHECK(find_node(*module, "MeanVarianceNormalization") == nullptr);
  const ir::Node* mean = find_node(*module, "ReduceMean");
  REQUIRE(mean != nullptr);
  CHECK(mean->label() == "norm");
  CHECK(module->value(module->main().outputs[0]).name == "y");
}

TEST_CASE("GroupNormalization of opset 18, which onnx calls deprecated, is read in functions and outside") {
  auto module = import_text(R"(<ir_version: 9, opset_import: ["" : 18, "local" : 1]>
    g (float[2, 4, 3] x) => (float[2, 4, 3] y) <float[2] s = {1, 2}, float[2] b = {3, 4}> {
      a = GroupNormalization <num_groups = 2> (x, s, b)
      y = local.Norm(a, s, b)
    }
    <domain: "local", opset_import: ["" : 19]>
    Norm (a, s, b) => (c) { c = GroupNormalization <num_groups = 2> (a, s, b) })");
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  size_t repeated = 0;
  for (const auto& op : ops_of(*module)) repeated += op == "Expand" ? 1 : 0;
  CHECK(repeated == 4);
}
