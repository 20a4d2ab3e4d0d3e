// SPDX-License-Identifier: Apache-2.0
#include "passes/run_module.h"

using namespace tvc;

namespace {

std::string model(const std::string& body, const std::string& outputs = "%30") {
  return R"(graph 0 "m"(%0 "x": f32[2, 3, 8]) {
    %1: i64[1] = const {-1}
    %2: f32[] = const {2}
    %3: f32[] = const {0.01}
    %4: f32[8] = const {1, 2, 3, 4, 5, 6, 7, 8}
    %5: f32[1, 1, 8] = const {8, 7, 6, 5, 4, 3, 2, 1}
    %6: f32[] = const {1}
    %7: f32[] = const {0.5}
    %8: i64[1] = const {1}
    %9: f32[3, 8] = const random(3)
)" + body +
         "    return " + outputs + "\n}\n";
}

ir::Module becomes(std::string_view op, const std::string& body) {
  auto module = check_pass(passes::recognise_normalizations, model(body), 1);
  CHECK(count_nodes(module, op) == 1);
  CHECK(module.main().nodes.size() == 1);
  CHECK(module.value(module.main().outputs[0]).name == "y");
  return module;
}

void stays(const std::string& body, const std::string& outputs = "%30") {
  check_pass(passes::recognise_normalizations, model(body, outputs), 0);
}

const std::string kDifference = "%10: f32[] = ReduceMean(%0, %1)\n%11: f32[] = Sub(%0, %10)\n";
const std::string kRoot = "%13: f32[] = ReduceMean(%12, %1)\n%14: f32[] = Add(%13, %3)\n%15: f32[] = Sqrt(%14)\n";

}  // namespace

TEST_CASE("LayerNorm as exporters take it apart") {
  const std::string pow = kDifference + "%12: f32[] = Pow(%11, %2)\n" + kRoot;
  SUBCASE("PyTorch") {
    becomes("LayerNormalization",
            pow + "%16: f32[] = Div(%11, %15)\n%17: f32[] = Mul(%16, %4)\n%30 \"y\": f32[] = Add(%17, %5)\n");
  }
  SUBCASE("without scale and bias") { becomes("LayerNormalization", pow + "%30 \"y\": f32[] = Div(%11, %15)\n"); }
  SUBCASE("by a reciprocal, the difference twice") {
    becomes("LayerNormalization", kDifference + "%12: f32[] = Mul(%11, %11)\n" + kRoot + R"(
      %16: f32[] = Reciprocal(%15)
      %20: f32[] = Sub(%0, %10)
      %17: f32[] = Mul(%16, %20)
      %30 "y": f32[] = Mul(%5, %17)
    )");
  }
  SUBCASE("by the root as a power, over two axes") {
    becomes("LayerNormalization", R"(
      %18: i64[2] = const {2, 1}
      %10: f32[] = ReduceMean(%0, %18)
      %11: f32[] = Sub(%0, %10)
      %12: f32[] = Pow(%11, %2)
      %13: f32[] = ReduceMean(%12, %18)
      %14: f32[] = Add(%3, %13)
      %15: f32[] = Pow(%14, %7)
      %16: f32[] = Div(%11, %15)
      %17: f32[] = Mul(%16, %9)
      %30 "y": f32[] = Add(%17, %9)
    )");
  }
  SUBCASE("TensorFlow") {
    becomes("LayerNormalization", kDifference + "%12: f32[] = Mul(%11, %11)\n" + kRoot + R"(
      %16: f32[] = Reciprocal(%15)
      %17: f32[] = Mul(%16, %4)
      %18: f32[] = Mul(%0, %17)
      %19: f32[] = Mul(%10, %17)
      %20: f32[] = Sub(%5, %19)
      %30 "y": f32[] = Add(%18, %20)
    )");
  }
}

TEST_CASE("RMSNorm as exporters take it apart") {
  const std::string root = "%12: f32[] = Pow(%0, %2)\n" + kRoot;
  becomes("RMSNormalization",
          root + "%16: f32[] = Div(%6, %15)\n%17: f32[] = Mul(%0, %16)\n%30 \"y\": f32[] = Mul(%4, %17)\n");
  becomes("RMSNormalization", root + "%30 \"y\": f32[] = Div(%0, %15)\n");
  const std::string minus =
      "%20: f32[] = const {-0.5}\n%12: f32[] = Mul(%0, %0)\n%13: f32[] = ReduceMean(%12, %1)\n%14: f32[] = Add(%13, %3)\n%15: f32[] = Pow(%14, %20)\n";
  becomes("RMSNormalization", minus + "%30 \"y\": f32[] = Mul(%15, %0)\n");
}

TEST_CASE("normalisations that others read, or along other axes, stay") {
  const std::string squares = "%12: f32[] = Pow(%11, %2)\n", y = "%30 \"y\": f32[] = Div(%11, %15)\n";
  SUBCASE("the mean is an output") {
    stays("%10 \"mean\": f32[] = ReduceMean(%0, %1)\n%11: f32[] = Sub(%0, %10)\n" + squares + kRoot + y, "%30, %10");
  }
  SUBCASE("the difference has another reader") {
    stays(kDifference + squares + kRoot + y + "%31 \"z\": f32[] = Neg(%11)\n", "%30, %31");
  }
  SUBCASE("an axis in the middle") {
    stays("%10: f32[] = ReduceMean(%0, %8)\n%11: f32[] = Sub(%0, %10)\n" + squares +
          "%13: f32[] = ReduceMean(%12, %8)\n%14: f32[] = Add(%13, %3)\n%15: f32[] = Sqrt(%14)\n" + y);
  }
  SUBCASE("two different axes") {
    stays("%18: i64[2] = const {1, 2}\n%10: f32[] = ReduceMean(%0, %18)\n%11: f32[] = Sub(%0, %10)\n" + squares +
          kRoot + y);
  }
  SUBCASE("another exponent") {
    stays(kDifference + "%18: f32[] = const {4}\n%12: f32[] = Pow(%11, %18)\n" + kRoot + y);
  }
}

TEST_CASE("a scale of the run stays outside") {
  auto module =
      check_pass(passes::recognise_normalizations, model(kDifference + "%12: f32[] = Pow(%11, %2)\n" + kRoot + R"(
    %16: f32[] = Div(%11, %15)
    %30 "y": f32[] = Mul(%16, %0)
)"),
                 1);
  CHECK(count_nodes(module, "Mul") == 1);
}
