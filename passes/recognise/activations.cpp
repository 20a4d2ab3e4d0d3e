// SPDX-License-Identifier: Apache-2.0
// Activations that exporters take apart, in whatever order they multiply and add:
//   Clip(alpha x + beta, 0, 1) = HardSigmoid(x), also as Clip(6 (alpha x + beta), 0, 6) / 6
//   x HardSigmoid(x) {1/6, 1/2} = HardSwish(x);  x Sigmoid(alpha x) = Swish(x)
//   x / 2 (1 + Erf(x / sqrt 2)) = Gelu(x);  x / 2 (1 + Tanh(sqrt(2 / pi) (x + 0.044715 x^3))) = Gelu(x) {tanh}
// In f32, and only where nobody else reads what is between.
#include <cmath>

#include "passes/pass.h"
#include "passes/recognise/replace.h"

namespace tvc::passes {
namespace {

using namespace recognise;

class Activation {
 public:
  Activation(const ir::Module& module, const ir::Uses& uses) : module_(module), uses_(uses) {}

  Nodes nodes;
  ir::NodeSpec spec;

  // root: a Mul, Div or Clip.
  bool match(ir::NodeId root) {
    const ir::ValueId y = module_.node(root).outputs[0];
    if (module_.value(y).type.dtype != ir::DType::kF32) return false;
    nodes = {root};
    const bool found = module_.node(root).op == "Clip" ? match_hard_sigmoid(y, 1) : match_product(y);
    return found && module_.value(spec.inputs[0]).type == module_.value(y).type &&
           is_closed(module_, uses_, nodes, root);
  }

 private:
  bool found(std::string op, ir::ValueId x, std::map<std::string, ir::Attr, std::less<>> attrs) {
    spec = {.op = std::move(op), .inputs = {x}, .attrs = std::move(attrs)};
    return true;
  }

  bool match_product(ir::ValueId y) {
    const Product p = product(module_, uses_, y, nodes);
    if (p.factors.size() == 1) return match_hard_sigmoid(p.factors[0], p.coefficient);
    if (p.factors.size() != 2) return false;
    for (size_t k : {0, 1}) {
      const Nodes before = nodes;
      if (match_gate(p.factors[k], p.factors[1 - k], p.coefficient)) return true;
      nodes = before;
    }
    return false;
  }

  // Bounds [0, high] of a Clip; 0: others.
  double clip_to(const ir::Node& clip) const {
    auto low = scalar(module_, clip.input(1)), high = scalar(module_, clip.input(2));
    return low && high && *low == 0 && *high > 0 ? *high : 0;
  }

  // What the Clip's operand is a line over.
  ir::ValueId base_of_line(ir::ValueId value) const {
    for (int depth = 0; depth < 2; ++depth) {
      const ir::NodeId id = module_.value(value).producer;
      if (id == ir::kNone || module_.node(id).inputs.size() != 2) return value;
      const ir::Node& node = module_.node(id);
      const bool line = depth == 0 ? node.op == "Add" || node.op == "Sub" : node.op == "Mul" || node.op == "Div";
      if (!line || !uses_.single(module_, value)) return value;
      if (scalar(module_, node.inputs[1])) value = node.inputs[0];
      else if (scalar(module_, node.inputs[0]) && node.op != "Div") value = node.inputs[1];
      else return value;
    }
    return value;
  }

  bool match_hard_sigmoid(ir::ValueId clipped, double coefficient) {
    const ir::Node* clip = producer(module_, clipped, "Clip");
    const double high = clip != nullptr ? clip_to(*clip) : 0;
    if (high == 0 || !is_near(high * coefficient, 1)) return false;
    const ir::ValueId x = base_of_line(clip->inputs[0]);
    auto line = polynomial(module_, clip->inputs[0], x, nodes);
    if (!line || line->size() != 2 || (*line)[0] == 0) return false;
    nodes.insert(module_.value(clipped).producer);
    return found("HardSigmoid", x, {{"alpha", (*line)[1] * coefficient}, {"beta", (*line)[0] * coefficient}});
  }

  // coefficient x gate(x)
  bool match_gate(ir::ValueId x, ir::ValueId gate, double coefficient) {
    return match_hard_swish(x, gate, coefficient) || match_swish(x, gate, coefficient) ||
           match_gelu(x, gate, coefficient);
  }

  bool match_hard_swish(ir::ValueId x, ir::ValueId gate, double coefficient) {
    if (const ir::Node* sigmoid = producer(module_, gate, "HardSigmoid")) {
      nodes.insert(module_.value(gate).producer);
      return sigmoid->inputs[0] == x && coefficient == 1 && is_near(sigmoid->f("alpha", 0.2), 1.0 / 6) &&
             is_near(sigmoid->f("beta", 0.5), 0.5) && found("HardSwish", x, {});
    }
    const ir::Node* clip = producer(module_, gate, "Clip");
    const double high = clip != nullptr ? clip_to(*clip) : 0;
    if (high == 0 || !is_near(high * coefficient, 1)) return false;
    auto line = polynomial(module_, clip->inputs[0], x, nodes);
    nodes.insert(module_.value(gate).producer);
    return line && is_near(*line, {high / 2, high / 6}) && found("HardSwish", x, {});
  }

  bool match_swish(ir::ValueId x, ir::ValueId gate, double coefficient) {
    const ir::Node* sigmoid = producer(module_, gate, "Sigmoid");
    if (sigmoid == nullptr || coefficient != 1) return false;
    auto line = polynomial(module_, sigmoid->inputs[0], x, nodes);
    nodes.insert(module_.value(gate).producer);
    return line && line->size() == 2 && (*line)[0] == 0 && found("Swish", x, {{"alpha", (*line)[1]}});
  }

  // The Erf or Tanh in a sum of it and a number.
  ir::ValueId function_in(ir::ValueId sum) const {
    for (int depth = 0; depth < 3; ++depth) {
      if (producer(module_, sum, "Erf") || producer(module_, sum, "Tanh")) return sum;
      const ir::NodeId id = module_.value(sum).producer;
      if (id == ir::kNone || module_.node(id).inputs.size() != 2) return ir::kNone;
      const auto& inputs = module_.node(id).inputs;
      sum = scalar(module_, inputs[1]) ? inputs[0] : inputs[1];
    }
    return ir::kNone;
  }

  bool match_gelu(ir::ValueId x, ir::ValueId gate, double coefficient) {
    const ir::ValueId function = function_in(gate);
    if (function == ir::kNone) return false;
    const ir::NodeId id = module_.value(function).producer;
    auto outer = polynomial(module_, gate, function, nodes);
    if (!outer || !is_near(*outer, {0.5 / coefficient, 0.5 / coefficient})) return false;
    auto inner = polynomial(module_, module_.node(id).inputs[0], x, nodes);
    nodes.insert(id);
    if (!inner) return false;
    if (module_.node(id).op == "Erf")
      return is_near(*inner, {0, std::sqrt(0.5)}) && found("Gelu", x, {{"approximate", std::string("none")}});
    const double slope = std::sqrt(2 / 3.14159265358979323846);
    return is_near(*inner, {0, slope, 0, slope * 0.044715}) && found("Gelu", x, {{"approximate", std::string("tanh")}});
  }

  const ir::Module& module_;
  const ir::Uses& uses_;
};

}  // namespace

Result<Changes> recognise_activations(ir::Module& module, const PassContext&) {
  Changes changes = 0;
  for (ir::GraphId g = 0; g < module.graphs.size(); ++g) {
    const auto nodes = module.graphs[g].nodes;
    for (ir::NodeId id : nodes) {
      const std::string& op = module.node(id).op;
      if (op != "Mul" && op != "Div" && op != "Clip") continue;
      const ir::Uses uses(module);
      Activation activation(module, uses);
      if (!activation.match(id)) continue;
      replace(module, activation.nodes, id, std::move(activation.spec));
      ++changes;
    }
  }
  return changes;
}

}  // namespace tvc::passes
