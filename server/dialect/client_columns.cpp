#include "server/dialect/client_columns.hpp"

#include "engine/sql/dialect_columns.hpp"

namespace eindb {

std::optional<std::vector<dialect::Column>> columns_for_client(Session& session, const std::string& schema,
                                                               const std::string& table) {
  const SchemaLookups lookups{
      .columns = [&](const std::string& of, const std::string& name) { return session.columns_of(of, name); },
      .view_text = [&](const std::string& of, const std::string& view) { return session.view_text(of, view); },
      .query_columns =
          [&](const std::string& query) {
            const auto prepared = session.prepare(query);
            return session.describe(*prepared, {}).columns;
          }};
  return columns_for_dialect(lookups, schema, table);
}

}  // namespace eindb
