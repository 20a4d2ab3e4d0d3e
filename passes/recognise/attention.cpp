// SPDX-License-Identifier: Apache-2.0
// MatMul(Softmax(Where(mask, MatMul(a q, (b k)^T) * c + bias, masked)), v) = tvc.Attention(q, k, v, bias, mask): scale,
// bias and mask may be missing, scalars may stand on either operand or on the scores, transpositions of q, k, v and of
// the result become the node's own (lib/ops/attention.cpp). Only where nobody else reads the scores or their softmax.
#include <algorithm>
#include <numeric>
#include <optional>

#include "passes/pass.h"
#include "passes/recognise/replace.h"

namespace tvc::passes {
namespace {

using namespace recognise;

struct Match {
  Nodes inner;  // from the scores' product to the last one, without transpositions around
  ir::NodeId last = ir::kNone;
  ir::ValueId q = ir::kNone, k = ir::kNone, v = ir::kNone, bias = ir::kNone, mask = ir::kNone;
  std::vector<int64_t> q_perm, k_perm, v_perm, y_perm;
  double scale = 1, masked = 0;
  bool mask_is_inverted = false, zero_nan = false;
};

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
  bool own(ir::ValueId value) const {
    return uses_.single(module_, value) && module_.value(value).type.shape == scores_;
  }

  // From the softmax's operand down to the product of q and k: mask, then bias, then scale.
  bool walk_scores(ir::ValueId x) {
    if (!own(x)) return false;
    if (const ir::Node* where = producer(module_, x, "Where")) {
      const auto if_true = scalar(module_, where->inputs[1]), if_false = scalar(module_, where->inputs[2]);
      if (if_true.has_value() == if_false.has_value()) return false;
      m_.mask = where->inputs[0];
      m_.mask_is_inverted = if_true.has_value();
      m_.masked = if_true ? *if_true : *if_false;
      m_.inner.insert(module_.value(x).producer);
      x = where->inputs[if_true ? 2 : 1];
      if (!own(x)) return false;
    }
    if (const ir::Node* add = producer(module_, x, "Add")) {
      for (size_t side : {0, 1})
        if (own(add->inputs[side]) && is_scaled_product(add->inputs[side]) && fits(add->inputs[1 - side])) {
          m_.bias = add->inputs[1 - side];
          m_.inner.insert(module_.value(x).producer);
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
    if (const ir::Node* mul = producer(module_, x, "Mul")) {
      for (size_t side : {0, 1})
        if (auto c = scalar(module_, mul->inputs[side]);
            c && module_.value(mul->inputs[1 - side]).type == module_.value(x).type)
          return std::pair(mul->inputs[1 - side], *c);
    } else if (const ir::Node* div = producer(module_, x, "Div")) {
      if (auto c = scalar(module_, div->inputs[1]);
          c && *c != 0 && module_.value(div->inputs[0]).type == module_.value(x).type)
        return std::pair(div->inputs[0], 1 / *c);
    }
    return std::nullopt;
  }

  bool is_scaled_product(ir::ValueId x) const {
    while (auto inner = unscaled(x)) x = inner->first;
    return producer(module_, x, "MatMul") != nullptr;
  }

  bool walk_product(ir::ValueId x) {
    while (auto inner = unscaled(x)) {
      if (!own(inner->first)) return false;
      m_.scale *= inner->second;
      m_.inner.insert(module_.value(x).producer);
      x = inner->first;
    }
    const ir::Node* product = producer(module_, x, "MatMul");
    if (product == nullptr || product->has("epilogue")) return false;
    for (ir::ValueId input : product->inputs)
      if (module_.value(input).type.shape.size() != scores_.size()) return false;
    m_.inner.insert(module_.value(x).producer);
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
      const ir::Node* transpose = producer(module_, x, "Transpose");
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
    m_.inner.insert(reader);
    m_.last = reader;
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
      const ir::Node* is_nan = producer(module_, where.inputs[0], "IsNaN");
      if (where.inputs[2] != weights || is_nan == nullptr || is_nan->inputs[0] != weights ||
          !uses_.single(module_, where.inputs[0]) || scalar(module_, where.inputs[1]) != 0.0)
        return false;
      m_.zero_nan = true;
      m_.inner.insert(module_.value(where.inputs[0]).producer);
      m_.inner.insert(use.node);
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
  if (ir::NodeId turn = transposed(module, uses, module.node(m.last).outputs[0]); turn != ir::kNone) {
    m.y_perm = module.node(turn).ints("perm");
    m.inner.insert(turn);
    m.last = turn;
  }
  if (m.mask_is_inverted) {
    const ir::GraphId graph = module.node(m.last).graph;
    m.mask = module.node(ir::add_node(module, graph, {.op = "Not", .inputs = {m.mask}}, m.last)).outputs[0];
  }
  replace(module, m.inner, m.last,
          {.op = "tvc.Attention",
           .inputs = {m.q, m.k, m.v, m.bias, m.mask},
           .attrs = {{"scale", m.scale},
                     {"masked", m.masked},
                     {"zero_nan", int64_t{m.zero_nan}},
                     {"q_perm", m.q_perm},
                     {"k_perm", m.k_perm},
                     {"v_perm", m.v_perm},
                     {"y_perm", m.y_perm}}});
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
