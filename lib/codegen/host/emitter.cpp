// SPDX-License-Identifier: Apache-2.0
#include "codegen/host/emitter.h"

#include <algorithm>

#include "ops/op_def.h"

namespace tvc::codegen {
namespace {

// The deepest graph nesting is small; a node's ordinal tells its place in emission order.
constexpr int kForever = 1 << 30;

}  // namespace

std::string c_type(ir::DType dtype) {
  using D = ir::DType;
  switch (dtype) {
    case D::kF32: return "float";
    case D::kF64: return "double";
    case D::kI8: return "int8_t";
    case D::kI16: return "int16_t";
    case D::kI32: return "int32_t";
    case D::kI64: return "int64_t";
    case D::kU16:
    case D::kF16:
    case D::kBF16: return "uint16_t";
    case D::kU32: return "uint32_t";
    case D::kU64: return "uint64_t";
    case D::kC64: return "tv_c64";
    case D::kC128: return "tv_c128";
    case D::kString: return "tvrt_string";
    default: return "uint8_t";
  }
}

std::string comment_text(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 80)) out += (c >= 32 && c < 127 && c != '*' && c != '/' && c != '\\') ? c : '.';
  return out;
}

Emitter::Emitter(const ir::Module& m, const Target& t, HostProgram& p, Diagnostics& d)
    : module(m),
      target(t),
      program(p),
      diagnostics(d),
      slots_(m.values.size()),
      current_node_(m.graphs.size(), -1),
      reader_counts_(m.values.size()) {
  for (const auto& s : m.symbols) input_symbols_.insert(s.name);
}

bool Emitter::at_prepare(const ir::Dim& dim) const {
  std::set<std::string> names;
  ir::collect_symbols(dim, names);
  return std::all_of(names.begin(), names.end(), [&](const auto& n) {
    if (input_symbols_.count(n) > 0) return true;
    auto it = module.definitions.find(n);
    return it != module.definitions.end() && at_prepare(it->second);
  });
}

bool Emitter::at_prepare(const ir::Type& type) const {
  return std::all_of(type.shape.begin(), type.shape.end(), [&](const auto& d) { return at_prepare(d); });
}

ir::Dim Emitter::bytes_of(const ir::Type& type) const {
  if (type.dtype == ir::DType::kString) return ir::product(type.shape) * ir::Dim(16);
  int bits = ir::bit_width(type.dtype);
  ir::Dim count = ir::product(type.shape);
  return bits >= 8 ? count * ir::Dim(bits / 8) : ir::ceil_div(count * ir::Dim(bits), ir::Dim(8));
}

std::string Emitter::size(const ir::Dim& dim) const {
  return ir::c_text(dim, [](const std::string& symbol) { return "d_" + symbol; });
}

ir::ValueId Emitter::root(ir::ValueId value) const {
  while (slots_[value].alias_of != ir::kNone) value = slots_[value].alias_of;
  return value;
}

void Emitter::touch(ir::ValueId value) {
  for (ir::ValueId id = value;; id = slots_[id].alias_of) {
    slots_[id].last_node = std::max(slots_[id].last_node, current_node_[module.value(id).graph]);
    if (slots_[id].alias_of == ir::kNone) break;
  }
}

std::string Emitter::raw(ir::ValueId value) {
  const auto& v = module.value(value);
  if (v.constant) {
    if (v.type.dtype == ir::DType::kString) return fmt::format("((char*){})", string_table(value));
    if (v.constant->bytes.empty()) return "w";
    return fmt::format("(w + {})", program.weights.add(v.constant->bytes, v.constant));
  }
  touch(value);
  return "v" + std::to_string(value);
}

std::string Emitter::pointer(ir::ValueId value, bool writable) {
  return fmt::format("(({}{}*){})", writable ? "" : "const ", c_type(module.value(value).type.dtype), raw(value));
}

std::string Emitter::scratch(const ir::Dim& bytes, bool per_thread) {
  if (!at_prepare(bytes)) {
    std::string local = fmt::format("l{}", locals_++);
    acquire(local, per_thread ? fmt::format("{} * f->threads", size(bytes)) : size(bytes), true);
    scratch_blocks_.push_back(local);
    return local;
  }
  return fmt::format("(f->arena + f->offsets[{}])", program.add_buffer(bytes, per_thread));
}

bool Emitter::dies_at(ir::ValueId value, ir::NodeId reader) const {
  const auto& slot = slots_[value];
  if (slot.buffer < 0 || slot.alias_of != ir::kNone || reader_counts_[value] != 1) return false;
  return module.value(value).graph == module.node(reader).graph;
}

void Emitter::share(ir::ValueId value, ir::ValueId with) {
  slots_[value].alias_of = with;
  slots_[value].declared = true;
  touch(value);
  program.line(fmt::format("char* v{} = {};", value, raw(with)));
}

// A view: the same storage, but an output of the model never lies in what is the caller's.
void Emitter::share_or_copy(ir::ValueId from, ir::ValueId to) {
  if (module.value(to).type.kind != ir::Kind::kTensor) {
    slots_[to].declared = true;
    touch(from);
    program.line(fmt::format("tvrt_value t{} = t{};", to, from));
    return;
  }
  bool caller_owns = module.value(from).constant || module.value(root(from)).producer == ir::kNone;
  const auto& outputs = module.main().outputs;
  if (caller_owns && std::find(outputs.begin(), outputs.end(), to) != outputs.end()) {
    declare(to);
    program.line(
        fmt::format("memcpy({}, {}, (size_t)({}));", raw(to), raw(from), size(bytes_of(module.value(to).type))));
  } else {
    share(to, from);
  }
}

void Emitter::acquire(const std::string& local, const std::string& bytes, bool declare_local) {
  program.line(fmt::format("{}{} = f->host->acquire(f, {});", declare_local ? "char* " : "", local, bytes));
  program.line(fmt::format("if (!{}) return TVRT_OUT_OF_MEMORY;", local));
}

void Emitter::declare(ir::ValueId value) {
  auto& slot = slots_[value];
  if (slot.declared) return;
  const auto& v = module.value(value);
  slot.declared = true;
  touch(value);
  const auto& outputs = module.main().outputs;
  auto output = std::find(outputs.begin(), outputs.end(), value);
  bool is_output = output != outputs.end();
  std::string bytes = size(bytes_of(v.type));
  if (at_prepare(v.type)) {
    slot.buffer = program.add_buffer(bytes_of(v.type), false);
    program.line(fmt::format("char* v{} = (char*)f->arena + f->offsets[{}];", value, slot.buffer));
    if (is_output) {
      auto k = output - outputs.begin();
      program.line(fmt::format("if (f->outputs[{0}].data && f->outputs[{0}].bytes >= {1}) v{2} = f->outputs[{0}].data;",
                               k, bytes, value));
      slot.last_node = kForever;
    }
  } else {
    slot.pooled = true;
    slot.moved = is_output;  // stays until the next run
    acquire("v" + std::to_string(value), bytes, true);
  }
}

void Emitter::bind_elements(ir::ValueId value) {
  for (size_t k = 0; k < 64; ++k) {
    std::string symbol = fmt::format("e{}_{}", value, k);
    if (!needed_.symbols.count(symbol)) continue;
    program.line(fmt::format("const int64_t d_{} = {}[{}];", symbol, pointer(value, false), k));
  }
}

void Emitter::emit_known(ir::ValueId value) {
  const auto& v = module.value(value);
  declare(value);
  std::string data = pointer(value, true);
  for (size_t k = 0; k < v.known.size(); ++k) program.line(fmt::format("{}[{}] = {};", data, k, size(v.known[k])));
}

void Emitter::emit_inputs() {
  const auto& inputs = module.main().inputs;
  for (size_t s = 0; s < module.symbols.size(); ++s)
    program.line(fmt::format("const int64_t d_{} = f->symbols[{}]; (void)d_{};", module.symbols[s].name, s,
                             module.symbols[s].name));
  for (size_t k = 0; k < inputs.size(); ++k) {
    auto id = inputs[k];
    slots_[id].declared = true;
    const auto& type = module.value(id).type;
    if (type.kind == ir::Kind::kTensor) {
      program.line(fmt::format("char* v{0} = f->inputs[{1}].data; (void)v{0};", id, k));
      for (int axis = 0; axis < type.rank(); ++axis) {
        std::string symbol = fmt::format("u{}_{}", id, axis);
        if (needed_.symbols.count(symbol))
          program.line(fmt::format("const int64_t d_{} = f->inputs[{}].dims[{}];", symbol, k, axis));
      }
      bind_elements(id);
    } else {
      program.line(fmt::format("tvrt_value t{0} = f->inputs[{1}]; (void)t{0};", id, k));
    }
  }
}

void Emitter::emit_outputs() {
  const auto& outputs = module.main().outputs;
  for (size_t k = 0; k < outputs.size(); ++k) {
    auto id = outputs[k];
    const auto& type = module.value(id).type;
    if (type.kind != ir::Kind::kTensor) {
      program.line(fmt::format("f->outputs[{}] = t{};", k, id));
      continue;
    }
    // A view of a buffer that the caller's buffer could not replace is copied there at the end.
    bool borrowed = root(id) != id || slots_[id].pooled || slots_[id].buffer < 0;
    std::string bytes = size(bytes_of(type));
    std::string data = raw(id);
    if (borrowed) {
      program.line(fmt::format(
          "if (f->outputs[{0}].data && f->outputs[{0}].bytes >= {1}) memcpy(f->outputs[{0}].data, {2}, (size_t)({1}));",
          k, bytes, data));
      program.line(fmt::format("else f->outputs[{}].data = (void*){};", k, data));
    } else {
      program.line(fmt::format("f->outputs[{}].data = {};", k, data));
    }
    slots_[root(id)].last_node = kForever;
    if (slots_[root(id)].pooled) slots_[root(id)].moved = true;
    program.line(
        fmt::format("f->outputs[{0}].kind = TVRT_KIND_TENSOR; f->outputs[{0}].dtype = {1}; f->outputs[{0}].rank = {2};",
                    k, static_cast<int>(type.dtype), type.rank()));
    for (int axis = 0; axis < type.rank(); ++axis)
      program.line(fmt::format("f->outputs[{}].dims[{}] = {};", k, axis, size(type.shape[static_cast<size_t>(axis)])));
  }
}

Result<void> Emitter::emit() {
  TVC_TRY(needed_, find_needed(module, target));
  ir::Uses uses(module);
  for (ir::ValueId id = 0; id < module.values.size(); ++id) {
    int count = 0;
    for (const auto& use : uses.of(id)) count += use.node == ir::kNone ? 2 : 1;
    reader_counts_[id] = count;
  }
  head_ = program.marker();
  emit_inputs();
  TVC_CHECK_OK(emit_graph(0));
  emit_outputs();
  ++program.step;
  release_dead();
  return {};
}

// Buffers learn their last step; pool blocks are released after their last reader.
void Emitter::release_dead() {
  for (ir::ValueId id = 0; id < slots_.size(); ++id) {
    auto& slot = slots_[id];
    if (slot.alias_of != ir::kNone) continue;
    int last = slot.last_node;
    bool forever = last < 0 || last >= static_cast<int>(node_ends_.size());
    if (slot.buffer >= 0) {
      auto& buffer = program.buffers[static_cast<size_t>(slot.buffer)];
      buffer.last = std::max(buffer.last, forever ? program.step : node_ends_[static_cast<size_t>(last)].second);
    }
    if (slot.pooled && !slot.moved && !forever)
      program.at_marker(node_ends_[static_cast<size_t>(last)].first, fmt::format("f->host->release(f, v{});", id));
  }
}

Result<void> Emitter::emit_graph(ir::GraphId graph) {
  for (auto id : module.graphs[graph].nodes) TVC_CHECK_OK(emit_node(id));
  return {};
}

Result<void> Emitter::emit_node(ir::NodeId id) {
  const auto& node = module.node(id);
  bool runs = needed_.nodes.count(id) > 0;
  bool known = std::any_of(node.outputs.begin(), node.outputs.end(),
                           [&](auto out) { return out != ir::kNone && needed_.known.count(out); });
  if (!runs && !known) return {};
  int ordinal = static_cast<int>(node_ends_.size());
  node_ends_.emplace_back();
  current_node_[node.graph] = ordinal;
  ++program.step;
  program.line(fmt::format("/* {}: {} */", comment_text(node.op), comment_text(node.label())));
  define_sizes(id);
  if (runs) {
    auto done = emit_operator(id);
    if (!done) return std::move(done).error().at(node.label());
  } else {
    for (auto out : node.outputs)
      if (out != ir::kNone && needed_.known.count(out)) emit_known(out);
  }
  for (auto out : node.outputs)
    if (out != ir::kNone && module.value(out).type.kind == ir::Kind::kTensor) bind_elements(out);
  for (const auto& block : scratch_blocks_) program.line(fmt::format("f->host->release(f, {});", block));
  scratch_blocks_.clear();
  node_ends_[static_cast<size_t>(ordinal)] = {program.marker(), ++program.step};
  return {};
}

// Sizes of the outputs that have a formula of their own.
void Emitter::define_sizes(ir::NodeId id) {
  for (auto out : module.node(id).outputs) {
    if (out == ir::kNone) continue;
    auto define = [&](int k) {
      std::string symbol = fmt::format("u{}_{}", out, k);
      auto it = module.definitions.find(symbol);
      if (it != module.definitions.end())
        program.line(fmt::format("const int64_t d_{0} = {1}; (void)d_{0};", symbol, size(it->second)));
    };
    for (int k = 0; k < ir::kMaxParts; ++k) define(ir::kFirstPart + k);
    for (int axis = 0; axis < module.value(out).type.rank(); ++axis) define(axis);
  }
}

Result<void> Emitter::emit_operator(ir::NodeId id) {
  const auto& node = module.node(id);
  const auto* def = ops::find(node.op);
  if (!def) return unsupported("operator {} has no definition", node.op);
  if (node.op == "If") return emit_if(id);
  if (node.op == "tvc.Guard") return emit_guard(id);
  if (node.op == "Loop") return emit_loop(id);
  if (def->view) {
    const auto &from = module.value(node.inputs[0]).type, &to = module.value(node.outputs[0]).type;
    const ir::Dim before = ir::product(from.shape), after = ir::product(to.shape);
    if (to.kind == ir::Kind::kTensor && before != after)  // equal only if the sizes are what the model expects
      program.line(fmt::format(
          "if ({} != {}) return f->host->fail(f, TVRT_RUN_FAILED, \"{}: the elements cannot take this shape\");",
          size(before), size(after), comment_text(node.op + " " + node.label())));
    share_or_copy(node.inputs[0], node.outputs[0]);
    return {};
  }
  const Family* family = family_of(module, id, target);
  if (!family && def->routine) return emit_routine(id);
  if (!family) return unsupported("no code for operator {}", node.op);
  if (int k = family->in_place ? family->in_place(module, id) : -1; k >= 0) {
    auto from = node.inputs[static_cast<size_t>(k)], to = node.outputs[0];
    const auto& outputs = module.main().outputs;
    bool is_output = std::find(outputs.begin(), outputs.end(), to) != outputs.end();
    if (!is_output && dies_at(from, id) && bytes_of(module.value(from).type) == bytes_of(module.value(to).type))
      share(to, from);
  }
  for (auto out : node.outputs)
    if (out != ir::kNone) declare(out);
  Lowering lowering(*this);
  return family->lower(lowering, id);
}

// Text that defines, once each, the named sizes that a formula mentions.
void Emitter::define_before(const ir::Dim& dim, std::set<std::string>& done, std::string& text) const {
  std::set<std::string> names;
  ir::collect_symbols(dim, names);
  for (const auto& name : names) {
    auto it = module.definitions.find(name);
    if (it == module.definitions.end() || !done.insert(name).second) continue;
    define_before(it->second, done, text);
    text += fmt::format("  const int64_t d_{0} = {1}; (void)d_{0};\n", name, size(it->second));
  }
}

std::string Emitter::prepare_text() const {
  std::string out;
  auto line = [&](std::string text) { out += "  " + text + "\n"; };
  for (size_t s = 0; s < module.symbols.size(); ++s)
    line(fmt::format("const int64_t d_{0} = f->symbols[{1}]; (void)d_{0};", module.symbols[s].name, s));
  std::set<std::string> defined;
  for (const auto& buffer : program.buffers) define_before(buffer.bytes, defined, out);
  for (auto id : module.main().outputs)
    if (at_prepare(module.value(id).type))
      for (const auto& d : module.value(id).type.shape) define_before(d, defined, out);
  size_t n = program.buffers.size();
  if (n > 0) {
    std::string first, last;
    for (const auto& b : program.buffers) {
      first += std::to_string(b.first) + ",";
      last += std::to_string(b.last) + ",";
    }
    line(fmt::format("static const int32_t first[{}] = {{{}}};", n, first));
    line(fmt::format("static const int32_t last[{}] = {{{}}};", n, last));
    line(fmt::format("int64_t bytes[{}];", n));
    for (size_t i = 0; i < n; ++i)
      line(fmt::format("bytes[{}] = {}{};", i, size(program.buffers[i].bytes),
                       program.buffers[i].per_thread ? " * f->threads" : ""));
    line(fmt::format("f->arena_bytes = f->host->plan({}, bytes, first, last, f->offsets);", n));
    line("if (f->arena_bytes < 0) return f->host->fail(f, TVRT_OUT_OF_MEMORY, \"the sizes overflow\");");
  } else {
    line("f->arena_bytes = 0;");
  }
  const auto& outputs = module.main().outputs;
  for (size_t k = 0; k < outputs.size(); ++k) {
    const auto& type = module.value(outputs[k]).type;
    if (type.kind != ir::Kind::kTensor || !at_prepare(type)) continue;
    line(
        fmt::format("f->outputs[{0}].kind = TVRT_KIND_TENSOR; f->outputs[{0}].dtype = {1}; f->outputs[{0}].rank = {2};",
                    k, static_cast<int>(type.dtype), type.rank()));
    for (int axis = 0; axis < type.rank(); ++axis)
      line(fmt::format("f->outputs[{}].dims[{}] = {};", k, axis, size(type.shape[static_cast<size_t>(axis)])));
  }
  line("return TVRT_OK;");
  return out;
}

}  // namespace tvc::codegen
