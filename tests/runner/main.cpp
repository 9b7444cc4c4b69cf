// eindb_sqllogictest [--mode NAME] [--prelude SQL] [--shards N] [--workers N | --mpi] [--small-here] [--generate]
//                    FILE|FOLDER...
//
// Runs scripts of the sqllogictest format against eindb, in this process. See tests/README.md for the format.
// Under mpirun with --mpi rank 0 runs them, with the other ranks as workers.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "cluster/mpi_worker.hpp"
#include "tests/runner/test_run.hpp"

namespace eindb::runner {
namespace {

/// The .test files among the arguments and below the folders among them; each folder's files are in alphabetical order.
std::vector<std::filesystem::path> test_files(const std::vector<std::string>& arguments) {
  std::vector<std::filesystem::path> files;
  for (const auto& argument : arguments) {
    if (!std::filesystem::is_directory(argument)) {
      files.emplace_back(argument);
      continue;
    }
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argument)) {
      if (entry.path().extension() == ".test") found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

struct Counts {
  std::size_t cases = 0;
  std::size_t failures = 0;
};

void run_file(const std::filesystem::path& path, const RunOptions& options, Counts& counts) {
  try {
    TestRun run(read_test_script(path), options);
    try {
      run.run();
    } catch (const Error& error) {
      throw std::runtime_error(path.string() + ": " + render(error, ""));
    }
    counts.cases += run.case_count();
    counts.failures += run.failure_count();
  } catch (const std::exception& error) {
    std::cout << error.what() << "\n";
    ++counts.failures;
  }
}

int run_all(const std::vector<std::string>& arguments, const RunOptions& options) {
  Counts counts;
  const auto files = test_files(arguments);
  for (const auto& file : files) run_file(file, options, counts);
  std::cout << files.size() << " files, " << counts.cases << " cases, " << counts.failures << " failed\n";
  return counts.failures == 0 && !files.empty() ? 0 : 1;
}

int run_in_mpi(const std::vector<std::string>& arguments, RunOptions options) {
  const auto world = load_mpi_world();
  MpiTransport transport(*world);
  if (transport.is_coordinator()) {
    options.mpi = &transport;
    return run_all(arguments, options);
  }
  SilentLog log;
  run_mpi_worker(transport, worker_options(), log);
  return 0;
}

}  // namespace
}  // namespace eindb::runner

int main(int argc, char** argv) {
  eindb::runner::RunOptions options;
  std::vector<std::string> arguments;
  std::vector<std::string> modes;
  CLI::App app("Runs sqllogictest scripts against eindb", "eindb_sqllogictest");
  app.add_option("--mode", modes, "a name that onlyif and skipif shall know")->take_all()->allow_extra_args(false);
  app.add_option("--prelude", options.preludes, "a statement to run after each opening")->allow_extra_args(false);
  auto* const workers =
      app.add_option("--workers", options.workers, "workers of a cluster that runs queries, in this process, over TCP");
  bool mpi = false;
  app.add_flag("--mpi", mpi, "the other ranks of the job are such workers")->excludes(workers);
  app.add_flag("--small-here", options.small_here,
               "small statements run in the session, as they do by default, and not on the workers");
  app.add_option("--shards", options.shards, "workers at which tensors lie sharded, in this process");
  app.add_flag("--generate", options.generate, "rewrite the expected results of queries");
  app.add_option("files", arguments, "scripts, or folders of them")->required();
  CLI11_PARSE(app, argc, argv);
  options.modes.insert(modes.begin(), modes.end());
  return mpi ? eindb::runner::run_in_mpi(arguments, options) : eindb::runner::run_all(arguments, options);
}
