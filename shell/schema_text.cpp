#include "shell/schema_text.hpp"

#include <string_view>

#include "common/letter_case.hpp"
#include "engine/results/cell_text.hpp"
#include "engine/session.hpp"
#include "shell/command_words.hpp"

namespace eindb {
namespace {

// The statement that makes a macro, or an aggregate, whose definition begins with that word.
std::string creation_of(const std::string& name, const std::string& definition) {
  constexpr std::string_view kAggregate = "AGGREGATE ";
  if (!definition.starts_with(kAggregate)) return "CREATE MACRO " + name + definition;
  return "CREATE AGGREGATE " + name + definition.substr(kAggregate.size());
}

// " 1000", or what gives the names of the indices and so their number.
std::string extent_text(const Cell& extent, const IndexNames::Ptr& names) {
  if (names == nullptr) return " " + cell_text(extent);
  if (names->size() == 0) return " IN (SELECT NULL WHERE 0)";
  const auto last = names->name(names->size() - 1);
  if (names->is_calendar()) {
    return " FROM " + in_quotes(names->first(), '\'') + " TO " + in_quotes(last, '\'') + " STEP " +
           in_quotes(names->step(), '\'');
  }
  std::string list;
  for (std::int64_t n = 0; n < names->size(); ++n) list += (n == 0 ? "" : ", ") + in_quotes(names->name(n), '\'');
  return " IN (" + list + ")";
}

}  // namespace

/// Built from the names of indices and the rows of DESCRIBE: (label, "label", extent, parts) per dimension, then
/// ("val", type, NULL, NULL), and
/// ("replicas", "placement", copies, NULL) if tiles have copies.
std::string tensor_schema(Shell& shell, const std::string& name) {
  std::string dimensions;
  std::string partition;
  std::string type;
  std::string replicas;
  const auto names = shell.session().index_names(name);
  std::size_t dimension = 0;
  for (const auto& row : shell.query("DESCRIBE " + in_quotes(name, '"'))) {
    if (std::holds_alternative<std::monostate>(row.at(2))) {
      type = cell_text(row.at(1));
      continue;
    }
    if (cell_text(row.at(1)) == "placement") {
      replicas = " REPLICAS " + cell_text(row.at(2));
      continue;
    }
    const std::string comma = dimensions.empty() ? "" : ", ";
    dimensions += comma + identifier(cell_text(row.at(0))) + extent_text(row.at(2), names.at(dimension++));
    partition += comma + cell_text(row.at(3));
  }
  if (!partition.empty()) partition = " PARTITION (" + partition + ")";
  return "CREATE TENSOR " + identifier(name) + " (" + dimensions + ") " + type + partition + replicas + ";\n";
}

std::vector<std::string> macro_schemas(Shell& shell, const std::string& name) {
  std::vector<std::string> statements;
  for (const auto& row : shell.query("SHOW MACROS")) {
    const auto macro = cell_text(row.at(0));
    if (name.empty() || equal_ignoring_case(macro, name))
      statements.push_back(creation_of(identifier(macro), cell_text(row.at(1))) + ";\n");
  }
  return statements;
}

}  // namespace eindb
