// eindb [OPTIONS] [DATABASE]: the program. Exit status 0, 1 if a statement failed, or that of .exit STATUS.

#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <optional>

#include "shell/cluster_command.hpp"
#include "shell/command_line.hpp"
#include "shell/dot_commands.hpp"
#include "shell/interrupts.hpp"
#include "shell/line_editor.hpp"
#include "shell/shell.hpp"

namespace eindb {
namespace {

bool run_jobs(Shell& shell, const CommandLine& line) {
  for (const auto& job : line.jobs) {
    bool ok = false;
    if (job.is_file) {
      FileLines lines(job.text);
      ok = shell.run(lines);
    } else {
      TextLines lines(job.text);
      ok = shell.run(lines);
    }
    if (!ok) return false;
    if (shell.has_quit()) break;
  }
  return true;
}

bool run_interactively(Shell& shell, Session& session, const CommandLine& line) {
  std::printf("eindb %s, database %s. Statements end with a semicolon; .help lists commands; Ctrl-D leaves.\n",
              EINDB_VERSION, line.database.c_str());
  LineEditor editor(Completion([&session] { return session.known_words(); }, &DotCommands::names));
  shell.run(editor);
  return true;  // the person saw what failed
}

/// The exit status.
int run(const CommandLine& line) {
  if (line.worker) {
    run_worker(*line.worker);
    return 0;
  }
  if (line.serve) {
    run_server(*line.serve, line.cluster, line.database, line.session.read_only);
    return 0;
  }
  const bool interactive = line.jobs.empty() && isatty(STDIN_FILENO) != 0;
  Interrupts::install(interactive);
  std::optional<CommandCluster> workers;
  auto options = line.session;
  if (!line.cluster.workers.empty()) {
    LogOptions log;
    log.level = LogLevel::Warning;  // who joins does not matter to a person who types
    options.cluster = workers.emplace(line.cluster, log).cluster();
  }
  Session session(line.database, options);
  if (workers) workers->wait_for_workers();
  for (const auto& statement : line.session_statements) session.execute(statement);
  Shell shell(session, line.settings);
  if (line.calibrate) {
    run_calibration(*line.calibrate, shell);
    return 0;
  }
  bool ok = true;
  if (!line.jobs.empty()) {
    ok = run_jobs(shell, line);
  } else if (interactive) {
    ok = run_interactively(shell, session, line);
  } else {
    FileLines lines("-");
    ok = shell.run(lines);
  }
  return shell.exit_status().value_or(ok ? 0 : 1);
}

/// As the many programs that a pipe's end ends: but only after the session has been closed in order.
[[noreturn]] void end_by_closed_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  std::_Exit(1);
}

}  // namespace
}  // namespace eindb

int main(int argc, char** argv) {
  // Text is UTF-8 whatever the terminal's locale says; numbers keep their point.
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) std::setlocale(LC_CTYPE, "");
  std::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  int status = 0;
  try {
    const auto line = eindb::CommandLine::parse(argc, argv, status);
    if (line) status = eindb::run(*line);
    if (std::fflush(stdout) != 0) status = 1;
  } catch (const eindb::OutputClosed&) {
    eindb::end_by_closed_pipe();
  } catch (const eindb::Error& error) {
    std::fprintf(stderr, "%s\n", eindb::render(error, "").c_str());
    status = 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "eindb: %s\n", error.what());
    status = 1;
  }
  return status;
}
