// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent.h"

namespace tvc::ops {

StepBuilder::StepBuilder(DecomposeContext& context, ir::ValueId shares, const std::vector<ir::ValueId>& initial,
                         size_t first_activation)
    : context_(context),
      graph_(static_cast<ir::GraphId>(context.module().graphs.size())),
      first_activation_(first_activation) {
  module().graphs.emplace_back();
  ir::Type scalar;
  scalar.dtype = DType::kI64;
  iteration_ = ir::add_value(module(), "", scalar, graph_);
  scalar.dtype = DType::kBool;
  condition_ = ir::add_value(module(), "", scalar, graph_);
  std::vector<ir::ValueId> inputs = {iteration_, condition_};
  for (ir::ValueId state : initial) {
    const ir::Type type = module().value(state).type;
    states_.push_back(ir::add_value(module(), "", type, graph_));
    inputs.push_back(states_.back());
  }
  module().graphs[graph_].inputs = std::move(inputs);
  input_ = add("Gather", {shares, iteration_}, {{"axis", int64_t{0}}});
}

ir::ValueId StepBuilder::add(std::string op, std::vector<ir::ValueId> inputs,
                             std::map<std::string, ir::Attr, std::less<>> attrs) {
  return add_multi(std::move(op), std::move(inputs), std::move(attrs), 1)[0];
}

std::vector<ir::ValueId> StepBuilder::add_multi(std::string op, std::vector<ir::ValueId> inputs,
                                                std::map<std::string, ir::Attr, std::less<>> attrs, size_t outputs) {
  ir::NodeSpec spec{std::move(op), std::move(inputs), std::move(attrs), outputs, context_.node().origin};
  return module().node(ir::add_node(module(), graph_, std::move(spec))).outputs;
}

ir::ValueId StepBuilder::number(double value) {
  return ir::add_constant(module(), "", ir::make_scalar(context_.dtype(0), value), graph_);
}

std::vector<ir::ValueId> StepBuilder::split(ir::ValueId x, const std::vector<int64_t>& sizes) {
  ir::ValueId parts = ir::add_constant(module(), "", ir::make_i64({static_cast<int64_t>(sizes.size())}, sizes), graph_);
  return add_multi("Split", {x, parts}, {{"axis", int64_t{1}}}, sizes.size());
}

ir::ValueId StepBuilder::clipped(ir::ValueId x) {
  if (!context_.node().has("clip")) return x;
  const double limit = context_.f("clip", 0);
  return add("Clip", {x, number(-limit), number(limit)});
}

Result<ir::ValueId> StepBuilder::activation(size_t k, ir::ValueId x, std::string_view otherwise) {
  const auto names = context_.node().strings("activations");
  const size_t at = first_activation_ + k;
  const std::string name = at < names.size() ? names[at] : std::string(otherwise);
  // Alphas and betas stand in the order of the activations that take them; only where all do is the place certain.
  const auto alphas = context_.node().floats("activation_alpha"), betas = context_.node().floats("activation_beta");
  auto number_at = [&](const std::vector<double>& list, double fallback) {
    return at < list.size() ? list[at] : fallback;
  };
  if (name == "Sigmoid" || name == "Tanh" || name == "Relu" || name == "Softsign" || name == "Softplus")
    return add(name, {x});
  if (name == "LeakyRelu") return add(name, {x}, {{"alpha", number_at(alphas, 0.01)}});
  if (name == "ThresholdedRelu" || name == "Elu") return add(name, {x}, {{"alpha", number_at(alphas, 1.0)}});
  if (name == "HardSigmoid")
    return add(name, {x}, {{"alpha", number_at(alphas, 0.2)}, {"beta", number_at(betas, 0.5)}});
  if (name == "Affine")
    return add("Add", {add("Mul", {x, number(number_at(alphas, 1.0))}), number(number_at(betas, 0.0))});
  if (name == "ScaledTanh")
    return add("Mul", {add("Tanh", {add("Mul", {x, number(number_at(betas, 1.0))})}), number(number_at(alphas, 1.0))});
  return unsupported("activation {} is not supported", name);
}

ir::GraphId StepBuilder::finish(std::vector<ir::ValueId> next, ir::ValueId lengths) {
  ir::ValueId shown = next[0];
  if (lengths != ir::kNone) {
    ir::ValueId wide = add("Cast", {lengths}, {{"to", int64_t{7}}});
    ir::ValueId axis = ir::add_constant(module(), "", ir::make_i64({1}, {1}), graph_);
    ir::ValueId running = add("Unsqueeze", {add("Less", {iteration_, wide}), axis});
    shown = add("Where", {running, next[0], number(0)});
    for (size_t k = 0; k < next.size(); ++k) next[k] = add("Where", {running, next[k], states_[k]});
  }
  std::vector<ir::ValueId> outputs = {condition_};
  outputs.insert(outputs.end(), next.begin(), next.end());
  outputs.push_back(shown);
  module().graphs[graph_].outputs = std::move(outputs);
  return graph_;
}

}  // namespace tvc::ops
