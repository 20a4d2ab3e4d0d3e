// SPDX-License-Identifier: Apache-2.0
#include "codegen/contraction/product.h"

#include "codegen/contraction/tasks.h"

namespace tvc::codegen::contraction {
namespace {

ir::Shape aligned(const ir::Shape& batch, size_t rank) {
  ir::Shape out(rank - batch.size(), ir::Dim(1));
  out.insert(out.end(), batch.begin(), batch.end());
  return out;
}

}  // namespace

Product product_of(const ir::Module& module, ir::NodeId id) {
  const ir::Node& node = module.node(id);
  ir::Shape a = module.value(node.inputs[0]).type.shape, b = module.value(node.inputs[1]).type.shape;
  Product p;
  if (node.op == "Gemm") {
    p.transposed_a = node.i("transA", 0) != 0;
    p.transposed_b = node.i("transB", 0) != 0;
    p.alpha = node.f("alpha", 1), p.beta = node.f("beta", 1);
  }
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.emplace_back(1);
  p.rows = a[a.size() - (p.transposed_a ? 1 : 2)];
  p.depth = b[b.size() - (p.transposed_b ? 1 : 2)];
  p.columns = b[b.size() - (p.transposed_b ? 2 : 1)];
  ir::Shape batch_a(a.begin(), a.end() - 2), batch_b(b.begin(), b.end() - 2);
  if (ir::product(batch_b).is(1) && batch_b.size() <= batch_a.size() && !p.transposed_a) {
    p.rows = ir::product(batch_a) * p.rows;
    return p;
  }
  const size_t rank = std::max(batch_a.size(), batch_b.size());
  p.batch_a = aligned(batch_a, rank);
  p.batch_b = aligned(batch_b, rank);
  for (size_t k = 0; k < rank; ++k) p.batch.push_back(ir::broadcast(p.batch_a[k], p.batch_b[k]));
  return p;
}

ir::Shape batch_steps(const ir::Shape& operand_batch, const ir::Dim& matrix) {
  ir::Shape steps(operand_batch.size());
  ir::Dim step = matrix;
  for (size_t k = operand_batch.size(); k-- > 0;) {
    steps[k] = operand_batch[k].is(1) ? ir::Dim(0) : ir::if_eq(operand_batch[k], 1, 0, step);
    step = step * operand_batch[k];
  }
  return steps;
}

std::vector<float> packed_panels(const ir::Tensor& b, const Product& p) {
  const int64_t depth = *p.depth.as_constant(), columns = *p.columns.as_constant();
  const int64_t batches = depth * columns == 0 ? 0 : b.count() / (depth * columns);
  const int64_t blocks = (columns + kBlock - 1) / kBlock;
  std::vector<float> out(static_cast<size_t>(batches * blocks * depth * kBlock));
  auto from = b.as<float>();
  const auto alpha = static_cast<float>(p.alpha);
  for (int64_t i = 0; i < batches; ++i)
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t n = 0; n < columns; ++n) {
        const int64_t at = p.transposed_b ? n * depth + k : k * columns + n;
        out[static_cast<size_t>(((i * blocks + n / kBlock) * depth + k) * kBlock + n % kBlock)] =
            alpha * from[static_cast<size_t>(i * depth * columns + at)];
      }
  return out;
}

}  // namespace tvc::codegen::contraction
