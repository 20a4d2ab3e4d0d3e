// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower.h"

#include "codegen/host/emitter.h"

namespace tvc::codegen {
namespace {

// Below this many scalar operations a fork and join costs more than it saves.
constexpr int64_t kParallelWork = 32768;

}  // namespace

#define TVC_FAMILY(symbol) extern const Family symbol;
#include "codegen/families.inc"
#undef TVC_FAMILY

const std::vector<const Family*>& families() {
  static const std::vector<const Family*> all = {
#define TVC_FAMILY(symbol) &symbol,
#include "codegen/families.inc"
#undef TVC_FAMILY
  };
  return all;
}

const Family* family_of(const ir::Module& module, ir::NodeId node, const Target& target) {
  for (const Family* family : families())
    if (family->claims(module, node, target)) return family;
  return nullptr;
}

const ir::Module& Lowering::module() const { return emitter_.module; }
const Target& Lowering::target() const { return emitter_.target; }
Diagnostics& Lowering::diagnostics() { return emitter_.diagnostics; }
std::string Lowering::in(ir::ValueId value) { return emitter_.pointer(value, false); }
std::string Lowering::out(ir::ValueId value) { return emitter_.pointer(value, true); }
std::string Lowering::size(const ir::Dim& dim) { return emitter_.size(dim); }
std::string Lowering::scratch(const ir::Dim& bytes, bool per_thread) {
  return "((char*)" + emitter_.scratch(bytes, per_thread) + ")";
}
std::string Lowering::kernel(const KernelText& text) { return emitter_.program.add_kernel(text, "k_"); }
std::string Lowering::function(const KernelText& text) { return emitter_.program.add_function(text); }
void Lowering::line(std::string text) { emitter_.program.line(std::move(text)); }

std::string Lowering::weight(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  return fmt::format("(w + {})", emitter_.program.weights.add(bytes, std::move(owner)));
}

std::string Lowering::weight(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  std::span<const std::byte> view(owner->data(), owner->size());
  return weight(view, owner);
}

void Lowering::launch(const KernelText& text, const std::vector<Arg>& args, const ir::Dim& tasks, const ir::Dim& work) {
  if (auto n = work.as_constant(); n && *n < kParallelWork) {
    launch(text, args, size(tasks), "0");
  } else {
    launch(text, args, size(tasks), work.is_constant() ? "" : size(work));
  }
}

// work: "" always on the pool, "0" always on the caller, else decided by its value.
void Lowering::launch(const KernelText& text, const std::vector<Arg>& args, const std::string& tasks,
                      const std::string& work) {
  std::string name = kernel(text);
  line("{");
  std::string fields;
  for (const auto& arg : args) fields += fmt::format("{}.{} = {}", fields.empty() ? "" : ", ", arg.field, arg.value);
  line(fmt::format("  {}_args a = {{{}}};", name, fields));
  std::string inline_call = fmt::format("{}(&a, 0, {}, 0);", name, tasks);
  std::string parallel = fmt::format("f->host->parallel(f, {}, &a, {});", name, tasks);
  if (work == "0") {
    line("  " + inline_call);
  } else if (work.empty()) {
    line("  " + parallel);
  } else {
    line(fmt::format("  if ({} < {}) {} else {}", work, kParallelWork, inline_call, parallel));
  }
  line("}");
}

}  // namespace tvc::codegen
