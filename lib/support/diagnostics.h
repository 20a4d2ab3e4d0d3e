// SPDX-License-Identifier: Apache-2.0
// The one way in which library code speaks: the tool turns this into terminal text, JSON or, with --strict, errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tvc {

class Diagnostics {
 public:
  virtual ~Diagnostics() = default;
  virtual void info(std::string_view message) = 0;
  // Something works, but not as the user may expect: a slow path, a changed type, an ignored name.
  virtual void warning(std::string_view message) = 0;
  // A step of something that takes over a second; done == total ends it.
  virtual void progress(std::string_view what, size_t done, size_t total) = 0;
};

// Keeps what was said; for tests and for callers who report later.
class CollectedDiagnostics : public Diagnostics {
 public:
  void info(std::string_view message) override { infos.emplace_back(message); }
  void warning(std::string_view message) override { warnings.emplace_back(message); }
  void progress(std::string_view, size_t, size_t) override {}
  std::vector<std::string> infos;
  std::vector<std::string> warnings;
};

}  // namespace tvc
