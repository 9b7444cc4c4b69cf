#include "shell/dot_commands.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "engine/results/cell_text.hpp"
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

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw Error(ErrorKind::Value, message, std::nullopt, hint);
}

/// Splits a line into words separated by blanks; 'single' or "double" quotes protect blanks.
std::vector<std::string> split_arguments(std::string_view line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t\r\n", at)) != std::string_view::npos) {
    const char quote = line[at] == '\'' || line[at] == '"' ? line[at] : '\0';
    const auto begin = quote != '\0' ? at + 1 : at;
    const auto end =
        std::min(quote != '\0' ? line.find(quote, begin) : line.find_first_of(" \t\r\n", begin), line.size());
    words.emplace_back(line.substr(begin, end - begin));
    at = std::min(end + (quote != '\0' ? 1 : 0), line.size());
  }
  return words;
}

/// An identifier or a text in SQL syntax, with inner quotes doubled.
std::string quoted(const std::string& text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote) out += quote;
    out += c;
  }
  return out + quote;
}

/// The name in SQL syntax, quoted only if necessary.
std::string identifier(const std::string& name) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  const bool plain = std::all_of(name.begin(), name.end(), is_plain) && !name.empty() &&
                     std::isdigit(static_cast<unsigned char>(name[0])) == 0;
  return plain ? name : quoted(name, '"');
}

bool on_or_off(const std::vector<std::string>& arguments, bool current) {
  if (arguments.empty()) return !current;
  if (arguments[0] == "on") return true;
  if (arguments[0] == "off") return false;
  refuse("'" + arguments[0] + "' is neither on nor off", "without an argument, the command switches over");
}

}  // namespace

const std::vector<DotCommands::Command>& DotCommands::commands() {
  static const std::vector<Command> all = {
      {".bail", "", "on|off", "end a script at its first error", 1, &DotCommands::bail},
      {".describe", "\\d", "[NAME]", "a tensor's labels, type and partition; without a name as .tables", 1,
       &DotCommands::describe},
      {".echo", "", "on|off", "print statements before they run", 1, &DotCommands::echo},
      {".exit", "", "[STATUS]", "leave, with an exit status", 1, &DotCommands::quit},
      {".explain", "", "on|off|auto", "print plans as plain text; auto: unless another mode than box was chosen", 1,
       &DotCommands::explain},
      {".headers", "", "on|off", "print names of columns", 1, &DotCommands::headers},
      {".help", "\\?", "[PATTERN]", "this list, or the commands whose lines contain a pattern", 1, &DotCommands::help},
      {".maxrows", "", "N", "rows that a box shows on a terminal; 0: all", 1, &DotCommands::max_rows},
      {".mode", "", "MODE", "how results are printed: box, list, csv, json, jsonlines, markdown, line, tensor", 1,
       &DotCommands::mode},
      {".once", "", "FILE", "write the next result to a file", 1, &DotCommands::once},
      {".output", "\\o", "[FILE]", "write results to a file; without a name, to standard output again", 1,
       &DotCommands::output},
      {".print", "\\echo", "TEXT...", "print text", std::string::npos, &DotCommands::print},
      {".quit", "\\q", "", "leave; the exit status tells whether a statement failed", 0, &DotCommands::quit},
      {".read", "\\i", "FILE", "run a script", 1, &DotCommands::read},
      {".schema", "", "[NAME]", "the statements that make tensors, macros and tables", 1, &DotCommands::schema},
      {".tables", "\\dt", "[PATTERN]", "names of tensors and tables, perhaps those LIKE a pattern", 1,
       &DotCommands::tables},
      {".timer", "", "on|off", "print how long statements take", 1, &DotCommands::timer},
      {".timing", "\\timing", "", "switch .timer over", 1, &DotCommands::timing},
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
  // A final semicolon is accepted and ignored.
  if (arguments.back().ends_with(';')) arguments.back().pop_back();
  if (arguments.size() == 1) name = arguments.front();
  if (arguments.back().empty()) arguments.pop_back();
  if (!arguments.empty()) arguments.erase(arguments.begin());

  const auto& command = find(name);
  if (arguments.size() > command.max_arguments) {
    refuse("too many arguments", std::string(command.name) + " " + std::string(command.arguments));
  }
  return (this->*command.run)(arguments);
}

/// Finds a command by its name, psql's name, or an unambiguous prefix of its name, as in sqlite3.
const DotCommands::Command& DotCommands::find(const std::string& name) {
  const auto& all = commands();
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

bool DotCommands::bail(const Arguments& arguments) {
  shell_.settings().bail = on_or_off(arguments, shell_.settings().bail);
  return true;
}

bool DotCommands::describe(const Arguments& arguments) {
  if (arguments.empty()) return tables({});
  auto result = shell_.session().execute("DESCRIBE " + quoted(arguments[0], '"'));
  shell_.print(result, false);
  return true;
}

bool DotCommands::echo(const Arguments& arguments) {
  shell_.settings().echo = on_or_off(arguments, shell_.settings().echo);
  return true;
}

bool DotCommands::explain(const Arguments& arguments) {
  auto& setting = shell_.settings().explain;
  if (!arguments.empty() && arguments[0] == "auto") setting = ExplainText::Auto;
  else setting = on_or_off(arguments, setting == ExplainText::On) ? ExplainText::On : ExplainText::Off;
  return true;
}

bool DotCommands::headers(const Arguments& arguments) {
  shell_.settings().headers = on_or_off(arguments, shell_.settings().headers);
  return true;
}

bool DotCommands::help(const Arguments& arguments) {
  bool found = false;
  for (const auto& command : commands()) {
    const auto usage = std::string(command.name) + " " + std::string(command.arguments);
    const auto line =
        padded_right(usage, 24) + padded_right(std::string(command.alias), 9) + std::string(command.description) + "\n";
    if (!arguments.empty() && line.find(arguments[0]) == std::string::npos) continue;
    found = true;
    shell_.output().write(line);
  }
  if (!found) refuse("no command is about '" + arguments[0] + "'", ".help lists all");
  if (!arguments.empty()) return true;
  shell_.output().write("Any other line is part of a statement, which ends with a semicolon.\n");
  return true;
}

bool DotCommands::max_rows(const Arguments& arguments) {
  auto& setting = shell_.settings().max_rows;
  if (arguments.empty()) return shell_.output().write(std::to_string(setting) + "\n"), true;
  const auto& text = arguments[0];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), setting);
  if (error != std::errc() || end != text.data() + text.size())
    refuse("'" + text + "' is no number of rows", "0 shows all");
  return true;
}

bool DotCommands::mode(const Arguments& arguments) {
  if (arguments.empty()) return shell_.output().write(std::string(name_of(shell_.mode())) + "\n"), true;
  const auto mode = parse_print_mode(arguments[0]);
  if (!mode) refuse("there is no mode '" + arguments[0] + "'", "the modes are " + print_mode_list());
  shell_.settings().mode = mode;
  return true;
}

bool DotCommands::once(const Arguments& arguments) {
  if (arguments.empty()) refuse(".once needs the name of a file", ".output goes back to standard output");
  shell_.output().redirect_once(arguments[0]);
  return true;
}

bool DotCommands::output(const Arguments& arguments) {
  const bool is_back = arguments.empty() || arguments[0] == "stdout";
  shell_.output().redirect(is_back ? "" : arguments[0]);
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

bool DotCommands::timer(const Arguments& arguments) {
  shell_.settings().timer = on_or_off(arguments, shell_.settings().timer);
  return true;
}

bool DotCommands::timing(const Arguments& arguments) {
  timer(arguments);
  shell_.output().write(std::string("Timing is ") + (shell_.settings().timer ? "on" : "off") + ".\n");
  return true;
}

bool DotCommands::expanded(const Arguments& /*arguments*/) {
  auto& mode = shell_.settings().mode;
  mode = mode == PrintMode::Line ? PrintMode::Box : PrintMode::Line;
  return true;
}

bool DotCommands::tables(const Arguments& arguments) {
  auto names = shell_.session().tensor_names();
  const auto tables = sql_tables();
  names.insert(names.end(), tables.begin(), tables.end());
  std::sort(names.begin(), names.end());
  for (const auto& name : names) {
    const auto fits = [&] {
      const auto row = shell_.query("SELECT " + quoted(name, '\'') + " LIKE " + quoted(arguments[0], '\'')).at(0);
      return std::get<std::int64_t>(row.at(0)) == 1;
    };
    if (arguments.empty() || fits()) shell_.output().write(name + "\n");
  }
  return true;
}

/// Ordinary tables and views; names with `eindb_` and `sqlite_` are reserved.
std::vector<std::string> DotCommands::sql_tables() {
  std::vector<std::string> names;
  for (const auto& row : shell_.query("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND "
                                      "name NOT LIKE 'eindb!_%' ESCAPE '!' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'")) {
    names.push_back(cell_text(row.at(0)));
  }
  return names;
}

bool DotCommands::schema(const Arguments& arguments) {
  std::string condition = "sql IS NOT NULL AND name NOT LIKE 'eindb!_%' ESCAPE '!'";
  for (const auto& name : shell_.session().tensor_names()) {
    if (arguments.empty() || equal_ignoring_case(name, arguments[0])) shell_.output().write(tensor_schema(name));
  }
  for (const auto& row : shell_.query("SHOW MACROS")) {
    const auto name = cell_text(row.at(0));
    if (arguments.empty() || equal_ignoring_case(name, arguments[0]))
      shell_.output().write("CREATE MACRO " + identifier(name) + cell_text(row.at(1)) + ";\n");
  }
  if (!arguments.empty()) condition += " AND tbl_name = " + quoted(arguments[0], '\'') + " COLLATE NOCASE";
  for (const auto& row :
       shell_.query("SELECT sql FROM sqlite_schema WHERE " + condition + " ORDER BY tbl_name, rowid")) {
    shell_.output().write(cell_text(row.at(0)) + ";\n");
  }
  return true;
}

/// Built from the rows of DESCRIBE: (label, "label", extent, parts) per dimension, then ("val", type, NULL, NULL), and
/// ("replicas", "placement", copies, NULL) if tiles have copies.
std::string DotCommands::tensor_schema(const std::string& name) {
  std::string dimensions;
  std::string partition;
  std::string type;
  std::string replicas;
  for (const auto& row : shell_.query("DESCRIBE " + quoted(name, '"'))) {
    if (std::holds_alternative<std::monostate>(row.at(2))) {
      type = cell_text(row.at(1));
      continue;
    }
    if (cell_text(row.at(1)) == "placement") {
      replicas = " REPLICAS " + cell_text(row.at(2));
      continue;
    }
    const std::string comma = dimensions.empty() ? "" : ", ";
    dimensions += comma + identifier(cell_text(row.at(0))) + " " + cell_text(row.at(2));
    partition += comma + cell_text(row.at(3));
  }
  if (!partition.empty()) partition = " PARTITION (" + partition + ")";
  return "CREATE TENSOR " + identifier(name) + " (" + dimensions + ") " + type + partition + replicas + ";\n";
}

}  // namespace eindb
