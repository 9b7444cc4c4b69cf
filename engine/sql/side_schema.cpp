#include "engine/sql/side_schema.hpp"

#include <utility>

#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

/// The name of a database in memory that is writable even when attached to a read-only connection.
std::string writable_memory(const SqliteConnection& connection) {
  return connection.is_read_only() ? "file:eindb?mode=memory" : ":memory:";
}

}  // namespace

SideSchemas::Version SideSchemas::version_of(SqliteConnection& connection) {
  // In this order: reading the schema's version makes the connection see what others have committed.
  const auto schema = connection.schema_version();
  return {.schema = schema, .data = connection.current_data_version()};
}

void SideSchemas::show(const SideSchema& schema, SqliteConnection& connection, const std::function<void()>& before) {
  auto known = filled_.find(schema.name);
  if (known == filled_.end()) {
    connection.execute("ATTACH '" + writable_memory(connection) + "' AS " + quote_identifier(schema.name));
    known = filled_.emplace(schema.name, Version{}).first;
  } else if (known->second == version_of(connection)) {
    return;
  }
  known->second = {};  // filled again next time if this attempt fails
  before();
  SqliteTransaction change(connection, SqliteTransaction::Scope::Memory);
  connection.execute(schema.script);
  change.commit();
  known->second = version_of(connection);
}

}  // namespace eindb
