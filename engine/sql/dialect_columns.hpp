#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/dialect/names.hpp"
#include "engine/results/result.hpp"
#include "engine/sql_types/sql_types.hpp"

namespace eindb {

/// What a session knows of the names in SQL. The schemas may be empty.
struct SchemaLookups {
  /// The columns of a table, view or tensor as SQL sees it; nullopt if there is none.
  std::function<std::optional<std::vector<TypedColumn>>(const std::string& schema, const std::string& table)> columns;
  /// The text of CREATE VIEW; nullopt if there is no such view.
  std::function<std::optional<std::string>(const std::string& schema, const std::string& view)> view_text;
  /// The columns of a query of eindb's language. Throws Error for a query that is wrong.
  std::function<std::vector<Column>(const std::string& query)> query_columns;
};

/// The columns of a table, view, tensor or (in the schema kEinsumSchema) query, with the types that the dialect gives
/// them; nullopt if there is none. The computed columns of a view have the types of its query's translation.
std::optional<std::vector<dialect::Column>> columns_for_dialect(const SchemaLookups& lookups, const std::string& schema,
                                                                const std::string& table);

}  // namespace eindb
