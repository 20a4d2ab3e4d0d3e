// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan as C branches and loops. A result whose size follows from the input symbols has arena storage into
// which the body's value is copied; another owns a pool block, which a body hands over.
#include <algorithm>

#include "codegen/host/emitter.h"
#include "ops/loops.h"
#include "ops/op_def.h"

namespace tvc::codegen {

void Emitter::declare_pooled(ir::ValueId value, bool) {
  auto& slot = slots_[value];
  slot.declared = slot.pooled = true;
  touch(value);
  program.line(fmt::format("char* v{} = NULL;", value));
}

// Storage of an If's or Loop's result, with the sizes that only its body knows as mutable locals.
void Emitter::declare_result(ir::ValueId value) {
  const auto& type = module.value(value).type;
  if (type.kind != ir::Kind::kTensor) {
    slots_[value].declared = true;
    touch(value);
    program.line(fmt::format("tvrt_value t{} = {{0}};", value));
    return;
  }
  for (int axis = 0; axis < type.rank(); ++axis) {
    std::string symbol = fmt::format("u{}_{}", value, axis);
    if (type.shape[static_cast<size_t>(axis)] == ir::Dim::symbol(symbol))
      program.line(fmt::format("int64_t d_{0} = 0; (void)d_{0};", symbol));
  }
  if (at_prepare(type)) declare(value);
  else declare_pooled(value, true);
}

void Emitter::assign_sizes(ir::ValueId from, ir::ValueId to) {
  const auto &source = module.value(from).type, &type = module.value(to).type;
  std::string later;
  for (int axis = 0; axis < type.rank() && axis < source.rank(); ++axis) {
    auto k = static_cast<size_t>(axis);
    std::string symbol = fmt::format("u{}_{}", to, axis);
    if (type.shape[k] != ir::Dim::symbol(symbol)) continue;
    std::string local = fmt::format("l{}", locals_++);
    program.line(fmt::format("const int64_t {} = {};", local, size(source.shape[k])));
    later += fmt::format("d_{} = {}; ", symbol, local);
  }
  if (!later.empty()) program.line(later);
}

void Emitter::transfer(ir::ValueId from, ir::ValueId to, ir::GraphId from_graph) {
  const auto& type = module.value(to).type;
  if (type.kind != ir::Kind::kTensor) {
    touch(from);
    program.line(fmt::format("t{} = t{};", to, from));
    return;
  }
  std::string bytes = size(bytes_of(module.value(from).type));
  std::string source = raw(from);
  if (!slots_[to].pooled) {
    program.line(fmt::format("if (v{0} != {1}) memmove(v{0}, {1}, (size_t)({2}));", to, source, bytes));
    assign_sizes(from, to);
    return;
  }
  ir::ValueId owner = module.value(from).constant ? from : root(from);
  bool owned = slots_[owner].pooled && !slots_[owner].moved && module.value(owner).graph == from_graph &&
               module.value(owner).producer != ir::kNone;
  std::string block = fmt::format("l{}", locals_++);
  if (owned) {
    slots_[owner].moved = true;
    program.line(fmt::format("char* {} = v{};", block, owner));
  } else {
    acquire(block, bytes, true);
    program.line(fmt::format("memcpy({}, {}, (size_t)({}));", block, source, bytes));
  }
  program.line(fmt::format("if (v{0}) f->host->release(f, v{0});", to));
  program.line(fmt::format("v{} = {};", to, block));
  assign_sizes(from, to);
}

// The value itself, once the condition that its rank rests on holds.
Result<void> Emitter::emit_guard(ir::NodeId id) {
  const auto& node = module.node(id);
  program.line(
      fmt::format("if (!*{}) return f->host->fail(f, TVRT_RUN_FAILED, \"a size decides the rank of a value, and "
                  "the code is for another size: {}\");",
                  pointer(node.inputs[1], false), comment_text(node.label())));
  share_or_copy(node.inputs[0], node.outputs[0]);
  return {};
}

Result<void> Emitter::emit_if(ir::NodeId id) {
  const auto& node = module.node(id);
  for (auto out : node.outputs)
    if (out != ir::kNone) declare_result(out);
  const char* const branches[] = {"then_branch", "else_branch"};
  for (int b = 0; b < 2; ++b) {
    auto graph = node.subgraph(branches[b]);
    if (!graph) return bad_input("If has no {}", branches[b]);
    program.open(b == 0 ? fmt::format("if (*{})", pointer(node.inputs[0], false)) : "else");
    TVC_CHECK_OK(emit_graph(*graph));
    const auto& results = module.graphs[*graph].outputs;
    for (size_t k = 0; k < node.outputs.size() && k < results.size(); ++k)
      if (node.outputs[k] != ir::kNone) transfer(results[k], node.outputs[k], *graph);
    program.close();
  }
  return {};
}

// Appends the body's value to a growing block.
void Emitter::append_scan(const ScanResult& s) {
  std::string bytes = size(bytes_of(module.value(s.body).type));
  std::string source = raw(s.body), need = fmt::format("l{}", locals_++), grown = fmt::format("l{}", locals_++);
  program.line(fmt::format("const int64_t {} = {};", need, bytes));
  if (s.capacity.empty()) {  // the number of iterations is known: the storage is there
    program.line(fmt::format("memcpy(v{} + {} * {}, {}, (size_t){});", s.out, s.count, need, source, need));
    return;
  }
  program.open(fmt::format("if (({} + 1) * {} > {} || !v{})", s.count, need, s.capacity, s.out));
  program.line(fmt::format("{0} = tv_size_max(2 * {0}, 16 * {1});", s.capacity, need));
  acquire(grown, s.capacity, true);
  program.open(fmt::format("if (v{})", s.out));
  program.line(fmt::format("memcpy({}, v{}, (size_t)({} * {}));", grown, s.out, s.count, need));
  program.line(fmt::format("f->host->release(f, v{});", s.out));
  program.close();
  program.line(fmt::format("v{} = {};", s.out, grown));
  program.close();
  program.line(fmt::format("memcpy(v{} + {} * {}, {}, (size_t){});", s.out, s.count, need, source, need));
}

Result<void> Emitter::emit_loop(ir::NodeId id) {
  const auto& node = module.node(id);
  auto graph = node.subgraph("body");
  if (!graph) return bad_input("Loop has no body");
  const auto& body = module.graphs[*graph];
  size_t carried = node.inputs.size() < 2 ? 0 : node.inputs.size() - 2;
  if (body.inputs.size() != carried + 2 || body.outputs.size() < carried + 1)
    return bad_input("Loop's body does not fit its inputs");
  std::string it = fmt::format("l{}", locals_++), trips = fmt::format("l{}", locals_++),
              go = fmt::format("l{}", locals_++);
  program.line(fmt::format("const int64_t {} = {};", trips,
                           node.input(0) == ir::kNone ? "INT64_MAX" : "*" + pointer(node.inputs[0], false)));
  program.line(
      fmt::format("uint8_t {} = {};", go, node.input(1) == ir::kNone ? "1" : "*" + pointer(node.inputs[1], false)));
  // Carried values live in the storage of the Loop's outputs; a body's input is a view of it.
  std::vector<ir::ValueId> homes;
  const std::vector<bool> fresh = ops::overwritten(ops::NodeView(module, id));
  for (size_t k = 0; k < carried; ++k) {
    auto in = body.inputs[k + 2];
    auto home = node.output(k) != ir::kNone ? node.outputs[k] : in;
    homes.push_back(home);
    declare_result(home);
    if (home != in) {
      const auto& type = module.value(in).type;
      for (int axis = 0; axis < type.rank(); ++axis) {
        std::string symbol = fmt::format("u{}_{}", in, axis);
        if (type.kind == ir::Kind::kTensor && type.shape[static_cast<size_t>(axis)] == ir::Dim::symbol(symbol))
          program.line(fmt::format("int64_t d_{0} = 0; (void)d_{0};", symbol));
      }
    }
    if (node.inputs[k + 2] == ir::kNone) return unsupported("Loop with an omitted initial value");
    if (fresh[k]) continue;
    transfer(node.inputs[k + 2], home, ir::kNone);
    assign_sizes(node.inputs[k + 2], in);
  }
  std::vector<ScanResult> scans;
  std::string count = fmt::format("l{}", locals_++);
  program.line(fmt::format("int64_t {0} = 0; (void){0};", count));
  for (size_t k = carried; k < node.outputs.size(); ++k) {
    if (node.outputs[k] == ir::kNone) continue;
    ScanResult s{node.outputs[k], body.outputs[k + 1], count, ""};
    const auto& type = module.value(s.out).type;
    const bool counted = std::none_of(type.shape.begin(), type.shape.end(), [&](const ir::Dim& d) {
      const std::string* symbol = d.as_symbol();
      return symbol != nullptr && symbol->starts_with(fmt::format("u{}_", s.out));
    });
    if (counted) {
      declare(s.out);
      scans.push_back(s);
      continue;
    }
    s.capacity = fmt::format("l{}", locals_++);
    for (int axis = 0; axis < type.rank(); ++axis)
      if (type.shape[static_cast<size_t>(axis)] == ir::Dim::symbol(fmt::format("u{}_{}", s.out, axis)))
        program.line(fmt::format("int64_t d_u{}_{} = 0;", s.out, axis));
    declare_pooled(s.out, true);
    program.line(fmt::format("int64_t {} = 0;", s.capacity));
    scans.push_back(s);
  }
  program.open(fmt::format("for (int64_t {0} = 0; {0} < {1} && {2}; ++{0})", it, trips, go));
  auto bind_scalar = [&](ir::ValueId value, const std::string& local) {
    slots_[value].declared = true;
    program.line(fmt::format("char* v{0} = (char*)&{1}; (void)v{0};", value, local));
    bind_elements(value);
  };
  bind_scalar(body.inputs[0], it);
  bind_scalar(body.inputs[1], go);
  for (size_t k = 0; k < carried; ++k) {
    auto in = body.inputs[k + 2];
    bool tensor = module.value(in).type.kind == ir::Kind::kTensor;
    if (homes[k] != in) {
      slots_[in].declared = true;
      slots_[in].alias_of = homes[k];
      touch(in);
      program.line(tensor ? fmt::format("char* v{0} = v{1}; (void)v{0};", in, homes[k])
                          : fmt::format("tvrt_value t{0} = t{1}; (void)t{0};", in, homes[k]));
    }
    if (tensor) bind_elements(in);
  }
  TVC_CHECK_OK(emit_graph(*graph));
  for (const auto& s : scans) append_scan(s);
  std::string next_go = fmt::format("l{}", locals_++);
  program.line(fmt::format("const uint8_t {} = *{};", next_go, pointer(body.outputs[0], false)));
  TVC_CHECK_OK(carry_over(body, *graph, homes));
  program.line(fmt::format("{} = {}; ++{};", go, next_go, count));
  for (const auto& s : scans)
    if (!s.capacity.empty()) assign_scan_sizes(s);
  program.close();
  for (const auto& s : scans) {
    if (s.capacity.empty()) continue;
    const ir::Dim own = ir::Dim::symbol(fmt::format("u{}_0", s.out));
    if (module.value(s.out).type.shape[0] == own) program.line(fmt::format("d_u{}_0 = {};", s.out, count));
    program.open(fmt::format("if (!v{})", s.out));
    acquire("v" + std::to_string(s.out), "64", false);
    program.close();
  }
  return {};
}

// The inner sizes of a scan result are those of the body's value.
void Emitter::assign_scan_sizes(const ScanResult& s) {
  const auto &out = module.value(s.out).type, &item = module.value(s.body).type;
  for (int axis = 1; axis < out.rank(); ++axis) {
    std::string symbol = fmt::format("u{}_{}", s.out, axis);
    if (out.shape[static_cast<size_t>(axis)] == ir::Dim::symbol(symbol))
      program.line(fmt::format("d_{} = {};", symbol, size(item.shape[static_cast<size_t>(axis - 1)])));
  }
}

// Hands the body's results to the next iteration. A result that lies in another carried value's storage is set aside
// first, for that storage may be overwritten before its turn.
Result<void> Emitter::carry_over(const ir::Graph& body, ir::GraphId graph, const std::vector<ir::ValueId>& homes) {
  std::vector<std::string> aside(homes.size());
  for (size_t k = 0; k < homes.size(); ++k) {
    auto from = body.outputs[k + 1];
    if (module.value(from).type.kind != ir::Kind::kTensor || module.value(from).constant) continue;
    auto owner = root(from);
    bool foreign = owner != homes[k] && std::find(homes.begin(), homes.end(), owner) != homes.end();
    if (!foreign) continue;
    aside[k] = fmt::format("l{}", locals_++);
    std::string bytes = size(bytes_of(module.value(from).type));
    acquire(aside[k], bytes, true);
    program.line(fmt::format("memcpy({}, {}, (size_t)({}));", aside[k], raw(from), bytes));
  }
  for (size_t k = 0; k < homes.size(); ++k) {
    auto from = body.outputs[k + 1];
    const auto& type = module.value(from).type;
    if (aside[k].empty()) {
      if (type.kind != ir::Kind::kTensor || module.value(from).constant || root(from) != homes[k])
        transfer(from, homes[k], graph);
    } else if (slots_[homes[k]].pooled) {
      program.line(fmt::format("f->host->release(f, v{0}); v{0} = {1};", homes[k], aside[k]));
      assign_sizes(from, homes[k]);
    } else {
      program.line(fmt::format("memcpy(v{}, {}, (size_t)({})); f->host->release(f, {});", homes[k], aside[k],
                               size(bytes_of(type)), aside[k]));
    }
  }
  // All new sizes are computed from the old ones before any of them changes.
  std::string later;
  for (size_t k = 0; k < homes.size(); ++k) {
    auto from = body.outputs[k + 1], in = body.inputs[k + 2];
    const auto &source = module.value(from).type, &type = module.value(in).type;
    if (homes[k] == in || type.kind != ir::Kind::kTensor) continue;
    for (int axis = 0; axis < type.rank() && axis < source.rank(); ++axis) {
      std::string symbol = fmt::format("u{}_{}", in, axis);
      if (type.shape[static_cast<size_t>(axis)] != ir::Dim::symbol(symbol)) continue;
      std::string local = fmt::format("l{}", locals_++);
      program.line(fmt::format("const int64_t {} = {};", local, size(source.shape[static_cast<size_t>(axis)])));
      later += fmt::format("d_{} = {}; ", symbol, local);
    }
  }
  if (!later.empty()) program.line(later);
  return {};
}

}  // namespace tvc::codegen
