#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.hpp"
#include "catalog/grant_catalog.hpp"
#include "catalog/macro_catalog.hpp"
#include "catalog/tensor_tables.hpp"
#include "catalog/user_catalog.hpp"
#include "engine/plans/plan_cache.hpp"
#include "engine/session/session_options.hpp"
#include "engine/settings/login.hpp"
#include "engine/sql/compiled_sql.hpp"
#include "engine/sql/side_schema.hpp"
#include "engine/sql/sql_names.hpp"
#include "engine/tensors/attached_tensors.hpp"
#include "engine/tensors/tile_cache.hpp"
#include "engine/tensors/unwritten_tensors.hpp"
#include "parser/ast.hpp"
#include "parser/binder/name_source.hpp"
#include "storage/tiles/database_file.hpp"

namespace eindb {

/// The database that a session has open: its file and its workers, the meaning of names in statements, and the state
/// kept between statements. It knows neither the session's settings nor the running statement. Used by one thread at a
/// time.
struct OpenDatabase {
  OpenDatabase(const std::string& path, const SessionOptions& options);

  SqliteConnection& connection() { return file.connection(); }
  /// Starts the use of the workers in `options`, if any: sharded tensors lie there, and the cluster's workers begin to
  /// serve the database.
  void begin_sharding(const SessionOptions& options);

  /// The tensor of that name. Error{UnknownName} suggests the nearest name; Error{Type} if it is a table.
  TensorInfo tensor(const ast::Identifier& name);
  /// Whether there is an ordinary table or view of this name, in the database or as other.t in an attached one.
  bool is_table(const std::string& name);
  /// The tensor as a plan sees it, attached or of the catalog; nullopt if there is none.
  std::optional<InputTensor> find_tensor(const std::string& name);
  /// About how many cells a tensor of the catalog has, stored or unwritten; nullopt if it is dense.
  std::optional<CellEstimate> cells_of(const TensorInfo& tensor);
  /// The user's macro, parsed; null if there is none. Error{Corrupt} if the stored macro is damaged.
  MacroPtr macro(const std::string& name);
  MacroPtr parsed(const StoredMacro& stored);
  /// All names for the binder, with the values of the statement's parameters.
  NameSource names(std::vector<ParameterValue> parameters);
  /// The columns of a table, view or tensor as SQL sees it; nullopt if there is none. The schema may be empty.
  std::optional<std::vector<TypedColumn>> columns_of(const std::string& schema, const std::string& table);
  /// The same, without knowing that the labels of a tensor are its key.
  std::optional<std::vector<TypedColumn>> columns_in_sql(const std::string& schema, const std::string& table);
  /// Another number whenever tables, views, tensors or attached tensors may have changed, by whomever.
  std::uint64_t schema_version();
  /// Adds a function for SQL, whose type of result is known from then on. Throws Error.
  void add_function(SqlFunction function);
  /// Forgets compiled statements and looked-up names if tensors or attached tensors have changed: statements hold the
  /// tables of the tensors that they read, and a name may mean something else after a change.
  void forget_compiled_if_changed();
  /// TensorInfo::replicas for a new tensor. Error{Unsupported} or Error{Value} if the database has too few workers for
  /// the clause.
  int replicas(const std::optional<ast::ReplicasClause>& clause);
  /// The workers among which the tiles of a new tensor are dealt out, whether they are up or not; 1 without a cluster.
  std::int64_t sharing_workers() const;
  /// Call before a write: Error{ReadOnly} if the open transaction is READ ONLY.
  void check_writable();
  /// The user of that name, or a decoy. Error{Corrupt} if the stored user is damaged.
  Login login(std::string_view name);

  const std::shared_ptr<Cluster> cluster;  ///< null: queries run here
  DatabaseFile file;
  Catalog catalog;
  MacroCatalog macros;
  UserCatalog users;
  GrantCatalog grants;
  TensorTables tensor_tables;
  AttachedTensors attached;
  SideSchemas side_schemas;
  KnownNames sql_names;
  CompiledStatements compiled;
  std::uint64_t query_tables = 0;   ///< number of tables made so far for results of queries inside SQL
  bool may_have_temporary = false;  ///< SQL that ran may have created temporary tables
  bool reads_only = false;          ///< the open transaction is READ ONLY
  PlanCache plans;
  TileCache tiles;
  UnwrittenTensors unwritten;
};

}  // namespace eindb
