#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "engine/session.hpp"

namespace eindb {

class ClientRegistry;

/// What functions such as current_user tell of the client whose statement runs.
struct ClientIdentity {
  std::string user;
  std::string database;
  std::int32_t process_id = 0;
  std::map<std::string, std::string> settings;  ///< by name in lower case: what SHOW tells, and current_setting
  const ClientRegistry* registry = nullptr;     ///< of all clients; null: there are no others
};

/// The database as PostgreSQL's clients look at it: the schema pg_catalog and the functions that go with it, for the
/// SQL of one session. A statement for which Translation::uses_catalog is set runs after show(); for others it costs
/// nothing.
///
/// Tensors are tables whose columns are their labels (int8) and val, or val_re and val_im if they are complex. Object
/// ids are made of SQLite's row numbers, so they last until the database is vacuumed. The schema information_schema is
/// part of pg_catalog: translate_dialect knows.
///
/// Threads: as the session, which must outlive it.
class PgCatalog {
 public:
  explicit PgCatalog(Session& session);
  ~PgCatalog();
  PgCatalog(const PgCatalog&) = delete;
  PgCatalog& operator=(const PgCatalog&) = delete;

  /// Makes the tables and functions known to the session's SQL and brings them up to date; functions tell of `client`
  /// until the next call. Throws Error.
  void show(const ClientIdentity& client);

 private:
  Session& session_;
  std::shared_ptr<ClientIdentity> client_;  // shared with the functions, which last as long as the session
  bool has_functions_ = false;
};

}  // namespace eindb
