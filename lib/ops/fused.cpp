// SPDX-License-Identifier: Apache-2.0
// tvc.Fused {body}: a graph of element-wise nodes as one node. The body's inputs are the node's; every value of the
// body has the output's shape, its scalar constants lie in it.
#include "ops/body.h"

namespace tvc::ops {
namespace {

Result<void> infer_fused(InferContext& c) {
  auto body = c.node().subgraph("body");
  if (!body) return internal("tvc.Fused has no body");
  ir::Module& module = c.mutable_module();
  const auto inputs = module.graphs[*body].inputs;
  if (inputs.size() != c.input_count())
    return internal("tvc.Fused has {} inputs, its body {}", c.input_count(), inputs.size());
  for (size_t k = 0; k < inputs.size(); ++k) module.value(inputs[k]).type = c.type(k);
  TVC_CHECK_OK(infer_graph(module, *body));
  for (size_t k = 0; k < module.graphs[*body].outputs.size(); ++k)
    c.set(k, module.value(module.graphs[*body].outputs[k]).type);
  return {};
}

Result<std::vector<te::TensorExpr>> express_fused(const NodeView& view) {
  auto body = view.node().subgraph("body");
  if (!body) return internal("tvc.Fused has no body");
  return express_body(view.module(), *body, axes_of(view.out_type(0).shape));
}

}  // namespace

TVC_DEFINE_OP(kFused) = {
    .name = "tvc.Fused",
    .infer = infer_fused,
    .express = express_fused,
    .elementwise = true,
};

}  // namespace tvc::ops
