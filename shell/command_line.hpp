#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shell/calibrate_command.hpp"
#include "shell/cluster_command.hpp"
#include "shell/mpi_command.hpp"
#include "shell/serve_command.hpp"
#include "shell/shell.hpp"
#include "shell/worker_command.hpp"

namespace eindb {

/// The program's arguments, parsed.
struct CommandLine {
  /// A job from -c or -f, in the order of the arguments.
  struct Job {
    bool is_file = false;
    std::string text;  ///< statements, or the path of a script; "-" is standard input
  };

  std::string database = ":memory:";
  std::vector<Job> jobs;
  ShellSettings settings;
  SessionOptions session;
  bool runs_start_file = true;                  ///< ~/.eindbrc, at the start of an interactive session
  std::vector<std::string> session_statements;  ///< SET statements of --threads and --memory-limit

  ClusterCommand cluster;
  std::optional<MpiCommand> mpi;

  // Alternatives to everything else:
  std::optional<CalibrateCommand> calibrate;
  std::optional<ServeCommand> serve;
  std::optional<WorkerCommand> worker;
  bool takes_over = false;  ///< `eindb take-over`
  std::string promotes;     ///< the directory of `eindb promote`; empty: another command

  /// Parses the arguments. nullopt if the program should exit, after printing help, the version or an error; `status`
  /// is then its exit status.
  static std::optional<CommandLine> parse(int argc, const char* const* argv, int& status);
};

}  // namespace eindb
