// SPDX-License-Identifier: Apache-2.0
// From a source tree to an object: one compiler run a unit, through a cache keyed by everything that the result depends
// on (the unit, the headers, the flags, the compiler's version).
#include <unistd.h>

#include <fstream>
#include <mutex>

#include "codegen/source_tree.h"
#include "support/parallel.h"
#include "support/subprocess.h"

namespace tvc::codegen {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> flags_of(const Target& target) {
  std::vector<std::string> flags = {"-std=gnu11",      "-O3",
                                    "-fPIC",           "-fvisibility=hidden",
                                    "-fno-math-errno", "-fno-trapping-math",
                                    "-fopenmp-simd",   "-ffp-contract=fast",
                                    "-fno-ident",      "-w"};
  for (auto f : target.compiler_flags) flags.emplace_back(f);
  return flags;
}

// A folder of our own that goes away with the object.
class WorkFolder {
 public:
  WorkFolder() {
    std::string name = (fs::temp_directory_path() / "tvc-XXXXXX").string();
    if (mkdtemp(name.data())) path_ = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Result<void> write_text(const fs::path& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) return bad_input("cannot write {}", path.string());
  return {};
}

Result<std::vector<std::byte>> read_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return bad_input("cannot read {}", path.string());
  std::vector<std::byte> bytes(static_cast<size_t>(in.tellg()));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) return bad_input("cannot read {}", path.string());
  return bytes;
}

std::string headers_key(const SourceTree& tree) {
  std::string all;
  for (const auto& [name, text] : tree.files)
    if (name.ends_with(".h")) all += name + "\n" + text;
  return all;
}

Result<void> compile(const std::vector<std::string>& argv, const std::string& what) {
  TVC_TRY(auto result, run_process(argv));
  if (result.exit_code != 0) return internal("the C compiler failed on {}: {}", what, result.output.substr(0, 2000));
  return {};
}

// Compiles one unit to `object`, or copies it from the cache. A cache that cannot be written is no error.
Result<void> compile_unit(const fs::path& root, const std::string& unit, const std::vector<std::string>& command,
                          const std::string& key_text, const fs::path& cache, const fs::path& object) {
  std::error_code error;
  fs::path kept =
      cache.empty() ? fs::path() : cache / fmt::format("{:016x}{:016x}.o", hash64(key_text), hash64(key_text + "#"));
  if (!kept.empty() && fs::copy_file(kept, object, error) && !error) return {};
  auto argv = command;
  argv.insert(argv.end(), {"-I" + root.string(), "-Wa,-I" + root.string(), "-ffile-prefix-map=" + root.string() + "=.",
                           "-c", (root / unit).string(), "-o", object.string()});
  TVC_CHECK_OK(compile(argv, unit));
  if (kept.empty()) return {};
  fs::create_directories(cache, error);
  fs::path temporary = kept.string() + fmt::format(".{}.tmp", getpid());
  if (fs::copy_file(object, temporary, fs::copy_options::overwrite_existing, error)) fs::rename(temporary, kept, error);
  return {};
}

}  // namespace

Result<std::vector<std::byte>> build_object(const SourceTree& tree, const Target& target, const BuildOptions& options,
                                            Diagnostics& diagnostics) {
  WorkFolder work;
  if (work.path().empty()) return bad_input("no temporary folder");
  const fs::path& root = work.path();
  for (const auto& [name, text] : tree.files) TVC_CHECK_OK(write_text(root / name, text));
  std::vector<std::string> command = {options.compiler};
  for (auto& f : flags_of(target)) command.push_back(std::move(f));
  TVC_TRY(auto version, run_process({options.compiler, "--version"}));
  std::string key_base = version.output + headers_key(tree);
  for (const auto& c : command) key_base += "\n" + c;

  std::vector<std::string> objects(tree.units.size());
  std::mutex mutex;
  std::optional<Error> failure;
  size_t done = 0;
  parallel_for(tree.units.size(), options.jobs, [&](size_t n) {
    const auto& unit = tree.units[n];
    objects[n] = (root / fmt::format("{}.o", n)).string();
    std::string key = key_base + "\n" + tree.files.at(unit);
    auto result = compile_unit(root, unit, command, key, options.cache_folder, objects[n]);
    std::lock_guard lock(mutex);
    if (!result && !failure) failure = std::move(result).error();
    diagnostics.progress("compiling", ++done, tree.units.size());
  });
  if (failure) return *failure;
  fs::path out = root / "out.o";
  std::vector<std::string> link = {options.compiler};
  if (options.shared)
    link.insert(link.end(), {"-shared", "-Wl,--build-id=none", "-Wl,-s", "-Wl,-z,defs", "-Wl,--hash-style=gnu"});
  else link.insert(link.end(), {"-r", "-nostdlib"});
  link.insert(link.end(), {"-o", out.string()});
  link.insert(link.end(), objects.begin(), objects.end());
  if (options.shared) link.push_back("-lm");
  TVC_CHECK_OK(compile(link, "the link step"));
  if (!options.shared) {  // two models in one program may hold equal kernels
    std::vector<std::string> localise = {"objcopy"};
    for (const auto& symbol : options.globals) localise.push_back("--keep-global-symbol=" + symbol);
    localise.push_back(out.string());
    TVC_CHECK_OK(compile(localise, "the symbols of the object"));
  }
  return read_bytes(out);
}

}  // namespace tvc::codegen
