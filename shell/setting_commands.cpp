// The dot commands for settings of the shell.

#include <charconv>

#include "shell/command_words.hpp"
#include "shell/dot_commands.hpp"

namespace eindb {
namespace {

bool on_or_off(const std::vector<std::string>& arguments, bool current) {
  if (arguments.empty()) return !current;
  if (arguments[0] == "on") return true;
  if (arguments[0] == "off") return false;
  refuse("'" + arguments[0] + "' is neither on nor off", "without an argument, the command switches over");
}

std::size_t count_of(const std::string& text, const std::string& what, const std::string& hint) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) refuse("'" + text + "' is no " + what, hint);
  return number;
}

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace

bool DotCommands::bail(const Arguments& arguments) {
  shell_.settings().bail = on_or_off(arguments, shell_.settings().bail);
  return true;
}

bool DotCommands::echo(const Arguments& arguments) {
  shell_.settings().echo = on_or_off(arguments, shell_.settings().echo);
  return true;
}

bool DotCommands::expanded(const Arguments& /*arguments*/) {
  auto& mode = shell_.settings().mode;
  mode = mode == PrintMode::Line ? PrintMode::Box : PrintMode::Line;
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

bool DotCommands::max_rows(const Arguments& arguments) {
  auto& setting = shell_.settings().max_rows;
  if (arguments.empty()) return shell_.output().write(std::to_string(setting) + "\n"), true;
  setting = count_of(arguments[0], "number of rows", "0 shows all");
  return true;
}

bool DotCommands::mode(const Arguments& arguments) {
  if (arguments.empty()) return shell_.output().write(std::string(name_of(shell_.mode())) + "\n"), true;
  const auto mode = parse_print_mode(arguments[0]);
  if (!mode) refuse("there is no mode '" + arguments[0] + "'", "the modes are " + print_mode_list());
  shell_.settings().mode = mode;
  return true;
}

bool DotCommands::null_value(const Arguments& arguments) {
  auto& setting = shell_.settings().null_text;
  if (arguments.empty()) setting.reset();
  else setting = arguments[0];
  return true;
}

bool DotCommands::pager(const Arguments& arguments) {
  auto& setting = shell_.settings().pager;
  if (arguments.empty()) return shell_.output().write((setting.empty() ? "off" : setting) + "\n"), true;
  if (arguments[0] == "off") setting.clear();
  else if (arguments[0] != "on") setting = joined(arguments);
  else if (setting = default_pager(); setting.empty())
    refuse("there is no pager", "set PAGER, or name a program: .pager less");
  return true;
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

bool DotCommands::width(const Arguments& arguments) {
  std::vector<std::size_t> widths;
  for (const auto& text : arguments)
    widths.push_back(count_of(text, "width of a column", "0 is as wide as the column's values"));
  shell_.settings().widths = std::move(widths);
  return true;
}

}  // namespace eindb
