// eindb [OPTIONS] [DATABASE]: the program. Exit status 0, 1 if a statement failed, or the status given to .exit.

#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "common/caught_error.hpp"
#include "common/stack_guard.hpp"
#include "shell/cluster_command.hpp"
#include "shell/command_line.hpp"
#include "shell/dot_commands.hpp"
#include "shell/interrupts.hpp"
#include "shell/line_editor.hpp"
#include "shell/promote_command.hpp"
#include "shell/shell.hpp"
#include "shell/take_over_command.hpp"

namespace eindb {
namespace {

bool run_jobs(Shell& shell, const CommandLine& line) {
  for (const auto& job : line.jobs) {
    bool ok = false;
    if (job.is_file) {
      FileLines lines(job.text);
      ok = shell.run(lines);
    } else {
      ArgumentLines lines(job.text);
      ok = shell.run(lines);
    }
    if (!ok) return false;
    if (shell.has_quit()) break;
  }
  return true;
}

/// Runs the user's own settings for interactive sessions, if there are any.
void run_start_file(Shell& shell) {
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return;
  const auto path = std::filesystem::path(home) / ".eindbrc";
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) return;
  try {
    FileLines lines(path.string());
    shell.run(lines);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", render(error, "").c_str());
  }
}

bool run_interactively(Shell& shell, const CommandLine& line) {
  std::printf("eindb %s, database %s. Statements end with a semicolon; .help lists commands; Ctrl-D leaves.\n",
              EINDB_VERSION, line.database.c_str());
  shell.settings().pager = default_pager();
  if (line.runs_start_file) run_start_file(shell);
  LineEditor editor(Completion([&shell] { return shell.session().known_words(); }, &DotCommands::names));
  shell.run(editor);
  return true;  // the user has seen the errors
}

/// Opens databases for the shell. The workers of a cluster are those of the database that the program began with.
SessionOpener session_opener(const CommandLine& line, std::shared_ptr<Cluster> cluster) {
  auto options = line.session;
  options.cluster = std::move(cluster);
  return [&line, options](const std::string& database) {
    if (options.cluster != nullptr && database != line.database)
      throw Error(ErrorKind::Value, "the workers of this program belong to " + line.database, std::nullopt,
                  "start eindb with " + database + " and its workers");
    auto session = std::make_unique<Session>(database, options);
    for (const auto& statement : line.session_statements) session->execute(statement);
    return session;
  };
}

/// Runs the shell, with the workers of a cluster if there is one; returns the exit status.
int run_shell(const CommandLine& line, std::shared_ptr<Cluster> cluster) {
  const bool interactive = line.jobs.empty() && isatty(STDIN_FILENO) != 0;
  Interrupts::install(interactive);
  Shell shell(session_opener(line, std::move(cluster)), line.database, line.settings);
  if (line.calibrate) {
    run_calibration(*line.calibrate, shell);
    return 0;
  }
  bool ok = true;
  if (!line.jobs.empty()) {
    ok = run_jobs(shell, line);
  } else if (interactive) {
    ok = run_interactively(shell, line);
  } else {
    FileLines lines("-");
    ok = shell.run(lines);
  }
  return shell.exit_status().value_or(ok ? 0 : 1);
}

int run_shell_in_mpi(CommandLine line) {
  const auto shell = [&line](const MpiSetting& setting) {
    // First, so that SET threads from --threads takes precedence.
    line.session_statements.insert(line.session_statements.begin(), "SET threads = " + std::to_string(setting.threads));
    return run_shell(line, setting.cluster);
  };
  return run_in_mpi(*line.mpi, line.database, shell);
}

/// Returns the exit status.
int run(const CommandLine& line) {
  if (line.mpi) return run_shell_in_mpi(line);
  if (line.worker) {
    run_worker(*line.worker);
    return 0;
  }
  if (line.serve) {
    run_server(*line.serve, line.cluster, line.database, line.session.read_only);
    return 0;
  }
  if (line.takes_over) {
    run_take_over(line.database, line.cluster);
    return 0;
  }
  if (!line.promotes.empty()) {
    run_promote(line.promotes, line.database, line.cluster);
    return 0;
  }
  if (line.cluster.workers.empty()) return run_shell(line, nullptr);
  LogOptions log;
  log.level = LogLevel::Warning;  // joining workers are of no interest to an interactive user
  CommandCluster workers(line.cluster, log);
  return run_shell(line, workers.cluster());
}

void tell_why(const std::exception_ptr& reason) noexcept {
  try {
    try {
      std::rethrow_exception(reason);
    } catch (...) {
      std::fprintf(stderr, "%s\n", render(caught_error("eindb"), "").c_str());
    }
  } catch (const std::exception&) {  // no memory for the message either
    std::fputs("memory limit: the machine has no memory left\n  hint: end what else takes memory\n", stderr);
  }
}

/// Ends the program by SIGPIPE, as is usual at the end of a pipe, but only after the session has been closed properly.
[[noreturn]] void end_by_closed_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  std::_Exit(1);
}

}  // namespace
}  // namespace eindb

int main(int argc, char** argv) {
  eindb::use_known_stack_size();
  // Text is UTF-8 whatever the terminal's locale; numbers keep their decimal point.
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) std::setlocale(LC_CTYPE, "");
  std::signal(SIGPIPE, SIG_IGN);
  int status = 0;
  try {
    std::ios::sync_with_stdio(false);
    const auto line = eindb::CommandLine::parse(argc, argv, status);
    if (line) status = eindb::run(*line);
    if (std::fflush(stdout) != 0) status = 1;
  } catch (const eindb::OutputClosed&) {
    eindb::end_by_closed_pipe();
  } catch (...) {
    eindb::tell_why(std::current_exception());
    status = 1;
  }
  return status;
}
