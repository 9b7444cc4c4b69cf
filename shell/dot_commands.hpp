#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/shell.hpp"

namespace eindb {

/// Executes lines for the shell rather than the database: sqlite3's .commands, and for some also psql's \names. Lives
/// for one command.
class DotCommands {
 public:
  explicit DotCommands(Shell& shell) : shell_(shell) {}

  static bool is_command(std::string_view line) { return line.starts_with('.') || line.starts_with('\\'); }
  /// All commands, such as ".tables" and "\dt", for completion.
  static std::vector<std::string> names();

  /// Runs one line. False if the command ran a script that failed; throws Error for errors of its own.
  bool run(std::string_view line);

 private:
  struct Command;
  using Arguments = std::vector<std::string>;
  static const std::vector<Command>& commands();
  static const Command& find(const std::string& name);

  bool bail(const Arguments& arguments);
  bool describe(const Arguments& arguments);
  bool echo(const Arguments& arguments);
  bool explain(const Arguments& arguments);
  bool headers(const Arguments& arguments);
  bool help(const Arguments& arguments);
  bool max_rows(const Arguments& arguments);
  bool mode(const Arguments& arguments);
  bool once(const Arguments& arguments);
  bool output(const Arguments& arguments);
  bool print(const Arguments& arguments);
  bool quit(const Arguments& arguments);
  bool read(const Arguments& arguments);
  bool schema(const Arguments& arguments);
  bool tables(const Arguments& arguments);
  bool timer(const Arguments& arguments);
  bool expanded(const Arguments& arguments);
  bool timing(const Arguments& arguments);

  std::vector<std::string> sql_tables();
  std::string tensor_schema(const std::string& name);

  Shell& shell_;
};

}  // namespace eindb
