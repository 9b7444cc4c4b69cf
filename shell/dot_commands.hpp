#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/shell.hpp"

namespace eindb {

/// Executes lines for the shell rather than the database: sqlite3's .commands, and for some also psql's \names. Lives
/// for one command. The functions stand in dot_commands, setting_commands, schema_commands and file_commands.
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

  // dot_commands.cpp: what runs statements and programs, and help.
  bool edit(const Arguments& arguments);
  bool help(const Arguments& arguments);
  bool print(const Arguments& arguments);
  bool quit(const Arguments& arguments);
  bool read(const Arguments& arguments);
  bool system_command(const Arguments& arguments);
  bool watch(const Arguments& arguments);

  // setting_commands.cpp
  bool bail(const Arguments& arguments);
  bool echo(const Arguments& arguments);
  bool expanded(const Arguments& arguments);
  bool explain(const Arguments& arguments);
  bool headers(const Arguments& arguments);
  bool max_rows(const Arguments& arguments);
  bool mode(const Arguments& arguments);
  bool null_value(const Arguments& arguments);
  bool pager(const Arguments& arguments);
  bool timer(const Arguments& arguments);
  bool timing(const Arguments& arguments);
  bool width(const Arguments& arguments);

  // schema_commands.cpp
  bool databases(const Arguments& arguments);
  bool describe(const Arguments& arguments);
  bool indexes(const Arguments& arguments);
  bool schema(const Arguments& arguments);
  bool tables(const Arguments& arguments);
  bool users(const Arguments& arguments);

  // file_commands.cpp
  bool backup(const Arguments& arguments);
  bool copy(const Arguments& arguments);
  bool dump(const Arguments& arguments);
  bool import_file(const Arguments& arguments);
  bool once(const Arguments& arguments);
  bool open(const Arguments& arguments);
  bool output(const Arguments& arguments);
  bool plan(const Arguments& arguments);

  bool print_rows_of(const std::string& statement);
  std::vector<std::string> sql_tables();

  Shell& shell_;
  std::string rest_;  // of the line, behind the command's name, as it was written
};

}  // namespace eindb
