#include "shell/schema_text.hpp"

#include <string_view>

#include "common/letter_case.hpp"
#include "engine/results/cell_text.hpp"
#include "shell/command_words.hpp"

namespace eindb {
namespace {

// The statement that makes a macro, or an aggregate, whose definition begins with that word.
std::string creation_of(const std::string& name, const std::string& definition) {
  constexpr std::string_view kAggregate = "AGGREGATE ";
  if (!definition.starts_with(kAggregate)) return "CREATE MACRO " + name + definition;
  return "CREATE AGGREGATE " + name + definition.substr(kAggregate.size());
}

}  // namespace

/// Built from the rows of DESCRIBE: (label, "label", extent, parts) per dimension, then ("val", type, NULL, NULL), and
/// ("replicas", "placement", copies, NULL) if tiles have copies.
std::string tensor_schema(Shell& shell, const std::string& name) {
  std::string dimensions;
  std::string partition;
  std::string type;
  std::string replicas;
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
    dimensions += comma + identifier(cell_text(row.at(0))) + " " + cell_text(row.at(2));
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
