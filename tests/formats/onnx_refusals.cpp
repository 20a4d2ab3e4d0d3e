// SPDX-License-Identifier: Apache-2.0
// What is no model, and what is one that is not supported.
#include <doctest/doctest.h>

#include <cstdlib>

#include "formats/onnx_text.h"

using namespace tvc;
using namespace tvc::test;

namespace {

void check_refused(const Result<ir::Module>& module, ErrorCode code, std::initializer_list<const char*> said) {
  REQUIRE(!module.ok());
  CHECK_MESSAGE(module.error().code == code, module.error().text());
  for (const char* text : said)
    CHECK_MESSAGE(module.error().text().find(text) != std::string::npos, module.error().text());
}

}  // namespace

TEST_CASE("files that are no model") {
  check_refused(import_bytes(""), ErrorCode::kBadInput, {"empty"});
  check_refused(import_bytes("GGUF\x03\x00\x00\x00 and so on"), ErrorCode::kBadInput, {"not an ONNX model"});
  auto model =
      model_from_text(R"(<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Relu(x) })");
  const std::string whole = model.SerializeAsString();
  check_refused(import_bytes(whole.substr(0, whole.size() - 3)), ErrorCode::kBadInput, {"cut off"});
  CollectedDiagnostics diagnostics;
  CHECK(onnx_format::import_model("/nowhere/model.onnx", {}, diagnostics).error().code == ErrorCode::kBadInput);
  CHECK(onnx_format::import_model("/", {}, diagnostics).error().code == ErrorCode::kBadInput);
}

TEST_CASE("versions that nobody knows") {
  auto model =
      model_from_text(R"(<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Relu(x) })");
  model.mutable_opset_import(0)->set_version(9999);
  check_refused(import_proto(model), ErrorCode::kUnsupported, {"opset 9999"});
  model.mutable_opset_import(0)->set_version(17);
  model.set_ir_version(9999);
  check_refused(import_proto(model), ErrorCode::kUnsupported, {"IR version 9999"});
  model.set_ir_version(1);
  check_refused(import_proto(model), ErrorCode::kUnsupported, {"IR version 1"});
}

TEST_CASE("one message lists every node whose operator is not known") {
  check_refused(import_text(R"(<ir_version: 8, opset_import: ["" : 17, "my.ops" : 1]>
      g (bool c, float[2] x) => (float[2] y) {
        [first] a = my.ops.Foo <size = 3> (x)
        b = Relu(a)
        y = If (c) <
          then_branch = yes () => (float[2] d) { [second] d = my.ops.Bar(b) },
          else_branch = no () => (float[2] e) { e = Identity(b) }
        >
      })"),
                ErrorCode::kUnsupported,
                {"2 nodes need", "node 'first' (Foo, domain my.ops)", "node 'second' (Bar, domain my.ops)"});
  auto model =
      model_from_text(R"(<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { [n] y = Relu(x) })");
  model.mutable_graph()->mutable_node(0)->set_op_type("NoSuchOp");
  check_refused(import_proto(model), ErrorCode::kUnsupported, {"node 'n' (NoSuchOp)"});
}

TEST_CASE("broken graphs are refused with the node") {
  const char* head = R"(<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) )";
  auto text = [&](const char* body) { return std::string(head) + body; };
  check_refused(import_text(text("{ [n] y = Relu <alpha = 1.0> (x) }").c_str()), ErrorCode::kBadInput,
                {"node 'n' (Relu)", "alpha"});
  check_refused(import_text(text("{ [n] y = Add(x) }").c_str()), ErrorCode::kBadInput, {"node 'n' (Add)"});
  check_refused(import_text(text("{ [n] a = Add(x, b) b = Relu(a) y = Relu(b) }").c_str()), ErrorCode::kBadInput,
                {"name: n OpType: Add", "'b'"});
  check_refused(import_text(text("{ y = Relu(x) y = Abs(x) }").c_str()), ErrorCode::kBadInput, {"y"});
  check_refused(import_text(text("{ a = Relu(x) }").c_str()), ErrorCode::kBadInput, {"y"});
  check_refused(import_text(text("{ [n] y = Upsample(x) }").c_str()), ErrorCode::kBadInput, {"Upsample"});
}

TEST_CASE("graphs nested without end") {
  auto model =
      model_from_text(R"(<ir_version: 8, opset_import: ["" : 17]> g (bool x) => (bool y) { y = Identity(x) })");
  onnx::GraphProto inner = model.graph();
  inner.clear_input();
  for (int depth = 0; depth < 40; ++depth) {
    onnx::GraphProto outer;
    outer.set_name("g");
    *outer.mutable_output() = inner.output();
    auto* node = outer.add_node();
    node->set_op_type("If");
    node->add_input("x");
    node->add_output("y");
    for (const char* name : {"then_branch"}) {
      auto* attribute = node->add_attribute();
      attribute->set_name(name);
      attribute->set_type(onnx::AttributeProto::GRAPH);
      *attribute->mutable_g() = inner;
    }
    inner = outer;
  }
  *model.mutable_graph()->mutable_node() = inner.node();
  auto module = import_proto(model);  // protobuf's own limit may come first
  REQUIRE(!module.ok());
  CHECK(module.error().code != ErrorCode::kInternal);
}
