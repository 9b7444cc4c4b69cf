#include "server/pg_catalog/pg_catalog.hpp"

#include <string>

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

PgCatalog::PgCatalog(Session& session) : session_(session), client_(std::make_shared<ClientIdentity>()) {}
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
  has_functions_ = true;
}

void PgCatalog::show(const ClientIdentity& client) {
  *client_ = client;
  add_functions();
  session_.show(pg_catalog_schema());
}

}  // namespace eindb
