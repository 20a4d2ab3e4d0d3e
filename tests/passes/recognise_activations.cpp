// SPDX-License-Identifier: Apache-2.0
#include "passes/run_module.h"

using namespace tvc;

namespace {

std::string model(const std::string& body, const std::string& more = "") {
  return R"(graph 0 "m"(%0 "x": f32[2, 3, 4]) {
    %1: f32[] = const {0}
    %2: f32[] = const {1}
    %3: f32[] = const {3}
    %4: f32[] = const {6}
    %5: f32[1] = const {0.5}
    %6: f32[] = const {1.41421354}
    %7: f32[] = const {0.797884583}
    %8: f32[] = const {0.044715}
    %9: f32[] = const {0.16666667}
)" + body +
         "    return %30" + more + "\n}\n";
}

const ir::Node& recognised(const ir::Module& module, std::string_view op) {
  for (const auto& node : module.nodes)
    if (node.op == op) return node;
  FAIL("no ", op);
  return module.nodes[0];
}

// One node of this kind is all that stays.
ir::Module becomes(std::string_view op, const std::string& body, int changes = 1) {
  auto module = check_pass(passes::recognise_activations, model(body), changes);
  recognised(module, op);
  CHECK(module.main().nodes.size() == 1);
  CHECK(module.value(module.main().outputs[0]).name == "y");
  return module;
}

void stays(const std::string& body, const std::string& more = "") {
  check_pass(passes::recognise_activations, model(body, more), 0);
}

}  // namespace

TEST_CASE("hard-sigmoid and hard-swish in the orders of exporters") {
  becomes("HardSigmoid", "%10: f32[] = Add(%0, %3)\n%11: f32[] = Clip(%10, %1, %4)\n%30 \"y\": f32[] = Div(%11, %4)\n");
  becomes("HardSigmoid", "%10: f32[] = Mul(%0, %9)\n%11: f32[] = Add(%5, %10)\n%30 \"y\": f32[] = Clip(%11, %1, %2)\n");
  const std::string clipped = "%10: f32[] = Add(%3, %0)\n%11: f32[] = Clip(%10, %1, %4)\n";
  becomes("HardSwish", clipped + "%12: f32[] = Mul(%0, %11)\n%30 \"y\": f32[] = Div(%12, %4)\n");
  becomes("HardSwish", clipped + "%12: f32[] = Mul(%11, %9)\n%30 \"y\": f32[] = Mul(%12, %0)\n", 2);
  becomes("HardSwish", clipped + "%12: f32[] = Div(%11, %4)\n%30 \"y\": f32[] = Mul(%0, %12)\n", 2);
}

TEST_CASE("swish, also with a slope") {
  becomes("Swish", "%10: f32[] = Sigmoid(%0)\n%30 \"y\": f32[] = Mul(%10, %0)\n");
  auto module =
      becomes("Swish", "%10: f32[] = Mul(%0, %3)\n%11: f32[] = Sigmoid(%10)\n%30 \"y\": f32[] = Mul(%0, %11)\n");
  CHECK(recognised(module, "Swish").f("alpha", 0) == 3);
}

TEST_CASE("GELU by erf, in every order") {
  const std::string erf = "%10: f32[] = Div(%0, %6)\n%11: f32[] = Erf(%10)\n%12: f32[] = Add(%11, %2)\n";
  for (const char* rest : {"%13: f32[] = Mul(%0, %12)\n%30 \"y\": f32[] = Mul(%13, %5)\n",
                           "%13: f32[] = Mul(%5, %0)\n%30 \"y\": f32[] = Mul(%13, %12)\n",
                           "%13: f32[] = Mul(%12, %5)\n%30 \"y\": f32[] = Mul(%0, %13)\n",
                           "%13: f32[] = Mul(%11, %5)\n%14: f32[] = Add(%13, %5)\n%30 \"y\": f32[] = Mul(%0, %14)\n"}) {
    CAPTURE(rest);
    std::string body = erf + rest;
    if (body.find("Mul(%11") != std::string::npos) body = body.substr(0, body.find("%12:")) + rest;
    // A scalar of one axis may stand for one without.
    auto module = becomes("Gelu", body);
    CHECK(recognised(module, "Gelu").s("approximate", "") == "none");
  }
}

TEST_CASE("GELU by tanh, whichever way the cube is written") {
  for (
      const char* cube :
      {"%10: f32[] = Pow(%0, %3)\n%11: f32[] = Mul(%8, %10)\n%12: f32[] = Add(%0, %11)\n%13: f32[] = Mul(%12, %7)\n",
       "%10: f32[] = Mul(%0, %0)\n%11: f32[] = Mul(%10, %0)\n%14: f32[] = Mul(%11, %8)\n%12: f32[] = Add(%14, %0)\n%13: f32[] = Mul(%7, %12)\n",
       "%10: f32[] = Mul(%0, %0)\n%11: f32[] = Mul(%10, %8)\n%12: f32[] = Add(%11, %2)\n%14: f32[] = Mul(%0, %7)\n%13: f32[] = Mul(%14, %12)\n"}) {
    CAPTURE(cube);
    auto module = becomes(
        "Gelu",
        std::string(cube) +
            "%20: f32[] = Tanh(%13)\n%21: f32[] = Add(%20, %2)\n%22: f32[] = Mul(%0, %5)\n%30 \"y\": f32[] = Mul(%22, %21)\n");
    CHECK(recognised(module, "Gelu").s("approximate", "") == "tanh");
  }
}

TEST_CASE("activations that others read, or with other numbers, stay") {
  const std::string gate = "%10 \"gate\": f32[] = Sigmoid(%0)\n", y = "%30 \"y\": f32[] = Mul(%10, %0)\n";
  SUBCASE("a gate that is an output") { stays(gate + y, ", %10"); }
  SUBCASE("a gate with another reader") { stays(gate + y + "%31 \"z\": f32[] = Neg(%10)\n", ", %31"); }
  SUBCASE("a gate that a body reads") {
    ir::Module module = parsed_module(R"(graph 0 "m"(%0 "x": f32[2]) {
      %2: bool[] = const {1}
      %10: f32[] = Sigmoid(%0)
      %30 "y": f32[] = Mul(%10, %0)
      %31 "z": f32[] = If(%2) {then_branch: graph 1, else_branch: graph 2}
      return %30, %31
    }
    graph 1 "a"() {
      %40 "a": f32[] = Neg(%10)
      return %40
    }
    graph 2 "b"() {
      %50 "b": f32[] = Neg(%0)
      return %50
    })");
    CHECK(run_pass(passes::recognise_activations, module) == 0);
  }
  SUBCASE("another gate's operand") {
    stays("%19: f32[] = Neg(%0)\n%10: f32[] = Sigmoid(%19)\n%11: f32[] = Exp(%0)\n%30 \"y\": f32[] = Mul(%10, %11)\n");
  }
  SUBCASE("bounds of another activation") {
    stays(
        "%10: f32[] = Add(%0, %2)\n%11: f32[] = Clip(%10, %1, %4)\n%12: f32[] = Mul(%0, %11)\n%30 \"y\": f32[] = Div(%12, %4)\n");
  }
  SUBCASE("erf of another width") {
    stays(
        "%10: f32[] = Erf(%0)\n%11: f32[] = Add(%10, %2)\n%12: f32[] = Mul(%0, %11)\n%30 \"y\": f32[] = Mul(%12, %5)\n");
  }
}

TEST_CASE("numbers may be shared by several activations") {
  auto module = check_pass(passes::recognise_activations, model(R"(
    %10: f32[] = Div(%0, %6)
    %11: f32[] = Erf(%10)
    %12: f32[] = Add(%11, %2)
    %13: f32[] = Mul(%0, %12)
    %14: f32[] = Mul(%13, %5)
    %15: f32[] = Div(%14, %6)
    %16: f32[] = Erf(%15)
    %17: f32[] = Add(%16, %2)
    %18: f32[] = Mul(%14, %17)
    %30 "y": f32[] = Mul(%18, %5)
)"),
                           2);
  CHECK(count_nodes(module, "Gelu") == 2);
}
