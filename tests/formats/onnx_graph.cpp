// SPDX-License-Identifier: Apache-2.0
// Graphs, names, initializers, bodies.
#include <doctest/doctest.h>

#include "formats/onnx_text.h"

using namespace tvc;
using namespace tvc::test;
using Ops = std::vector<std::string>;

TEST_CASE("nodes, names, attributes and metadata come as they are") {
  auto model = model_from_text(R"(<ir_version: 8, opset_import: ["" : 17, "com.microsoft.nchwc" : 1],
      producer_name: "maker", producer_version: "2">
    net (float[1,1,4,4] x) => (float y) <float[2,1,3,3] w = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9}> {
      [conv] c = Conv <strides = [1, 1], auto_pad = "VALID"> (x, w)
      y = LeakyRelu <alpha = 0.5> (c)
    })");
  model.mutable_graph()->mutable_input(0)->set_name("input:0");
  model.mutable_graph()->mutable_node(0)->set_input(0, "input:0");
  auto* property = model.add_metadata_props();
  property->set_key("author");
  property->set_value("someone");
  auto module = import_proto(model);
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  CHECK(ops_of(*module) == Ops{"Conv", "LeakyRelu"});
  CHECK(module->value(module->main().inputs[0]).name == "input:0");
  CHECK(module->value(module->main().outputs[0]).name == "y");
  const ir::Node& conv = *find_node(*module, "Conv");
  CHECK(conv.origin == std::vector<std::string>{"conv"});
  CHECK(conv.ints("strides") == std::vector<int64_t>{1, 1});
  CHECK(conv.s("auto_pad", "") == "VALID");
  CHECK(module->value(conv.inputs[1]).name == "w");
  CHECK(module->constant(conv.inputs[1])->as<float>()[8] == 9);
  CHECK(find_node(*module, "LeakyRelu")->label() == "y");
  CHECK(find_node(*module, "LeakyRelu")->f("alpha", 0) == 0.5);
  CHECK(module->metadata.at("onnx.producer") == "maker 2");
  CHECK(module->metadata.at("onnx.opset") == "17");
  CHECK(module->metadata.at("model.author") == "someone");
}

TEST_CASE("an initializer that is also an input is a constant up to IR version 3, then a default") {
  auto model = model_from_text(R"(<ir_version: 3, opset_import: ["" : 13]>
    g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {5, 6}> { y = Add(x, w) })");
  auto old = import_proto(model);
  REQUIRE_MESSAGE(old.ok(), old.error().text());
  CHECK(old->main().inputs.size() == 1);
  model.set_ir_version(4);
  auto now = import_proto(model);
  REQUIRE(now.ok());
  REQUIRE(now->main().inputs.size() == 2);
  const ir::Value& w = now->value(now->main().inputs[1]);
  CHECK(w.constant == nullptr);
  REQUIRE(w.default_value != nullptr);
  CHECK(w.default_value->as<float>()[1] == 6);
}

TEST_CASE("inputs and constants that are outputs get a node of their own") {
  auto module = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x) => (float[2] x, float[2] c) <float[2] c = {5, 6}> { unused = Relu(x) })");
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  CHECK(ops_of(*module) == Ops{"Relu", "Identity", "Identity"});
  CHECK(module->value(module->main().outputs[1]).name == "c");
}

TEST_CASE("every form of Constant is a constant") {
  auto module = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (int64[1] x) => (int64[3] y) {
      a = Constant <value_int = 7> ()
      b = Constant <value_ints = [8, 9]> ()
      c = Constant <value = int64[1] {3}> ()
      s = Add(x, a)
      t = Add(s, c)
      y = Concat <axis = 0> (t, b)
    })");
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  CHECK(ops_of(*module) == Ops{"Add", "Add", "Concat"});
  CHECK(constant_ints(*module, find_node(*module, "Concat")->inputs[1]) == std::vector<int64_t>{8, 9});
  CHECK(module->constant(find_node(*module, "Add")->inputs[1])->dims.empty());
}

TEST_CASE("bodies read values of the graphs around them, and omitted inputs and outputs are marked") {
  auto module = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (bool c, float[4] x) => (float[n] y) {
      limit = Constant <value = float {2.0}> ()
      y = If (c) <
        then_branch = yes () => (float[n] a) { a = Clip(x, , limit) },
        else_branch = no () => (float[n] b) { inner = Neg(x)  b = Abs(inner) }
      >
    })");
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  const ir::Node& branch = *find_node(*module, "If");
  const auto then_graph = branch.subgraph("then_branch");
  REQUIRE(then_graph.has_value());
  const ir::Node& clip = *find_node(*module, "Clip");
  CHECK(clip.graph == *then_graph);
  CHECK(clip.inputs[0] == module->main().inputs[1]);
  CHECK(clip.inputs[1] == ir::kNone);
  CHECK(module->constant(clip.inputs[2]) != nullptr);
  CHECK(ir::captures(*module, *then_graph).size() >= 1);
}
