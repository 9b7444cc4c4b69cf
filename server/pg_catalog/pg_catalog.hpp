#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

/// A prepared statement of the client, for pg_prepared_statements.
struct ListedStatement {
  std::string name;
  std::weak_ptr<const std::string> text;  ///< the statement's own, which lives as long as the client keeps it
  std::chrono::system_clock::time_point made;
  std::vector<std::int32_t> parameter_types;
};

/// What set_config() asks for: the parameter changes once the statement that calls it ends.
struct ConfigChange {
  std::string name;
  std::optional<std::string> value;  ///< nullopt: the default
  bool local = false;                ///< up to the end of the transaction
};

/// The properties of the client that functions such as current_user return.
struct ClientIdentity {
  std::string user;
  std::string database;
  std::int32_t process_id = 0;
  std::map<std::string, std::string> settings;  ///< by name in lower case, for SHOW and current_setting
  const ClientRegistry* registry = nullptr;     ///< of all clients; null: there are none
  std::vector<ListedCursor> cursors = {};
  std::vector<ListedStatement> statements = {};
  std::shared_ptr<std::vector<ConfigChange>> changes = std::make_shared<std::vector<ConfigChange>>();
};

/// The database in the form that PostgreSQL's clients expect: the schema pg_catalog and its functions, for the SQL of
/// one session. Call show() before a statement for which Translation::uses_catalog is set; other statements have no
/// cost.
///
/// Tensors appear as tables whose columns are their labels (int8) and val, or re and im if they are complex.
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
  /// Makes the functions alone visible, for statements that translate_dialect made call them. Those that tell of the
  /// client know it by its names and its number alone.
  void add_functions(const ClientIdentity& client);

 private:
  /// The types of the columns of views, by name in lower case. SQLite knows those of plain columns alone.
  using ViewTypes = std::map<std::string, std::vector<std::string>>;

  void add_functions();
  void find_view_types();

  Session& session_;
  std::shared_ptr<ClientIdentity> client_;  // shared with the functions, which live as long as the session
  std::shared_ptr<ViewTypes> view_types_;   // likewise
  std::optional<std::uint64_t> view_types_version_;
  bool has_functions_ = false;
};

}  // namespace eindb
