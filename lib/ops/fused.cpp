// SPDX-License-Identifier: Apache-2.0
// tvc.Fused {body}: a graph of element-wise nodes as one node. The body's inputs are the node's; every value of the
// body has the output's shape, its scalar constants lie in it.
#include <unordered_map>

#include "ops/op_def.h"

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

te::Expr literal(const ir::Tensor& tensor) {
  DType compute = ir::compute_type(tensor.dtype);
  return ir::is_float(compute) ? te::number(compute, ir::to_f64(tensor)[0])
                               : te::integer(compute, ir::to_i64(tensor)[0]);
}

// Expressions of the body's values over common axes, shared where the graph shares them.
class BodyExpressions {
 public:
  BodyExpressions(const ir::Module& module, const ir::Graph& graph, std::vector<te::Axis> axes)
      : module_(module), axes_(std::move(axes)) {
    for (size_t k = 0; k < graph.inputs.size(); ++k) input_index_.emplace(graph.inputs[k], static_cast<int>(k));
  }

  Result<void> add(ir::NodeId id) {
    const ir::Node& node = module_.node(id);
    const OpDef* def = find(node.op);
    if (def == nullptr || def->express == nullptr) return internal("{} has no expression", node.op);
    TVC_TRY(auto expressions, def->express(NodeView(module_, id)));
    for (size_t k = 0; k < node.outputs.size(); ++k)
      if (node.outputs[k] != ir::kNone)
        values_.emplace(node.outputs[k], te::cast(expressions[k].dtype, place(expressions[k], node)));
    return {};
  }

  te::TensorExpr output(ir::ValueId id) const { return {module_.value(id).type.dtype, axes_, values_.at(id)}; }

 private:
  te::Expr place(const te::TensorExpr& e, const ir::Node& node) const {
    te::Expr body = te::substitute_vars(e.body, [&](int id) -> te::Expr {
      for (size_t k = 0; k < e.axes.size(); ++k)
        if (e.axes[k].var == id) return te::var(axes_[k].var);
      return nullptr;
    });
    return te::rewrite(body, [&](const te::Expr& at) -> te::Expr {
      if (at->op != te::Op::kRead) return nullptr;
      ir::ValueId operand = node.inputs[static_cast<size_t>(at->index)];
      if (auto it = values_.find(operand); it != values_.end()) return it->second;
      if (const ir::Tensor* constant = module_.constant(operand)) return literal(*constant);
      te::ExprNode copy = *at;
      copy.index = input_index_.at(operand);
      return std::make_shared<const te::ExprNode>(std::move(copy));
    });
  }

  const ir::Module& module_;
  std::vector<te::Axis> axes_;
  std::unordered_map<ir::ValueId, int> input_index_;
  std::unordered_map<ir::ValueId, te::Expr> values_;
};

Result<std::vector<te::TensorExpr>> express_fused(const NodeView& view) {
  auto body = view.node().subgraph("body");
  if (!body) return internal("tvc.Fused has no body");
  const ir::Graph& graph = view.module().graphs[*body];
  BodyExpressions expressions(view.module(), graph, axes_of(view.out_type(0).shape));
  for (ir::NodeId id : graph.nodes) TVC_CHECK_OK(expressions.add(id));
  std::vector<te::TensorExpr> out;
  for (ir::ValueId id : graph.outputs) out.push_back(expressions.output(id));
  return out;
}

}  // namespace

TVC_DEFINE_OP(kFused) = {
    .name = "tvc.Fused",
    .infer = infer_fused,
    .express = express_fused,
    .elementwise = true,
};

}  // namespace tvc::ops
