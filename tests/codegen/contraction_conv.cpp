// SPDX-License-Identifier: Apache-2.0
#include "codegen/contraction.h"

using namespace tvc;
using namespace tvc::tests;

namespace {

struct Shape {
  int64_t n, in, h, w, out, kh, kw, stride = 1, pad = 0, dilation = 1, group = 1;
  bool planar = false;
};

NodeCase conv(const Shape& s) {
  NodeCase c;
  c.op = "tvc.ConvBlocked";
  Dims x = s.planar ? Dims{s.n, s.in, s.h, s.w} : Dims{s.n, (s.in + 15) / 16, s.h, s.w, 16};
  c.operands = {x, {s.out, s.in / s.group, s.kh, s.kw}, {s.out}};
  c.constant = {false, true, true};
  c.attrs = {{"kernel_shape", Dims{s.kh, s.kw}},
             {"strides", Dims{s.stride, s.stride}},
             {"pads", Dims{s.pad, s.pad, s.pad, s.pad}},
             {"dilations", Dims{s.dilation, s.dilation}},
             {"group", s.group},
             {"in_channels", s.in},
             {"out_channels", s.out},
             {"in_layout", std::string(s.planar ? "planar" : "blocked")}};
  return c;
}

}  // namespace

TEST_CASE("convolution of every window") {
  const Shape shapes[] = {
      {1, 16, 1, 1, 16, 1, 1},
      {2, 16, 5, 7, 16, 1, 1},
      {1, 48, 13, 11, 80, 1, 1},
      {1, 32, 9, 7, 64, 3, 3, 1, 1},
      {2, 20, 8, 9, 35, 3, 3, 2, 1},
      {1, 16, 10, 10, 112, 3, 3, 1, 2, 2},
      {1, 32, 6, 17, 32, 1, 5, 1, 2},
      {1, 16, 12, 12, 48, 5, 5, 3, 2},
      {1, 48, 7, 6, 48, 1, 1, 2},
      {1, 3, 17, 19, 16, 3, 3, 2, 1, 1, 1, true},
      {2, 1, 9, 9, 24, 7, 7, 2, 3, 1, 1, true},
      {1, 4, 8, 8, 33, 2, 2, 2, 0, 1, 1, true},
      {1, 64, 9, 8, 96, 3, 3, 1, 1, 1, 2},
  };
  for (const Shape& s : shapes) {
    CAPTURE(fmt::format("{} -> {}, {}x{}, stride {}", s.in, s.out, s.kh, s.kw, s.stride));
    check_node(conv(s), 1e-4);
  }
}

TEST_CASE("convolution in several passes over its input channels") {
  check_node(conv({1, 320, 4, 5, 64, 3, 3, 1, 1}), 1e-3);
}

TEST_CASE("3 x 3 convolutions with enough outputs for Winograd's algorithm") {
  for (int64_t pad : {0, 1, 2}) check_node(conv({1, 16, 15, 16, 48, 3, 3, 1, pad}), 2e-4);
  check_node(conv({2, 33, 13, 17, 17, 3, 3, 1, 1}), 2e-4);
  check_node(conv({1, 64, 16, 15, 96, 3, 3, 1, 1, 1, 2}), 2e-4);
  check_node(conv({1, 176, 3, 70, 80, 3, 3, 1, 1}), 5e-4);
  NodeCase clipped = conv({1, 16, 20, 20, 16, 3, 3, 1, 1});
  clipped.epilogue = {{"Relu"}};
  check_node(clipped, 2e-4);
  clipped.epilogue = {{"HardSwish"}, {"Add", Dims{1, 1, 20, 20, 16}}};
  check_node(clipped, 2e-4);
}

TEST_CASE("convolution of nothing") { check_node(conv({0, 16, 5, 5, 16, 3, 3, 1, 1})); }

TEST_CASE("convolution with epilogues") {
  NodeCase relu = conv({1, 16, 7, 7, 64, 3, 3, 1, 1});
  relu.epilogue = {{"Relu"}};
  check_node(relu, 1e-4);
  NodeCase silu = conv({1, 32, 11, 13, 48, 1, 1});
  silu.epilogue = {
      {"HardSwish"}, {"Sigmoid"}, {"Mul", Dims{1, 3, 11, 13, 16}}, {"Add", Dims{1, 3, 1, 1, 16}, true}, {"Tanh"}};
  check_node(silu, 1e-4);
}

TEST_CASE("convolutions into a planar result") {
  for (int64_t out : {1, 4, 5, 19}) {
    NodeCase c = conv({2, 32, 7, 9, out, 3, 3, 1, 1});
    c.attrs["out_layout"] = std::string("planar");
    check_node(c, 1e-4);
    c.epilogue = {{"Sigmoid"}, {"Mul", Dims{1, (out + 15) / 16, 1, 1, 16}, true}};
    check_node(c, 1e-4);
    NodeCase t{"tvc.ConvTransposeBlocked", {{1, 1, 4, 5, 16}, {16, out, 2, 2}, {out}}, {false, true, true}};
    t.attrs = {{"strides", Dims{2, 2}},
               {"in_channels", int64_t{16}},
               {"out_channels", out},
               {"out_layout", std::string("planar")}};
    check_node(t, 1e-4);
    t.epilogue = {{"Sigmoid"}};
    check_node(t, 1e-4);
  }
}

TEST_CASE("transposed convolution") {
  struct Case {
    Dims x, w, strides, pads;
  };
  const Case cases[] = {{{1, 2, 5, 6, 16}, {24, 20, 2, 2}, {2, 2}, {0, 0, 0, 0}},
                        {{1, 1, 4, 7, 16}, {16, 16, 3, 3}, {2, 2}, {1, 1, 1, 1}},
                        {{2, 1, 3, 3, 16}, {16, 33, 4, 2}, {1, 3}, {1, 0, 2, 1}},
                        {{1, 1, 5, 4, 16}, {16, 16, 3, 3}, {1, 1}, {1, 1, 1, 1}}};
  for (const Case& k : cases) {
    NodeCase c{"tvc.ConvTransposeBlocked", {k.x, k.w, {k.w[1]}}, {false, true, true}};
    c.attrs = {{"strides", k.strides}, {"pads", k.pads}, {"in_channels", k.w[0]}, {"out_channels", k.w[1]}};
    check_node(c, 1e-4);
    c.epilogue = {{"Sigmoid"}};
    check_node(c, 1e-4);
  }
  NodeCase residual{"tvc.ConvTransposeBlocked", {{1, 1, 4, 5, 16}, {16, 16, 2, 2}}, {false, true}};
  residual.attrs = {{"strides", Dims{2, 2}}, {"in_channels", int64_t{16}}, {"out_channels", int64_t{16}}};
  residual.epilogue = {{"Add", Dims{1, 1, 8, 10, 16}}, {"HardSwish"}};
  check_node(residual, 1e-4);
}
