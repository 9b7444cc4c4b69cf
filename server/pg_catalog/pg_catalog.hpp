#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/session.hpp"

namespace eindb {

class ClientRegistry;

/// A cursor of the client, for pg_cursors.
struct ListedCursor {
  std::string name;
  std::string statement;
  bool holds = false;
  bool binary = false;
  bool scrolls = false;
};

/// The properties of the client that functions such as current_user return.
struct ClientIdentity {
  std::string user;
  std::string database;
  std::int32_t process_id = 0;
  std::map<std::string, std::string> settings;  ///< by name in lower case, for SHOW and current_setting
  const ClientRegistry* registry = nullptr;     ///< of all clients; null: there are none
  std::vector<ListedCursor> cursors = {};
};

/// The database in the form that PostgreSQL's clients expect: the schema pg_catalog and its functions, for the SQL of
/// one session. Call show() before a statement for which Translation::uses_catalog is set; other statements have no
/// cost.
///
/// Tensors appear as tables whose columns are their labels (int8) and val, or val_re and val_im if they are complex.
/// Object ids derive from SQLite's row numbers, so they are valid until the database is vacuumed. The schema
/// information_schema is part of pg_catalog; translate_dialect maps it.
///
/// Used by the session's thread; the session must outlive it.
class PgCatalog {
 public:
  explicit PgCatalog(Session& session);
  ~PgCatalog();
  PgCatalog(const PgCatalog&) = delete;
  PgCatalog& operator=(const PgCatalog&) = delete;

  /// Makes the tables and functions visible to the session's SQL and updates them. The functions refer to `client`
  /// until the next call. Throws Error.
  void show(const ClientIdentity& client);
  /// Makes the functions alone visible, for statements that translate_dialect made call them. Free if they are.
  void add_functions();

 private:
  Session& session_;
  std::shared_ptr<ClientIdentity> client_;  // shared with the functions, which live as long as the session
  bool has_functions_ = false;
};

}  // namespace eindb
