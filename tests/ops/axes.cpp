// SPDX-License-Identifier: Apache-2.0
// Axes that only the run knows: the result's sizes are expressions over the list's elements.
#include <doctest/doctest.h>

#include "ops/axes.h"
#include "ops/op_def.h"

using namespace tvc;

namespace {

ir::Module typed(std::string_view text) {
  auto module = ir::parse(text);
  REQUIRE_MESSAGE(module.ok(), module.error().text());
  auto status = ops::infer_types(*module);
  REQUIRE_MESSAGE(status.ok(), status.error().text());
  return std::move(*module);
}

// The result's sizes where operand 1 holds these axes.
std::vector<int64_t> sizes(const ir::Module& module, std::vector<int64_t> axes) {
  ir::SymbolLookup lookup = [&](const std::string& name) -> std::optional<int64_t> {
    for (size_t k = 0; k < axes.size(); ++k)
      if (name == fmt::format("e1_{}", k)) return axes[k];
    auto definition = module.definitions.find(name);
    return definition == module.definitions.end() ? std::nullopt : ir::evaluate(definition->second, lookup);
  };
  std::vector<int64_t> out;
  for (const ir::Dim& d : module.value(module.main().outputs[0]).type.shape) {
    auto value = ir::evaluate(d, lookup);
    REQUIRE(value.has_value());
    out.push_back(*value);
  }
  return out;
}

}  // namespace

TEST_CASE("reduced axes that only the run knows") {
  auto dropped = typed(R"(graph 0 "main"(%0 "x": f32[2, 3, 4], %1 "axes": i64[2]) {
  %2 "y": f32[1] = ReduceSum(%0, %1) {keepdims: 0}
  return %2
}
)");
  CHECK(sizes(dropped, {0, -1}) == std::vector<int64_t>{3});
  CHECK(sizes(dropped, {2, 1}) == std::vector<int64_t>{2});
  auto kept = typed(R"(graph 0 "main"(%0 "x": f32[2, 3, 4], %1 "axes": i64[1]) {
  %2 "y": f32[1, 1, 1] = ReduceMax(%0, %1)
  return %2
}
)");
  CHECK(sizes(kept, {-2}) == std::vector<int64_t>{2, 1, 4});
}

TEST_CASE("axes that only the run knows, inserted and removed") {
  auto wider = typed(R"(graph 0 "main"(%0 "x": f32[3, 4], %1 "axes": i64[2]) {
  %2 "y": f32[3, 4, 1, 1] = Unsqueeze(%0, %1)
  return %2
}
)");
  CHECK(sizes(wider, {0, -1}) == std::vector<int64_t>{1, 3, 4, 1});
  CHECK(sizes(wider, {2, 1}) == std::vector<int64_t>{3, 1, 1, 4});
  auto narrower = typed(R"(graph 0 "main"(%0 "x": f32[1, 3, 1], %1 "axes": i64[1]) {
  %2 "y": f32[1, 3] = Squeeze(%0, %1)
  return %2
}
)");
  CHECK(sizes(narrower, {-1}) == std::vector<int64_t>{1, 3});
  CHECK(sizes(narrower, {0}) == std::vector<int64_t>{3, 1});
}

TEST_CASE("constant axes give numbers; those outside of the rank are an error") {
  auto module = typed(R"(graph 0 "main"(%0 "x": f32[2, 3]) {
  %1 "y": f32[2, 3] = Relu(%0)
  return %1
}
)");
  ops::NodeView view(module, module.main().nodes[0]);
  auto set = ops::axis_set(view, std::vector<ir::Dim>{-1}, 3);
  REQUIRE(set.ok());
  CHECK((*set)[0].is(0));
  CHECK((*set)[2].is(1));
  CHECK_FALSE(ops::axis_set(view, std::vector<ir::Dim>{3}, 3).ok());
}
