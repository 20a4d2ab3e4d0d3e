// SPDX-License-Identifier: Apache-2.0
// tvc compile: a model file becomes an artifact, an object to link, or a source tree.
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "codegen/host/program.h"
#include "codegen/source_tree.h"
#include "command.h"
#include "formats/artifact/writer.h"
#include "model.h"
#include "passes/pass.h"
#include "support/file.h"
#include "support/hash.h"

namespace tvc::tool {
namespace {

namespace fs = std::filesystem;

struct CompileOptions {
  ModelOptions model;
  PassOptions passes;
  std::string output, precision = "f32", emit = "artifact";
  std::vector<std::string> targets = {"host"};
  int jobs = 0;
  bool no_cache = false, list_passes = false;
};

fs::path cache_folder(const CompileOptions& options) {
  if (options.no_cache) return {};
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder != '\0')
    return fs::path(folder) / "tvc" / "objects";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache" / "tvc" / "objects";
  return {};
}

Result<std::vector<const codegen::Target*>> find_targets(const std::vector<std::string>& names) {
  std::vector<const codegen::Target*> out;
  for (const auto& name : names) {
    const auto* target = name == "host" ? &codegen::host_target() : codegen::find_target(name);
    if (target == nullptr) return bad_input("there is no target named '{}', see tvc targets", name);
    if (std::find(out.begin(), out.end(), target) == out.end()) out.push_back(target);
  }
  // The loader takes the first variant that the machine can run: the most demanding one comes first.
  std::stable_sort(out.begin(), out.end(),
                   [](const auto* a, const auto* b) { return a->features.size() > b->features.size(); });
  return out;
}

struct Variant {
  const codegen::Target* target;
  codegen::SourceTree tree;
};

struct Compiled {
  ir::Module module;  // of the first target: the signature is the same for all
  codegen::WeightSection weights;
  std::vector<Variant> variants;
};

Result<void> emit_variants(const CompileOptions& options, Diagnostics& diagnostics, Compiled& out) {
  TVC_TRY(auto targets, find_targets(options.targets));
  TVC_TRY(ir::Module source, read_model(options.model, diagnostics));
  for (const auto* target : targets) {
    ir::Module module = source;
    TVC_CHECK_OK(optimise(module, *target, options.passes, diagnostics));
    TVC_TRY(auto tree, codegen::emit_source(module, *target, out.weights, diagnostics));
    if (out.variants.empty()) out.module = std::move(module);
    out.variants.push_back({target, std::move(tree)});
  }
  return {};
}

ArtifactContents contents_of(const Compiled& compiled, const CompileOptions& options, std::string source_hash) {
  ArtifactContents contents;
  contents.module = &compiled.module;
  for (const auto& chunk : compiled.weights.chunks()) contents.weights.push_back({chunk.offset, chunk.bytes});
  contents.weight_bytes = compiled.weights.bytes();
  contents.metadata = compiled.module.metadata;
  contents.metadata["tvc.version"] = TVC_VERSION;
  contents.metadata["tvc.source"] = fs::path(options.model.model).filename().string();
  contents.metadata["tvc.source_hash"] = std::move(source_hash);
  return contents;
}

Result<void> write_source(const Compiled& compiled, const CompileOptions& options) {
  if (compiled.variants.size() != 1) return bad_input("--emit {} wants one target", options.emit);
  for (const auto& [name, text] : compiled.variants[0].tree.files) {
    fs::path path = fs::path(options.output) / name;
    TVC_CHECK_OK(make_folder(path.parent_path()));
    TVC_CHECK_OK(write_file_atomically(path, text));
  }
  std::string weights(static_cast<size_t>(compiled.weights.bytes()), '\0');
  for (const auto& chunk : compiled.weights.chunks())
    std::copy_n(reinterpret_cast<const char*>(chunk.bytes.data()), chunk.bytes.size(), weights.data() + chunk.offset);
  return write_file_atomically(fs::path(options.output) / "weights.bin", weights);
}

// An object that holds the artifact's bytes and the code, and the header that declares both.
Result<void> write_static(Compiled& compiled, const CompileOptions& options, const codegen::BuildOptions& build,
                          const ArtifactContents& contents, Diagnostics& diagnostics) {
  if (compiled.variants.size() != 1) return bad_input("--emit static wants one target");
  const fs::path output(options.output);
  const std::string name = codegen::identifier(output.stem().string());
  fs::path bytes = output;
  bytes += ".tvc";
  TVC_CHECK_OK(write_artifact(bytes, contents));
  auto artifact = read_file(bytes);
  std::error_code ignored;
  fs::remove(bytes, ignored);
  if (!artifact.ok()) return std::move(artifact).error();
  codegen::SourceTree tree = compiled.variants[0].tree;
  std::string& program = tree.files["program.c"];
  for (size_t at; (at = program.find("tvrt_query_program")) != std::string::npos;)
    program.replace(at, 18, name + "_program");
  tree.files["artifact.bin"].assign(reinterpret_cast<const char*>(artifact->data()), artifact->size());
  tree.files["artifact.S"] = fmt::format(
      "/* {1} */\n  .section .rodata\n  .balign 64\n  .globl {0}_artifact\n{0}_artifact:\n  .incbin \"artifact.bin\"\n"
      "  .balign 8\n  .globl {0}_artifact_bytes\n{0}_artifact_bytes:\n  .quad {2}\n  .section "
      ".note.GNU-stack,\"\",@progbits\n",
      name, hash_hex(*artifact), artifact->size());
  tree.units.push_back("artifact.S");
  codegen::BuildOptions options_of_object = build;
  options_of_object.shared = false;
  options_of_object.globals = {name + "_program", name + "_artifact", name + "_artifact_bytes"};
  TVC_TRY(auto object, codegen::build_object(tree, *compiled.variants[0].target, options_of_object, diagnostics));
  const std::string header = fmt::format(
      "/* {0}: a compiled model to link. Needs the {1} instruction set, tvrt's static library and -lm. */\n#ifndef "
      "{0}_MODEL_H\n"
      "#define {0}_MODEL_H\n\n#include <tvrt.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
      "extern const unsigned char {0}_artifact[];\nextern const uint64_t {0}_artifact_bytes;\n"
      "const tvrt_program* {0}_program(uint32_t host_abi_version);\n\n"
      "/* Opens the model; tvrt_model_close ends it. */\nstatic inline tvrt_status {0}_open(tvrt_model** model) {{\n"
      "  tvrt_model_options options = {{0}};\n  options.size = sizeof options;\n  options.program = "
      "{0}_program(TVRT_ABI_VERSION);\n"
      "  return tvrt_model_open_bytes({0}_artifact, (size_t){0}_artifact_bytes, &options, model);\n}}\n\n"
      "#ifdef __cplusplus\n}}\n#endif\n#endif\n",
      name, compiled.variants[0].target->name);
  TVC_CHECK_OK(write_file_atomically(output, std::span<const std::byte>(object)));
  fs::path header_path = output;
  return write_file_atomically(header_path.replace_extension(".h"), std::string_view(header));
}

Result<void> compile(const CompileOptions& options, Diagnostics& diagnostics) {
  if (options.precision != "f32")
    return unsupported("--precision {} is not supported yet: only f32 is", options.precision);
  Compiled compiled;
  TVC_CHECK_OK(emit_variants(options, diagnostics, compiled));
  if (options.emit == "source") return write_source(compiled, options);
  TVC_TRY(auto file, MappedFile::open(options.model.model));
  auto contents = contents_of(compiled, options, hash_hex(file->bytes()));
  codegen::BuildOptions build{.jobs = options.jobs, .cache_folder = cache_folder(options)};
  if (options.emit == "static") return write_static(compiled, options, build, contents, diagnostics);
  for (const auto& variant : compiled.variants) {
    TVC_TRY(auto object, codegen::build_object(variant.tree, *variant.target, build, diagnostics));
    CodeVariant code;
    code.target = variant.target->name;
    for (auto feature : variant.target->features) code.features.emplace_back(feature);
    code.object = std::move(object);
    contents.variants.push_back(std::move(code));
  }
  return write_artifact(options.output, contents);
}

void list_passes() {
  for (const auto& pass : passes::pipeline()) fmt::print("{:<28} {}\n", pass.name, pass.description);
}

}  // namespace

void add_compile(CLI::App& app, Session& session, int& exit_code) {
  auto options = std::make_shared<CompileOptions>();
  auto* command = app.add_subcommand("compile", "Compile a model to an artifact");
  auto* model = command->add_option("model", options->model.model, "The model, an .onnx file");
  auto* output = command->add_option("-o,--output", options->output,
                                     "Where the result goes: a file; with --emit static an object (.o), its header "
                                     "beside it; with --emit source a folder");
  command
      ->add_option("--target", options->targets,
                   "Targets, see tvc targets; several make one artifact with a variant each")
      ->delimiter(',')
      ->default_str("host");
  command->add_option("--shape", options->model.shapes,
                      "NAME=1x3x224x224: the shape of an input; -1 leaves a size free");
  command->add_option("--dim", options->model.dims, "NAME=4 or NAME=1..8: the value or the range of a free dimension");
  command->add_option("--precision", options->precision, "Of the arithmetic")
      ->check(CLI::IsMember({"f32", "bf16", "f16"}))
      ->capture_default_str();
  command->add_option("--emit", options->emit, "What to write")
      ->check(CLI::IsMember({"artifact", "static", "source"}))
      ->capture_default_str();
  command->add_option("--jobs,-j", options->jobs, "Compilers at a time (default: all cores)")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--no-cache", options->no_cache, "Compile everything anew");
  command->add_option("--dump-ir", options->passes.dump_folder, "Write the IR after each pass into this folder");
  command->add_option("--dump-after", options->passes.dump_after, "Print the IR after this pass");
  command->add_option("--disable-pass", options->passes.disabled, "Leave this pass out");
  command->add_flag("--verify", options->passes.verify, "Check the IR after each pass");
  auto* list = command->add_flag("--list-passes", options->list_passes, "List the passes in order");
  command->callback([=, &session, &exit_code] {
    if (options->list_passes) return list_passes();
    if (model->empty() || output->empty()) throw CLI::RequiredError("model and --output");
    (void)list;
    Terminal terminal(session);
    exit_code = finish(compile(*options, terminal), terminal, session);
  });
}

}  // namespace tvc::tool
