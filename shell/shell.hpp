#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "engine/script.hpp"
#include "engine/session.hpp"
#include "shell/line_source.hpp"
#include "shell/output.hpp"
#include "shell/progress_bar.hpp"
#include "shell/result_printer.hpp"

namespace eindb {

/// When the one text column of EXPLAIN is printed as plain lines instead of in the mode. Auto: where nobody chose
/// another mode than box.
enum class ExplainText : std::uint8_t { Auto, On, Off };

/// What options and dot commands change.
struct ShellSettings {
  std::optional<PrintMode> mode;  ///< none: box on a terminal, CSV elsewhere
  bool headers = true;
  bool timer = false;
  bool echo = false;
  bool bail = true;           ///< a script ends at its first error
  std::size_t max_rows = 40;  ///< shown of a box on a terminal; 0: all
  ExplainText explain = ExplainText::Auto;
};

/// Reads lines, gathers them to statements, runs these in a session and prints what they give: results to the output,
/// errors to standard error. One thread. The session must outlive it.
class Shell {
 public:
  Shell(Session& session, ShellSettings settings);

  /// Runs everything that `source` gives, and says whether all went well. A script stops at its first error (unless
  /// bail is off); a person goes on. Throws OutputClosed.
  bool run(LineSource& source);

  /// Runs `statement` for its rows; for commands such as .tables. Throws Error.
  std::vector<Row> query(std::string_view statement);
  void print(Result& result, bool is_explain);

  Session& session() { return session_; }
  Output& output() { return output_; }
  ShellSettings& settings() { return settings_; }
  PrintMode mode() const;
  /// Nothing more is run. `status`: what the program is to exit with, whatever failed before.
  void quit(std::optional<int> status = std::nullopt) {
    quit_ = true;
    exit_status_ = status;
  }
  bool has_quit() const { return quit_; }
  /// That of .exit STATUS, if it was given.
  std::optional<int> exit_status() const { return exit_status_; }

 private:
  /// Lines that belong together, and where the first of them is.
  struct Chunk {
    const LineSource& source;
    std::string text;
    std::size_t first_line = 1;
  };

  bool take_line(Chunk& chunk, const std::string& line);
  bool run_chunk(const Chunk& chunk);
  bool run_statement(const Chunk& chunk, const StatementText& statement);
  bool run_command(const Chunk& chunk);
  void execute(const Chunk& chunk, const StatementText& statement);
  void report(const Chunk& chunk, const Error& error, std::size_t offset) const;
  void report_no_memory(const Chunk& chunk, std::size_t offset) const noexcept;
  bool stops_after_error(const LineSource& source) const { return settings_.bail && !source.is_interactive(); }

  Session& session_;
  ShellSettings settings_;
  Output output_;
  ProgressBar progress_;
  bool quit_ = false;
  std::optional<int> exit_status_;
  int depth_ = 0;  // of scripts that read scripts
};

}  // namespace eindb
