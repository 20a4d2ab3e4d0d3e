// SPDX-License-Identifier: Apache-2.0
// Calls of run-time routines: operands as tvrt_value structs, attributes as tables.
#include "codegen/host/emitter.h"
#include "ops/op_def.h"

namespace tvc::codegen {
namespace {

std::string quoted(std::string_view text) {
  // Octal escapes only: no text of a model reaches the source raw.
  std::string out = "\"";
  for (unsigned char c : text) out += fmt::format("\\{:03o}", c);
  return out + "\"";
}

std::string number(double v) {
  if (v != v) return "NAN";
  if (v - v != 0) return v > 0 ? "INFINITY" : "-INFINITY";
  return fmt::format("{:a}", v);
}

}  // namespace

std::string Emitter::value_struct(ir::ValueId value) {
  const auto& v = module.value(value);
  if (v.type.kind != ir::Kind::kTensor) {
    touch(value);
    return "t" + std::to_string(value);
  }
  std::string dims;
  for (const auto& d : v.type.shape) dims += (dims.empty() ? "" : ", ") + size(d);
  return fmt::format(
      "(tvrt_value){{.kind = TVRT_KIND_TENSOR, .dtype = {}, .rank = {}, .dims = {{{}}}, .data = (void*){}}}",
      static_cast<int>(v.type.dtype), v.type.rank(), dims.empty() ? "0" : dims, raw(value));
}

// Strings of a constant, as a table of descriptors at the head of run().
std::string Emitter::string_table(ir::ValueId value) {
  std::string name = fmt::format("s{}", value);
  if (!string_tables_.insert(value).second) return name;
  std::string items;
  for (const auto& s : module.value(value).constant->strings) items += fmt::format("{{{}, {}}}, ", quoted(s), s.size());
  program.at_marker(head_, fmt::format("static const tvrt_string {}[] = {{{}{{0, 0}}}};", name, items));
  return name;
}

Result<void> Emitter::emit_routine(ir::NodeId id) {
  const auto& node = module.node(id);
  TVC_TRY(auto call, ops::find(node.op)->routine(ops::NodeView(module, id)));
  routine_files_.insert(call.file);
  routine_symbols_.insert(call.symbol);
  for (auto out : node.outputs) {
    if (out == ir::kNone) continue;
    slots_[out].declared = true;
    touch(out);
    program.line(fmt::format("tvrt_value t{} = {{0}};", out));
  }
  program.open("");
  std::string in_list, out_list, ints, floats, strings;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (node.inputs[k] == ir::kNone) {
      in_list += "NULL, ";
      continue;
    }
    program.line(fmt::format("const tvrt_value i{} = {};", k, value_struct(node.inputs[k])));
    in_list += fmt::format("&i{}, ", k);
  }
  for (auto out : node.outputs) out_list += out == ir::kNone ? "NULL, " : fmt::format("&t{}, ", out);
  for (auto v : call.ints) ints += v == INT64_MIN ? std::string("INT64_MIN, ") : fmt::format("INT64_C({}), ", v);
  for (auto v : call.floats) floats += number(v) + ", ";
  for (const auto& s : call.strings) strings += fmt::format("{{{}, {}}}, ", quoted(s), s.size());
  program.line(fmt::format("const tvrt_value* in[] = {{{}NULL}};", in_list));
  program.line(fmt::format("tvrt_value* out[] = {{{}NULL}};", out_list));
  program.line(fmt::format("static const int64_t ints[] = {{{}0}};", ints));
  program.line(fmt::format("static const double floats[] = {{{}0}};", floats));
  program.line(fmt::format("static const tvrt_string strings[] = {{{}{{0, 0}}}};", strings));
  program.line(fmt::format("const tvrt_attrs attrs = {{ints, floats, strings, {}, {}, {}}};", call.ints.size(),
                           call.floats.size(), call.strings.size()));
  program.line(fmt::format("int32_t status = {}(f, in, {}, out, {}, &attrs);", call.symbol, node.inputs.size(),
                           node.outputs.size()));
  program.line("if (status) return status;");
  program.close();
  for (auto out : node.outputs) {
    if (out == ir::kNone) continue;
    const auto& type = module.value(out).type;
    if (type.kind != ir::Kind::kTensor) continue;
    slots_[out].pooled = true;
    program.line(fmt::format("char* v{0} = t{0}.data; (void)v{0};", out));
    for (int axis = 0; axis < type.rank(); ++axis) {
      std::string symbol = fmt::format("u{}_{}", out, axis);
      if (type.shape[static_cast<size_t>(axis)] == ir::Dim::symbol(symbol))
        program.line(fmt::format("const int64_t d_{0} = t{1}.dims[{2}]; (void)d_{0};", symbol, out, axis));
    }
  }
  return {};
}

}  // namespace tvc::codegen
