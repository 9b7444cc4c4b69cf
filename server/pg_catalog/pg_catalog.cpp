#include "server/pg_catalog/pg_catalog.hpp"

#include <span>
#include <string>
#include <variant>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/sql_functions/pg_values.hpp"
#include "server/dialect/client_columns.hpp"
#include "server/pg_catalog/pg_catalog_schema.hpp"
#include "server/pg_catalog/pg_functions.hpp"
#include "server/pg_catalog/pg_system_tables.hpp"

namespace eindb {
namespace {

const SideSchema& pg_catalog_schema() {
  static const SideSchema kSchema{.name = "pg_catalog",
                                  .script = with_system_columns(kPgCatalogTables) + list_of_system_tables() +
                                            kPgCatalogViews + kInformationSchema + kPgCatalogConstants +
                                            kPgCatalogContents + kPgCatalogTensorKeys};
  return kSchema;
}

}  // namespace

PgCatalog::PgCatalog(Session& session)
    : session_(session), client_(std::make_shared<ClientIdentity>()), view_types_(std::make_shared<ViewTypes>()) {}
PgCatalog::~PgCatalog() = default;

void PgCatalog::add_functions(const ClientIdentity& client) {
  client_->user = client.user;
  client_->database = client.database;
  client_->process_id = client.process_id;
  client_->registry = client.registry;
  client_->changes = client.changes;
  add_functions();
}

void PgCatalog::add_functions() {
  if (has_functions_) return;
  for (auto& function : pg_functions(client_)) session_.add_function(std::move(function));
  session_.add_function({.name = "eindb_view_type",
                         .arguments = 2,
                         .body = [types = view_types_](std::span<const SqliteValue> values) -> SqliteValue {
                           const auto found = types->find(to_lower(text_of(values[0])));
                           const auto column = static_cast<std::size_t>(integer_of(values[1]));
                           if (found == types->end() || column >= found->second.size()) return {};
                           return found->second[column];
                         },
                         .deterministic = false,
                         .result = "TEXT"});
  has_functions_ = true;
}

void PgCatalog::find_view_types() {
  const auto version = session_.schema_version();
  if (view_types_version_ == version) return;
  std::vector<std::string> views;
  {
    const auto result = session_.execute("SELECT name FROM main.sqlite_schema WHERE type = 'view'");
    for (Row row; result.rows->next(row);) views.push_back(std::get<std::string>(row[0]));
  }
  view_types_->clear();
  for (const auto& view : views) {
    try {
      for (const auto& column : columns_for_client(session_, "main", view).value_or(std::vector<dialect::Column>()))
        (*view_types_)[to_lower(view)].push_back(column.declared);
    } catch (const Error& error) {  // a view that cannot be read has columns without types
      if (error.kind() == ErrorKind::Cancelled) throw;
    }
  }
  view_types_version_ = version;
}

void PgCatalog::show(const ClientIdentity& client) {
  *client_ = client;
  add_functions();
  find_view_types();
  session_.show(pg_catalog_schema());
}

}  // namespace eindb
