#include "shell/dot_commands.hpp"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <utility>

#include "common/nearest_name.hpp"
#include "shell/command_words.hpp"
#include "shell/interrupts.hpp"
#include "shell/text_editor.hpp"
#include "shell/text_width.hpp"

namespace eindb {

struct DotCommands::Command {
  std::string_view name;
  std::string_view alias;      ///< psql's name for it; may be empty
  std::string_view arguments;  ///< for .help
  std::string_view description;
  std::size_t max_arguments;
  bool (DotCommands::*run)(const Arguments&);
};

namespace {

constexpr int kMaxStatus = 255;
constexpr std::size_t kAnyNumber = std::string::npos;

/// Waits; false after Ctrl-C.
bool wait_for(std::chrono::duration<double> time) {
  constexpr std::chrono::milliseconds kStep{100};
  const auto end = std::chrono::steady_clock::now() + time;
  while (!Interrupts::pending()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    poll(nullptr, 0, static_cast<int>(std::min(left, kStep).count()));
  }
  return false;
}

double number_argument(const std::string& text, double least, double most) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number >= least && number <= most))
    refuse("'" + text + "' is no number that fits here", ".watch 2 10 runs the last statement ten times");
  return number;
}

}  // namespace

const std::vector<DotCommands::Command>& DotCommands::commands() {
  static const std::vector<Command> all = {
      {".backup", "", "FILE", "copy the database to a new file", 1, &DotCommands::backup},
      {".bail", "", "on|off", "end a script at its first error", 1, &DotCommands::bail},
      {".copy", "\\copy", "...", "run COPY ...", kAnyNumber, &DotCommands::copy},
      {".databases", "\\l", "", "the open databases and their files", 0, &DotCommands::databases},
      {".describe", "\\d", "[NAME]", "the columns of a tensor, table or view; without a name as .tables", 1,
       &DotCommands::describe},
      {".dump", "", "[NAME]", "statements that make the database again, or one tensor or table", 1, &DotCommands::dump},
      {".echo", "", "on|off", "print statements before they run", 1, &DotCommands::echo},
      {".edit", "\\e", "", "edit the last statement with $VISUAL or $EDITOR, and run it", 0, &DotCommands::edit},
      {".exit", "", "[STATUS]", "leave, with an exit status", 1, &DotCommands::quit},
      {".explain", "", "on|off|auto", "print plans as plain text; auto: unless another mode than box was chosen", 1,
       &DotCommands::explain},
      {".headers", "", "on|off", "print names of columns", 1, &DotCommands::headers},
      {".help", "\\?", "[PATTERN]", "this list, or the commands whose lines contain a pattern", 1, &DotCommands::help},
      {".import", "", "FILE TABLE", "add the rows of a CSV or TSV file to a table; .import alone lists options", 6,
       &DotCommands::import_file},
      {".indexes", "\\di", "[TABLE]", "names of indexes, perhaps those of a table", 1, &DotCommands::indexes},
      {".maxrows", "", "N", "rows that a box shows on a terminal; 0: all", 1, &DotCommands::max_rows},
      {".mode", "", "MODE", "how results are printed: box, list, csv, json, jsonlines, markdown, line, tensor", 1,
       &DotCommands::mode},
      {".nullvalue", "", "TEXT", "how NULL is printed", 1, &DotCommands::null_value},
      {".once", "", "FILE", "write the next result to a file", 1, &DotCommands::once},
      {".open", "\\c", "FILE", "close this database and go on with another", 1, &DotCommands::open},
      {".output", "\\o", "[FILE]", "write results to a file; without a name, to standard output again", 1,
       &DotCommands::output},
      {".pager", "", "on|off|PROGRAM", "show results that are longer than the screen with a program", kAnyNumber,
       &DotCommands::pager},
      {".plan", "", "FILE [analyze]", "write a picture of the last statement's plan; analyze: and of its run", 2,
       &DotCommands::plan},
      {".print", "\\echo", "TEXT...", "print text", kAnyNumber, &DotCommands::print},
      {".quit", "\\q", "", "leave; the exit status tells whether a statement failed", 0, &DotCommands::quit},
      {".read", "\\i", "FILE", "run a script", 1, &DotCommands::read},
      {".schema", "", "[NAME]", "the statements that make tensors, macros and tables", 1, &DotCommands::schema},
      {".shell", "\\!", "COMMAND...", "run a command of the system", kAnyNumber, &DotCommands::system_command},
      {".tables", "\\dt", "[PATTERN]", "names of tensors and tables, perhaps those LIKE a pattern", 1,
       &DotCommands::tables},
      {".timer", "", "on|off", "print how long statements take", 1, &DotCommands::timer},
      {".timing", "\\timing", "", "switch .timer over", 1, &DotCommands::timing},
      {".users", "\\du", "", "the users of the database", 0, &DotCommands::users},
      {".watch", "\\watch", "[SECONDS] [TIMES]", "repeat the last statement, every 2 seconds without a number", 2,
       &DotCommands::watch},
      {".width", "", "[N...]", "cut the columns of a box at N characters; 0: none; alone: no column", kAnyNumber,
       &DotCommands::width},
      {".expanded", "\\x", "", "switch between the modes line and box", 1, &DotCommands::expanded},
  };
  return all;
}

std::vector<std::string> DotCommands::names() {
  std::vector<std::string> names;
  for (const auto& command : commands()) {
    names.emplace_back(command.name);
    if (!command.alias.empty()) names.emplace_back(command.alias);
  }
  return names;
}

bool DotCommands::run(std::string_view line) {
  auto arguments = split_arguments(line);
  auto name = arguments.front();
  rest_ = line.substr(std::min(line.find_first_of(" \t\r\n"), line.size()));
  rest_.erase(0, std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  rest_.erase(rest_.find_last_not_of(" \t\r\n") + 1);
  // A final semicolon is accepted and ignored.
  if (arguments.back().ends_with(';')) {
    arguments.back().pop_back();
    if (arguments.size() == 1) name = arguments.front();
    else if (arguments.back().empty()) arguments.pop_back();
  }
  arguments.erase(arguments.begin());

  const auto& command = find(name);
  if (arguments.size() > command.max_arguments) {
    refuse("too many arguments", std::string(command.name) + " " + std::string(command.arguments));
  }
  return (this->*command.run)(arguments);
}

/// Finds a command by its name, psql's name, or an unambiguous prefix of its name, as in sqlite3.
const DotCommands::Command& DotCommands::find(const std::string& written) {
  const auto& all = commands();
  // psql's \d+ shows more than \d; here both show all there is.
  const auto name =
      written.starts_with('\\') && written.ends_with('+') ? written.substr(0, written.size() - 1) : written;
  const auto exact =
      std::find_if(all.begin(), all.end(), [&](const Command& c) { return c.name == name || c.alias == name; });
  if (exact != all.end()) return *exact;
  std::vector<const Command*> begun;
  std::string listed;
  for (const auto& command : all) {
    if (name.size() < 2 || !command.name.starts_with(name)) continue;
    begun.push_back(&command);
    listed += (listed.empty() ? "" : ", ") + std::string(command.name);
  }
  if (begun.size() == 1) return *begun.front();
  if (!begun.empty()) throw Error(ErrorKind::UnknownName, name + " may be " + listed, std::nullopt, "write more of it");
  const auto known = names();
  const auto nearest = nearest_name(name, known);
  throw Error(ErrorKind::UnknownName, "there is no command " + name, std::nullopt,
              nearest ? "did you mean " + *nearest + "?" : ".help lists all");
}

bool DotCommands::edit(const Arguments& /*arguments*/) {
  if (!shell_.is_interactive()) refuse("an editor needs a terminal", "start eindb without -c and -f");
  shell_.output().flush();
  const auto edited = edited_text(shell_.last_statement());
  if (!edited) return true;
  shell_.output().write(*edited);
  shell_.output().flush();
  shell_.remember(*edited);
  return shell_.run_text(*edited);
}

bool DotCommands::help(const Arguments& arguments) {
  bool found = false;
  for (const auto& command : commands()) {
    const auto usage = std::string(command.name) + " " + std::string(command.arguments);
    const auto line =
        padded_right(usage, 27) + padded_right(std::string(command.alias), 9) + std::string(command.description) + "\n";
    if (!arguments.empty() && line.find(arguments[0]) == std::string::npos) continue;
    found = true;
    shell_.output().write(line);
  }
  if (!found) refuse("no command is about '" + arguments[0] + "'", ".help lists all");
  if (!arguments.empty()) return true;
  shell_.output().write("Any other line is part of a statement, which ends with a semicolon.\n");
  return true;
}

bool DotCommands::print(const Arguments& arguments) {
  std::string line;
  for (const auto& word : arguments) line += (line.empty() ? "" : " ") + word;
  shell_.output().write(line + "\n");
  return true;
}

bool DotCommands::quit(const Arguments& arguments) {
  if (arguments.empty()) return shell_.quit(), true;
  const auto& text = arguments[0];
  int status = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
  if (error != std::errc() || end != text.data() + text.size() || status < 0 || status > kMaxStatus)
    refuse("'" + text + "' is no exit status", "a number from 0 to " + std::to_string(kMaxStatus));
  shell_.quit(status);
  return true;
}

bool DotCommands::read(const Arguments& arguments) {
  if (arguments.empty()) refuse(".read needs the name of a file", ".read job.sql");
  FileLines lines(arguments[0]);
  return shell_.run(lines);
}

bool DotCommands::system_command(const Arguments& arguments) {
  if (arguments.empty()) refuse(".shell needs a command", ".shell ls -l");
  shell_.output().flush();
  const int status = std::system(rest_.c_str());
  if (status == 0) return true;
  const auto code = WIFEXITED(status) ? WEXITSTATUS(status) : status;
  throw Error(ErrorKind::Io, "the command ended with status " + std::to_string(code));
}

bool DotCommands::watch(const Arguments& arguments) {
  constexpr double kMost = 1e6;
  const auto statement = shell_.last_statement();
  if (statement.empty()) refuse("there is no statement to repeat", "run it once, then .watch");
  const auto seconds = arguments.empty() ? 2.0 : number_argument(arguments[0], 0, kMost);
  const auto times =
      arguments.size() < 2 ? std::numeric_limits<double>::infinity() : number_argument(arguments[1], 1, kMost);
  const auto pager = std::exchange(shell_.settings().pager, {});
  bool ok = true;
  const Interrupts::Scope scope(shell_.session());  // so that Ctrl-C counts between statements, too
  for (double round = 0; ok && round < times; ++round) {
    if (round > 0 && !wait_for(std::chrono::duration<double>(seconds))) break;
    const auto now = std::time(nullptr);
    std::array<char, 32> text{};
    std::tm local{};
    localtime_r(&now, &local);
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
    shell_.output().write("-- " + std::string(text.data()) + "\n");
    ok = shell_.run_text(statement);
  }
  shell_.settings().pager = pager;
  return ok;
}

}  // namespace eindb
