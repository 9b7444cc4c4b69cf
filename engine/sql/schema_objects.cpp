#include "engine/sql/schema_objects.hpp"

namespace eindb {

std::string kind_of_object(std::string_view schema, std::string_view name, SqliteConnection& connection) {
  auto select = connection.prepare("SELECT type FROM " + quote_identifier(schema) +
                                   ".sqlite_schema WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE");
  select.bind(1, name);
  return select.step() ? select.text(0) : std::string();
}

}  // namespace eindb
