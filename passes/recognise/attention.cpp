// SPDX-License-Identifier: Apache-2.0
// MatMul(Softmax(Where(mask, MatMul(a q, (b k)^T) * c + bias, masked)), v) = tvc.Attention(q, k, v, bias, mask): scale,
// bias and mask may be missing, scalars may stand on either operand or on the scores, transpositions of q, k, v and of
// the result become the node's own (lib/ops/attention.cpp). Only where nobody else reads the scores or their softmax.
#include <algorithm>
#include <numeric>
#include <optional>

#include "ops/op_def.h"
#include "passes/pass.h"

namespace tvc::passes {
namespace {

struct Match {
  std::vector<ir::NodeId> inner;  // from the scores' product to the last one, without transpositions around
  ir::ValueId q = ir::kNone, k = ir::kNone, v = ir::kNone, bias = ir::kNone, mask = ir::kNone;
  std::vector<int64_t> q_perm, k_perm, v_perm, y_perm;
  double scale = 1, masked = 0;
  bool mask_is_inverted = false, zero_nan = false;
};

std::optional<double> scalar_of(const ir::Module& module, ir::ValueId id) {
  const ir::Tensor* c = module.constant(id);
  if (c == nullptr || c->dtype != ir::DType::kF32 || c->count() != 1) return std::nullopt;
  return ir::to_f64(*c)[0];
}

class Matcher {
 public:
  Matcher(const ir::Module& module, const ir::Uses& uses) : module_(module), uses_(uses) {}

  // id: a Softmax.
  std::optional<Match> match(ir::NodeId id) {
    const ir::Node& softmax = module_.node(id);
    const ir::Type& scores = module_.value(softmax.inputs[0]).type;
    const int rank = scores.rank();
    const int64_t axis = softmax.i("axis", -1);
    if (scores.dtype != ir::DType::kF32 || rank < 2 || rank > 4 || (axis != -1 && axis != rank - 1))
      return std::nullopt;
    scores_ = scores.shape;
    m_ = Match{};
    m_.inner = {id};
    if (!walk_scores(softmax.inputs[0]) || !find_product(softmax.outputs[0])) return std::nullopt;
    return m_;
  }

 private:
  const ir::Node* producer(ir::ValueId value, std::string_view op) const {
    const ir::NodeId node = value == ir::kNone ? ir::kNone : module_.value(value).producer;
    return node != ir::kNone && module_.node(node).op == op ? &module_.node(node) : nullptr;
  }

  bool own(ir::ValueId value) const {
    return uses_.single(module_, value) && module_.value(value).type.shape == scores_;
  }

  // From the softmax's operand down to the product of q and k: mask, then bias, then scale.
  bool walk_scores(ir::ValueId x) {
    if (!own(x)) return false;
    if (const ir::Node* where = producer(x, "Where")) {
      const auto if_true = scalar_of(module_, where->inputs[1]), if_false = scalar_of(module_, where->inputs[2]);
      if (if_true.has_value() == if_false.has_value()) return false;
      m_.mask = where->inputs[0];
      m_.mask_is_inverted = if_true.has_value();
      m_.masked = if_true ? *if_true : *if_false;
      m_.inner.push_back(module_.value(x).producer);
      x = where->inputs[if_true ? 2 : 1];
      if (!own(x)) return false;
    }
    if (const ir::Node* add = producer(x, "Add")) {
      for (size_t side : {0, 1})
        if (own(add->inputs[side]) && is_scaled_product(add->inputs[side]) && fits(add->inputs[1 - side])) {
          m_.bias = add->inputs[1 - side];
          m_.inner.push_back(module_.value(x).producer);
          return walk_product(add->inputs[side]);
        }
      return false;
    }
    return walk_product(x);
  }

  // A bias that does not widen the scores.
  bool fits(ir::ValueId bias) const {
    const ir::Type& type = module_.value(bias).type;
    return type.dtype == ir::DType::kF32 && type.shape.size() <= scores_.size();
  }

  // The operand of Mul or Div by a scalar, and the factor.
  std::optional<std::pair<ir::ValueId, double>> unscaled(ir::ValueId x) const {
    if (const ir::Node* mul = producer(x, "Mul")) {
      for (size_t side : {0, 1})
        if (auto c = scalar_of(module_, mul->inputs[side]);
            c && module_.value(mul->inputs[1 - side]).type == module_.value(x).type)
          return std::pair(mul->inputs[1 - side], *c);
    } else if (const ir::Node* div = producer(x, "Div")) {
      if (auto c = scalar_of(module_, div->inputs[1]);
          c && *c != 0 && module_.value(div->inputs[0]).type == module_.value(x).type)
        return std::pair(div->inputs[0], 1 / *c);
    }
    return std::nullopt;
  }

  bool is_scaled_product(ir::ValueId x) const {
    while (auto inner = unscaled(x)) x = inner->first;
    return producer(x, "MatMul") != nullptr;
  }

  bool walk_product(ir::ValueId x) {
    while (auto inner = unscaled(x)) {
      if (!own(inner->first)) return false;
      m_.scale *= inner->second;
      m_.inner.push_back(module_.value(x).producer);
      x = inner->first;
    }
    const ir::Node* product = producer(x, "MatMul");
    if (product == nullptr || product->has("epilogue")) return false;
    for (ir::ValueId input : product->inputs)
      if (module_.value(input).type.shape.size() != scores_.size()) return false;
    m_.inner.push_back(module_.value(x).producer);
    m_.q_perm = identity();
    m_.k_perm = identity();
    std::swap(m_.k_perm[m_.k_perm.size() - 1], m_.k_perm[m_.k_perm.size() - 2]);
    m_.q = source(product->inputs[0], m_.q_perm, &m_.scale);
    m_.k = source(product->inputs[1], m_.k_perm, &m_.scale);
    return true;
  }

  std::vector<int64_t> identity() const {
    std::vector<int64_t> perm(scores_.size());
    std::iota(perm.begin(), perm.end(), 0);
    return perm;
  }

  // What x is before transpositions, which go into perm, and scalar factors, which go into scale if that is wanted.
  ir::ValueId source(ir::ValueId x, std::vector<int64_t>& perm, double* scale) const {
    for (;;) {
      const ir::Node* transpose = producer(x, "Transpose");
      if (auto own_perm = transpose ? transpose->ints("perm") : std::vector<int64_t>{};
          own_perm.size() == perm.size()) {
        for (int64_t& axis : perm) axis = own_perm[static_cast<size_t>(axis)];
        x = transpose->inputs[0];
        continue;
      }
      auto inner = scale != nullptr ? unscaled(x) : std::nullopt;
      if (!inner) return x;
      *scale *= inner->second;
      x = inner->first;
    }
  }

  // From the softmax up to the product with v.
  bool find_product(ir::ValueId weights) {
    if (!skip_nan_check(weights) || !uses_.single(module_, weights)) return false;
    const ir::NodeId reader = uses_.of(weights)[0].node;
    const ir::Node& product = module_.node(reader);
    if (product.op != "MatMul" || product.inputs[0] != weights || product.has("epilogue")) return false;
    const ir::Type& v = module_.value(product.inputs[1]).type;
    if (v.shape.size() != scores_.size()) return false;
    m_.inner.push_back(reader);
    m_.v_perm = identity();
    m_.v = source(product.inputs[1], m_.v_perm, nullptr);
    m_.y_perm = identity();
    return true;
  }

  // Where(IsNaN(w), 0, w), as PyTorch writes attention whose mask may hide everything.
  bool skip_nan_check(ir::ValueId& weights) {
    const auto& readers = uses_.of(weights);
    if (readers.size() != 2) return true;
    for (const auto& use : readers) {
      if (use.node == ir::kNone || module_.node(use.node).op != "Where") continue;
      const ir::Node& where = module_.node(use.node);
      const ir::Node* is_nan = producer(where.inputs[0], "IsNaN");
      if (where.inputs[2] != weights || is_nan == nullptr || is_nan->inputs[0] != weights ||
          !uses_.single(module_, where.inputs[0]) || scalar_of(module_, where.inputs[1]) != 0.0)
        return false;
      m_.zero_nan = true;
      m_.inner.push_back(module_.value(where.inputs[0]).producer);
      m_.inner.push_back(use.node);
      weights = where.outputs[0];
      return true;
    }
    return false;
  }

  const ir::Module& module_;
  const ir::Uses& uses_;
  ir::Shape scores_;
  Match m_;
};

// The Transpose that alone reads y, if the rows of y stay whole in it.
ir::NodeId transposed(const ir::Module& module, const ir::Uses& uses, ir::ValueId y) {
  if (!uses.single(module, y)) return ir::kNone;
  const ir::NodeId reader = uses.of(y)[0].node;
  const auto perm = module.node(reader).ints("perm");
  const bool whole = !perm.empty() && perm.back() + 1 == static_cast<int64_t>(perm.size());
  return module.node(reader).op == "Transpose" && whole ? reader : ir::kNone;
}

void build(ir::Module& module, const ir::Uses& uses, Match m) {
  ir::NodeId last = m.inner.back();
  if (ir::NodeId turn = transposed(module, uses, module.node(last).outputs[0]); turn != ir::kNone) {
    m.y_perm = module.node(turn).ints("perm");
    m.inner.push_back(turn);
    last = turn;
  }
  const ir::ValueId y = module.node(last).outputs[0];
  const ir::GraphId graph = module.node(last).graph;
  if (m.mask_is_inverted)
    m.mask = module.node(ir::add_node(module, graph, {.op = "Not", .inputs = {m.mask}}, last)).outputs[0];
  std::vector<std::string> origin;
  for (ir::NodeId id : m.inner)
    origin.insert(origin.end(), module.node(id).origin.begin(), module.node(id).origin.end());
  const ir::NodeId node = ir::add_node(module, graph,
                                       {.op = "tvc.Attention",
                                        .inputs = {m.q, m.k, m.v, m.bias, m.mask},
                                        .attrs = {{"scale", m.scale},
                                                  {"masked", m.masked},
                                                  {"zero_nan", int64_t{m.zero_nan}},
                                                  {"q_perm", m.q_perm},
                                                  {"k_perm", m.k_perm},
                                                  {"v_perm", m.v_perm},
                                                  {"y_perm", m.y_perm}},
                                        .origin = std::move(origin)},
                                       last);
  const ir::ValueId result = module.node(node).outputs[0];
  module.value(result).type = module.value(y).type;
  ir::replace_uses(module, y, result);
  if (module.value(result).name.empty()) module.value(result).name = module.value(y).name;
  // Each is read only by the next one, so that from the last on nobody reads what goes.
  for (bool erased = true; erased;) {
    erased = false;
    for (ir::NodeId& id : m.inner)
      if (id != ir::kNone && ir::Uses(module).of(module.node(id).outputs[0]).empty()) {
        ir::erase_node(module, id);
        id = ir::kNone;
        erased = true;
      }
  }
}

}  // namespace

Result<Changes> recognise_attention(ir::Module& module, const PassContext&) {
  Changes changes = 0;
  for (ir::GraphId g = 0; g < module.graphs.size(); ++g) {
    const auto nodes = module.graphs[g].nodes;
    for (ir::NodeId id : nodes) {
      if (module.node(id).op != "Softmax") continue;
      const ir::Uses uses(module);
      auto match = Matcher(module, uses).match(id);
      if (!match) continue;
      build(module, uses, std::move(*match));
      ++changes;
    }
  }
  return changes;
}

}  // namespace tvc::passes
