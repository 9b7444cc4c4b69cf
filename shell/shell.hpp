#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "engine/script.hpp"
#include "engine/session.hpp"
#include "shell/line_source.hpp"
#include "shell/output.hpp"
#include "shell/progress_bar.hpp"
#include "shell/result_printer.hpp"

namespace eindb {

/// When the text column of EXPLAIN is printed as plain lines rather than in the print mode. Auto: unless the user chose
/// another mode than box.
enum class ExplainText : std::uint8_t { Auto, On, Off };

/// The settings changed by options and dot commands.
struct ShellSettings {
  std::optional<PrintMode> mode;  ///< nullopt: box on a terminal, CSV elsewhere
  bool headers = true;
  bool timer = false;
  bool echo = false;
  bool bail = true;           ///< a script ends at its first error
  std::size_t max_rows = 40;  ///< rows shown of a box on a terminal; 0: all
  ExplainText explain = ExplainText::Auto;
  std::optional<std::string> null_text;  ///< nullopt: as is usual in the mode
  std::vector<std::size_t> widths;       ///< the most that the columns of a box are wide; 0, and further ones: any
  std::string pager;                     ///< a command for long results of interactive use; empty: none
};

/// Opens a database, with the options and settings that the program was started with. Throws Error.
using SessionOpener = std::function<std::unique_ptr<Session>(const std::string& database)>;

/// Reads lines, assembles them into statements, runs these in a session and prints their results to the output and
/// their errors to standard error. Used by one thread.
class Shell {
 public:
  /// Opens `database`. Throws what `opener` throws.
  Shell(SessionOpener opener, const std::string& database, ShellSettings settings);

  /// Goes on with another database; the session with the present one ends. Without a change if that throws.
  void open(const std::string& database);
  const std::string& database() const { return database_; }

  /// Runs everything from `source`; returns whether all statements succeeded. A script stops at its first error (unless
  /// bail is off), an interactive source continues. Throws OutputClosed.
  bool run(LineSource& source);

  /// Runs `statement` and returns its rows, for commands such as .tables. Throws Error.
  std::vector<Row> query(std::string_view statement);
  void print(Result& result, bool is_explain);
  /// Runs the statements of `text` as if they stood where the running command stands; returns whether all succeeded.
  bool run_text(const std::string& text);
  /// Puts a statement that the user has not typed into the history.
  void remember(const std::string& text) {
    if (user_ != nullptr) user_->remember(text);
  }
  /// The last statement that was run, as it was read; may be empty.
  const std::string& last_statement() const { return last_statement_; }

  Session& session() { return *session_; }
  Output& output() { return output_; }
  ShellSettings& settings() { return settings_; }
  PrintMode mode() const;
  /// Runs nothing more. `status`: the program's exit status, whatever failed before.
  void quit(std::optional<int> status = std::nullopt) {
    quit_ = true;
    exit_status_ = status;
  }
  bool has_quit() const { return quit_; }
  /// Whether a user types what runs.
  bool is_interactive() const { return is_interactive_; }
  /// The status given to .exit, if any.
  std::optional<int> exit_status() const { return exit_status_; }

 private:
  /// Lines of one statement, and the number of their first line.
  struct Chunk {
    LineSource& source;
    std::string text;
    std::size_t first_line = 1;
  };

  bool read_all(LineSource& source);
  bool take_line(Chunk& chunk, const std::string& line);
  bool take_word(Chunk& chunk, const std::string& line);
  bool run_chunk(const Chunk& chunk);
  bool run_statement(const Chunk& chunk, const StatementText& statement);
  bool run_command(const Chunk& chunk);
  void execute(const Chunk& chunk, const StatementText& statement);
  void end_output() noexcept;
  void report(const Chunk& chunk, const Error& error, std::size_t offset) const;
  void report_no_memory(const Chunk& chunk, std::size_t offset) const noexcept;
  bool stops_after_error(const LineSource& source) const { return settings_.bail && !source.is_interactive(); }

  SessionOpener opener_;
  std::string database_;
  std::unique_ptr<Session> session_;
  ShellSettings settings_;
  Output output_;
  ProgressBar progress_;
  bool quit_ = false;
  std::optional<int> exit_status_;
  int depth_ = 0;  // nesting depth of scripts that read scripts
  bool is_interactive_ = false;
  LineSource* user_ = nullptr;  // the interactive source that run() reads
  std::string last_statement_;
};

}  // namespace eindb
