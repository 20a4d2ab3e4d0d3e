// SPDX-License-Identifier: Apache-2.0
// What the C compiler makes of the tile kernels: the products of matrices live in registers.
#include "codegen/contraction.h"
#include "support/subprocess.h"

using namespace tvc;
using namespace tvc::tests;

namespace {

// The assembly of one function of the emitted program's vector unit.
std::string assembly(const codegen::SourceTree& tree, const codegen::Target& target, const std::string& function) {
  const auto folder = std::filesystem::temp_directory_path() / ("tvc_assembly_" + std::to_string(getpid()));
  for (const auto& [name, text] : tree.files) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  std::vector<std::string> command = {"cc", "-std=gnu11", "-O3", "-fPIC", "-ffp-contract=fast",
                                      "-w", "-S",         "-o",  "-",     "-I" + folder.string()};
  for (auto flag : target.compiler_flags) command.emplace_back(flag);
  command.push_back((folder / "kernels_0.c").string());
  auto run = run_process(command);
  std::filesystem::remove_all(folder);
  REQUIRE(run.ok());
  const std::string& all = run->output;
  const size_t begin = all.find("\n" + function + ":"), end = all.find(".size\t" + function, begin);
  REQUIRE(begin != std::string::npos);
  return all.substr(begin, end - begin);
}

int count(const std::string& text, std::string_view word) {
  int n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

bool spills(const std::string& text) {
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line(text.data() + begin, end - begin);
    const bool vector = line.find("mm") != std::string_view::npos && line.find("\tv") != std::string_view::npos;
    if (vector && (line.find("(%rsp)") != std::string_view::npos || line.find("(%rbp)") != std::string_view::npos))
      return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

TEST_CASE("the widest tile holds its sums in registers") {
  const Built built = build({"MatMul", {{12, 32}, {32, 64}}, {false, true}});
  struct Promise {
    std::string target, function, instruction;
    int products;
  };
  for (const Promise& p : {Promise{"avx512", "tv_tile_6x4", "zmm", 24}, {"avx2", "tv_tile_6x1", "ymm", 12}}) {
    CAPTURE(p.target);
    const codegen::Target* target = codegen::find_target(p.target);
    REQUIRE(target != nullptr);
    codegen::WeightSection weights;
    CollectedDiagnostics diagnostics;
    auto tree = codegen::emit_source(built.module, *target, weights, diagnostics);
    REQUIRE(tree.ok());
    const std::string text = assembly(*tree, *target, p.function);
    CHECK(count(text, "vfmadd") >= p.products);
    CHECK(count(text, p.instruction) > p.products);
    CHECK_FALSE(spills(text));
  }
}
