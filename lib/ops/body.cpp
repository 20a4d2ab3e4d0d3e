// SPDX-License-Identifier: Apache-2.0
#include "ops/body.h"

#include <unordered_map>

namespace tvc::ops {
namespace {

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

}  // namespace

Result<std::vector<te::TensorExpr>> express_body(const ir::Module& module, ir::GraphId body,
                                                 std::vector<te::Axis> axes) {
  const ir::Graph& graph = module.graphs[body];
  BodyExpressions expressions(module, graph, std::move(axes));
  for (ir::NodeId id : graph.nodes) TVC_CHECK_OK(expressions.add(id));
  std::vector<te::TensorExpr> out;
  for (ir::ValueId id : graph.outputs) out.push_back(expressions.output(id));
  return out;
}

Result<te::TensorExpr> with_epilogue(const NodeView& view, te::TensorExpr result) {
  auto body = view.node().subgraph("epilogue");
  if (!body) return result;
  TVC_TRY(auto outputs, express_body(view.module(), *body, result.axes));
  if (outputs.size() != 1) return internal("an epilogue has {} outputs", outputs.size());
  const int first = static_cast<int>(view.i("epilogue_inputs", 0)) - 1;  // body input 1 is the node's `first` + 1
  // The result stands under operand -1 while the others are renumbered.
  te::Expr value = te::renumber_operands(outputs[0].body, [&](int k) { return k == 0 ? -1 : k + first; });
  value = te::rewrite(value, [&](const te::Expr& e) -> te::Expr {
    return e->op == te::Op::kRead && e->index == -1 ? result.body : nullptr;
  });
  return te::TensorExpr{outputs[0].dtype, std::move(result.axes), std::move(value)};
}

Result<void> infer_epilogue(InferContext& c) {
  auto body = c.node().subgraph("epilogue");
  if (!body) return {};
  ir::Module& module = c.mutable_module();
  const auto inputs = module.graphs[*body].inputs;
  const auto first = static_cast<size_t>(c.i("epilogue_inputs", 0));
  if (inputs.empty() || inputs.size() - 1 != c.input_count() - std::min(first, c.input_count()))
    return internal("the epilogue's inputs do not fit the node's operands");
  for (size_t k = 0; k < inputs.size(); ++k)
    module.value(inputs[k]).type = k == 0 ? c.out_type(0) : c.type(first + k - 1);
  TVC_CHECK_OK(infer_graph(module, *body));
  c.set(0, module.value(module.graphs[*body].outputs[0]).type.dtype, c.out_type(0).shape);
  return {};
}

}  // namespace tvc::ops
