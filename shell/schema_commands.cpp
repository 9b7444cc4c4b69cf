// The dot commands that show what there is.

#include <algorithm>

#include "common/letter_case.hpp"
#include "engine/results/cell_text.hpp"
#include "shell/command_words.hpp"
#include "shell/dot_commands.hpp"
#include "shell/schema_text.hpp"

namespace eindb {

bool DotCommands::print_rows_of(const std::string& statement) {
  auto result = shell_.session().execute(statement);
  shell_.print(result, false);
  return true;
}

bool DotCommands::databases(const Arguments& /*arguments*/) {
  return print_rows_of("SELECT name, file FROM pragma_database_list WHERE name = 'main' OR file <> ''");
}

bool DotCommands::describe(const Arguments& arguments) {
  if (arguments.empty()) return tables({});
  return print_rows_of("DESCRIBE " + in_quotes(arguments[0], '"'));
}

bool DotCommands::indexes(const Arguments& arguments) {
  std::string condition = std::string("type = 'index' AND sql IS NOT NULL AND ") + kOrdinary;
  if (!arguments.empty()) condition += " AND tbl_name = " + in_quotes(arguments[0], '\'') + " COLLATE NOCASE";
  for (const auto& row : shell_.query("SELECT name FROM sqlite_schema WHERE " + condition + " ORDER BY name"))
    shell_.output().write(cell_text(row.at(0)) + "\n");
  return true;
}

bool DotCommands::schema(const Arguments& arguments) {
  std::string condition = std::string("sql IS NOT NULL AND ") + kOrdinary;
  for (const auto& name : shell_.session().tensor_names()) {
    if (arguments.empty() || equal_ignoring_case(name, arguments[0]))
      shell_.output().write(tensor_schema(shell_, name));
  }
  for (const auto& macro : macro_schemas(shell_, arguments.empty() ? "" : arguments[0])) shell_.output().write(macro);
  if (!arguments.empty()) condition += " AND tbl_name = " + in_quotes(arguments[0], '\'') + " COLLATE NOCASE";
  for (const auto& row :
       shell_.query("SELECT sql FROM sqlite_schema WHERE " + condition + " ORDER BY tbl_name, rowid")) {
    shell_.output().write(cell_text(row.at(0)) + ";\n");
  }
  return true;
}

bool DotCommands::tables(const Arguments& arguments) {
  auto names = shell_.session().tensor_names();
  const auto tables = sql_tables();
  names.insert(names.end(), tables.begin(), tables.end());
  std::sort(names.begin(), names.end());
  for (const auto& name : names) {
    const auto fits = [&] {
      const auto row = shell_.query("SELECT " + in_quotes(name, '\'') + " LIKE " + in_quotes(arguments[0], '\'')).at(0);
      return std::get<std::int64_t>(row.at(0)) == 1;
    };
    if (arguments.empty() || fits()) shell_.output().write(name + "\n");
  }
  return true;
}

/// Ordinary tables and views.
std::vector<std::string> DotCommands::sql_tables() {
  std::vector<std::string> names;
  for (const auto& row :
       shell_.query(std::string("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND ") + kOrdinary)) {
    names.push_back(cell_text(row.at(0)));
  }
  return names;
}

bool DotCommands::users(const Arguments& /*arguments*/) { return print_rows_of("SHOW USERS"); }

}  // namespace eindb
