// SPDX-License-Identifier: Apache-2.0
#include "codegen/source_tree.h"

#include <algorithm>
#include <set>

#include "codegen/embedded.h"
#include "codegen/host/emitter.h"

namespace tvc::codegen {
namespace {

// Text per kernel file: small enough that two compilers finish together, large enough that headers do not dominate.
constexpr size_t kUnitText = 48 << 10;

// Copies an embedded file and those that it includes.
Result<void> add_embedded(SourceTree& tree, const std::string& name) {
  if (tree.files.count(name)) return {};
  auto text = embedded_file(name);
  if (!text) return internal("no embedded file {}", name);
  tree.files[name] = std::string(*text);
  std::string folder = name.substr(0, name.rfind('/') + 1);
  std::string_view rest = *text;
  while (true) {
    size_t at = rest.find("#include \"");
    if (at == std::string_view::npos) return {};
    rest.remove_prefix(at + 10);
    std::string included(rest.substr(0, rest.find('"')));
    std::string known = embedded_file(included) ? included : folder + included;
    if (embedded_file(known)) TVC_CHECK_OK(add_embedded(tree, known));
  }
}

std::string include_lines(const std::set<std::string>& includes) {
  std::string out = "#include \"isa/prelude.h\"\n";
  for (const auto& i : includes) out += fmt::format("#include \"{}\"\n", i);
  return out;
}

// Shared functions that these texts use, dependencies first.
void collect_functions(const HostProgram& program, const std::vector<std::string>& names, std::set<std::string>& seen,
                       std::vector<const EmittedFunction*>& out) {
  for (const auto& f : program.functions) {
    if (std::find(names.begin(), names.end(), f.name) == names.end() || !seen.insert(f.name).second) continue;
    collect_functions(program, f.uses, seen, out);
    out.push_back(&f);
  }
}

std::string exported(std::string text, const std::string& name) {
  size_t at = text.find("static void " + name + "(");
  if (at != std::string::npos) text.erase(at, 7);
  return text;
}

struct Unit {
  std::vector<const EmittedFunction*> kernels;
  size_t size = 0;
};

std::string unit_text(const HostProgram& program, const Unit& unit) {
  std::set<std::string> includes, seen;
  std::vector<const EmittedFunction*> shared;
  for (const auto* k : unit.kernels) collect_functions(program, k->uses, seen, shared);
  for (const auto* f : shared) includes.insert(f->includes.begin(), f->includes.end());
  for (const auto* k : unit.kernels) includes.insert(k->includes.begin(), k->includes.end());
  std::string out = include_lines(includes) + "#include \"kernels.h\"\n\n";
  for (const auto* f : shared) out += f->text + "\n";
  for (const auto* k : unit.kernels) out += exported(k->text, k->name) + "\n";
  return out;
}

// The scalar and the vector headers give the same names to different things: a unit includes one kind.
bool is_scalar(const EmittedFunction& f) {
  return std::find(f.includes.begin(), f.includes.end(), "isa/scalar.h") != f.includes.end();
}

// Kernels that share functions stand together, so that few units repeat these.
std::vector<Unit> units_of(const HostProgram& program) {
  std::vector<const EmittedFunction*> order;
  for (const auto& k : program.kernels) order.push_back(&k);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return is_scalar(*a) != is_scalar(*b) ? is_scalar(*a) : a->uses < b->uses;
  });
  std::map<std::string, size_t> function_size;
  for (const auto& f : program.functions) function_size[f.name] = f.text.size();
  std::vector<Unit> units;
  std::set<std::string> present;
  for (const auto* k : order) {
    if (units.empty() || units.back().size + k->text.size() > kUnitText ||
        is_scalar(*units.back().kernels.back()) != is_scalar(*k)) {
      units.emplace_back();
      present.clear();
    }
    units.back().kernels.push_back(k);
    units.back().size += k->text.size();
    for (const auto& f : k->uses)
      if (present.insert(f).second) units.back().size += function_size[f];
  }
  return units;
}

std::string header_text(const HostProgram& program) {
  std::string out = "#ifndef KERNELS_H\n#define KERNELS_H\n#include \"isa/prelude.h\"\n\n";
  for (const auto& k : program.kernels)
    out += fmt::format("{}\nvoid {}(const void* args_, int64_t begin, int64_t end, int32_t thread);\n\n", k.arguments,
                       k.name);
  return out + "#endif\n";
}

std::string program_text(const ir::Module& module, const Emitter& emitter, const HostProgram& program) {
  std::string out = "/* The model: sizes, then the calls in order. */\n#include \"kernels.h\"\n\n";
  for (const auto& r : emitter.routine_symbols())
    out += fmt::format(
        "int32_t {}(tvrt_frame*, const tvrt_value* const*, int32_t, tvrt_value* const*, int32_t, const tvrt_attrs*);\n",
        r);
  out += fmt::format("\nstatic int32_t prepare(tvrt_frame* f) {{\n{}}}\n\n", emitter.prepare_text());
  out += fmt::format(
      "static int32_t run(tvrt_frame* f) {{\n  char* const w = (char*)f->weights;\n  (void)w;\n{}  return "
      "TVRT_OK;\n}}\n\n",
      program.body());
  out += fmt::format("static const tvrt_program program = {{TVRT_ABI_VERSION, {}, {}, {}, {}, 0, prepare, run}};\n\n",
                     module.main().inputs.size(), module.main().outputs.size(), module.symbols.size(),
                     program.buffers.size());
  out +=
      "__attribute__((visibility(\"default\"))) const tvrt_program* tvrt_query_program(uint32_t host_abi_version) {\n"
      "  return host_abi_version >= TVRT_ABI_VERSION ? &program : NULL;\n}\n";
  return out;
}

}  // namespace

Result<SourceTree> emit_source(const ir::Module& module, const Target& target, WeightSection& weights,
                               Diagnostics& diagnostics) {
  HostProgram program(weights);
  Emitter emitter(module, target, program, diagnostics);
  TVC_CHECK_OK(emitter.emit());
  SourceTree tree;
  TVC_CHECK_OK(add_embedded(tree, "isa/prelude.h"));
  std::set<std::string> includes;
  for (const auto& k : program.kernels) includes.insert(k.includes.begin(), k.includes.end());
  for (const auto& f : program.functions) includes.insert(f.includes.begin(), f.includes.end());
  for (const auto& i : includes) TVC_CHECK_OK(add_embedded(tree, i));
  for (const auto& file : emitter.routine_files()) {
    TVC_CHECK_OK(add_embedded(tree, "ops/" + file));
    tree.units.push_back("ops/" + file);
  }
  tree.files["kernels.h"] = header_text(program);
  auto units = units_of(program);
  for (size_t n = 0; n < units.size(); ++n) {
    std::string name = fmt::format("kernels_{}.c", n);
    tree.files[name] = unit_text(program, units[n]);
    tree.units.push_back(name);
  }
  tree.files["program.c"] = program_text(module, emitter, program);
  tree.units.push_back("program.c");
  return tree;
}

}  // namespace tvc::codegen
