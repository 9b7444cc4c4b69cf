// The dot commands that read and write files.

#include "common/check.hpp"
#include "engine/results/cell_text.hpp"
#include "shell/command_words.hpp"
#include "shell/csv_import.hpp"
#include "shell/dot_commands.hpp"
#include "shell/interrupts.hpp"
#include "shell/sql_dump.hpp"

namespace eindb {

bool DotCommands::backup(const Arguments& arguments) {
  if (arguments.empty()) refuse(".backup needs the name of a file", ".backup copy.db");
  const Interrupts::Scope scope(shell_.session());
  shell_.session().execute("BACKUP TO " + in_quotes(arguments[0], '\''));
  return true;
}

bool DotCommands::copy(const Arguments& arguments) {
  if (arguments.empty()) refuse("\\copy needs what COPY needs", "\\copy X TO 'x.npy'");
  return shell_.run_text("COPY " + rest_);
}

bool DotCommands::dump(const Arguments& arguments) {
  write_dump(shell_, arguments.empty() ? "" : arguments[0]);
  return true;
}

bool DotCommands::import_file(const Arguments& arguments) {
  CsvImport request;
  std::vector<std::string> names;
  std::string separator;
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    const auto& word = arguments[n];
    if (word == "--noheader") request.has_header = false;
    else if (word == "--separator" && n + 1 < arguments.size()) separator = arguments[++n];
    else if (word == "--csv") separator = ",";
    else if (word.starts_with("--")) refuse(".import has no option " + word, "--noheader, --separator C");
    else names.push_back(word);
  }
  if (names.size() != 2)
    refuse(".import needs a file and a table", ".import [--noheader] [--separator C] data.csv table");
  request.file = names[0];
  request.table = names[1];
  if (separator == "\\t" || (separator.empty() && request.file.ends_with(".tsv"))) separator = "\t";
  if (separator.size() > 1 || separator == "\"" || separator == "\n")
    refuse("'" + separator + "' separates no values", "one character, as in --separator ';'");
  if (!separator.empty()) request.separator = separator[0];
  const auto rows = import_csv(shell_, request);
  if (shell_.is_interactive()) shell_.output().write(std::to_string(rows) + (rows == 1 ? " row\n" : " rows\n"));
  return true;
}

bool DotCommands::once(const Arguments& arguments) {
  if (arguments.empty()) refuse(".once needs the name of a file", ".output goes back to standard output");
  shell_.output().redirect_once(arguments[0]);
  return true;
}

bool DotCommands::open(const Arguments& arguments) {
  if (arguments.empty()) refuse(".open needs the name of a file", ".open my.db; :memory: is a database in memory");
  if (shell_.session().in_transaction()) refuse("a transaction is open", "COMMIT or ROLLBACK it first");
  shell_.open(arguments[0]);
  return true;
}

bool DotCommands::output(const Arguments& arguments) {
  const bool is_back = arguments.empty() || arguments[0] == "stdout";
  shell_.output().redirect(is_back ? "" : arguments[0]);
  return true;
}

bool DotCommands::plan(const Arguments& arguments) {
  const std::string example = ".plan plan.html after an EINSUM; .plan plan.html analyze runs it again";
  if (arguments.empty()) refuse(".plan needs the name of a file", example);
  const bool analyze = arguments.size() > 1;
  if (analyze && arguments[1] != "analyze") refuse("'" + arguments[1] + "' is nothing that .plan knows", example);
  if (shell_.last_statement().empty()) refuse("there is no statement whose plan could be drawn", example);
  const Interrupts::Scope scope(shell_.session());
  const auto rows =
      shell_.query((analyze ? "EXPLAIN (FORMAT html, ANALYZE) " : "EXPLAIN (FORMAT html) ") + shell_.last_statement());
  CHECK(rows.size() == 1 && rows[0].size() == 1, "a page is one value");
  shell_.output().flush();
  shell_.output().redirect_once(arguments[0]);
  shell_.output().write(cell_text(rows[0][0]) + "\n");
  shell_.output().flush();
  shell_.output().end_once();
  return true;
}

}  // namespace eindb
