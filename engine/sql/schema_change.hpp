#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/ast.hpp"

namespace eindb {

/// DROP TABLE or DROP VIEW with several names, or with CASCADE or RESTRICT, which SQLite does not know.
struct DropOfSeveral {
  /// A DROP of one name each. Names stand where they stand in the whole, so that places of errors hold.
  std::vector<std::string> statements;
  ast::DropBehavior behavior = ast::DropBehavior::Plain;
};
/// nullopt for other SQL, and for a DROP that SQLite runs.
std::optional<DropOfSeveral> drop_of_several(std::string_view sql);

/// CREATE OR REPLACE [TEMP] VIEW.
struct ReplacedView {
  std::string create;  ///< without OR REPLACE; the rest stands where it stood
  std::string schema;  ///< temp or main
  std::string name;
  SourceSpan span;  ///< of the name
};
std::optional<ReplacedView> replaced_view(std::string_view sql);

/// CREATE [TEMP] TABLE [IF NOT EXISTS] name (columns) AS query: a table whose columns have types from the beginning,
/// which SQLite does not know.
struct TableOfQuery {
  std::string create;
  std::string insert;  ///< the query stands where it stood
  std::string schema;  ///< temp or main
  std::string name;
  bool if_not_exists = false;
};
std::optional<TableOfQuery> table_of_query(std::string_view sql);

}  // namespace eindb
