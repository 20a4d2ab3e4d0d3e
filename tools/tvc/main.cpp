// SPDX-License-Identifier: Apache-2.0
// The command line. Exit codes: 0 done, 1 the gate says no, 2 wrong usage or bad input, 3 the model holds something
// unsupported, 4 an inner error.
#include <csignal>
#include <exception>

#include "command.h"

int main(int argc, char** argv) {
  using namespace tvc::tool;
  std::signal(SIGPIPE, SIG_DFL);
  CLI::App app{"tvc compiles neural networks ahead of time to native code", "tvc"};
  app.set_version_flag("--version", "tvc " TVC_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  Session session;
  bool quiet = false, verbose = false;
  app.add_flag("-q,--quiet", quiet, "Errors only");
  app.add_flag("-v,--verbose", verbose, "Say what is done");
  app.add_flag("--strict", session.strict, "Warnings are errors");
  app.parse_complete_callback([&] {
    session.verbosity = quiet ? Verbosity::kQuiet : verbose ? Verbosity::kVerbose : Verbosity::kNormal;
  });
  int exit_code = 0;
  add_compile(app, session, exit_code);
  add_inspect(app, session, exit_code);
  add_run(app, session, exit_code);
  add_bench(app, session, exit_code);
  add_targets(app, session, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::bad_alloc&) {
    return report(tvc::internal("out of memory"));
  } catch (const std::exception& error) {  // a library's; ours come as results
    return report(tvc::internal("{}", error.what()));
  }
  return exit_code;
}
