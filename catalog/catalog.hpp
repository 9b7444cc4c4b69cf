#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "catalog/statistics_catalog.hpp"
#include "catalog/tensor_info.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// Maps names to tensors, in tables of the database itself:
///
///     eindb_tensors(tensor_id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, dtype TEXT)
///     eindb_dimensions(tensor_id, position, label, extent, parts)
///     eindb_shardings(tensor_id INTEGER PRIMARY KEY, replicas)      only for tensors whose tiles are at workers
///     eindb_edges(tensor_id, position, edge)       only for dimensions that have grown, which have an edge (TileGrid)
///     eindb_statistics(tensor_id INTEGER PRIMARY KEY, cells, sampled)      of tensors that were analyzed
///     eindb_degrees(tensor_id, position, indices, degree)      (catalog/statistics_catalog)
///     eindb_axes, eindb_index_names        of tensors whose indices have names (catalog/name_catalog)
///     eindb_settings(name, value)
///
/// Temporary tensors, which are the session's alone and end with it, are in tables of the same names in SQLite's schema
/// `temp`. Each is also a virtual table there (catalog/tensor_tables.hpp), so that SQL finds it as the catalog does:
/// A is the temporary tensor if there is one, else that of the database, which main.A always is.
///
/// A database that is attached as `other` has these tables, too, in SQLite's schema `other`. Its tensors are named
/// other.A, and found as A where neither the session nor the database has an A, in the order of attachment. They are
/// only read, and those whose tiles are at workers are not: the workers are those of another database.
///
/// Names of tensors ignore the case of ASCII letters, and keep the case in which they were given; labels are
/// case-sensitive. A database file may come from anywhere, so each row is verified when it is read, and an invalid one
/// is Error{Corrupt}. Entries are cached until a tensor or table is created, altered or dropped, another connection
/// commits, or a database is attached or detached. Changes happen inside the caller's SqliteTransaction, so that
/// several can be atomic. Threads: like its connection, which must outlive it.
class Catalog {
 public:
  explicit Catalog(SqliteConnection& connection) : connection_(connection) {}

  /// The tensor that statements call so: A, main.A, temp.A or other.A. nullopt if there is none. Error{DuplicateName}
  /// if a tensor of the database is itself called "main.A", and the other one could not be told from it.
  /// Error{Unsupported} for a tensor of an attached database that is at workers.
  std::optional<TensorInfo> find(std::string_view name);
  /// The same among the tensors of the session and of the database, which statements may change.
  std::optional<TensorInfo> find_own(std::string_view name);
  /// The tensor of this name in one schema.
  std::optional<TensorInfo> find_in(std::string_view schema, std::string_view own_name);
  /// Error{UnknownName} with the nearest name as a hint.
  TensorInfo get(std::string_view name);
  /// Likewise of several, whose state SQLite is asked for only once. They stay until the catalog is used again.
  std::vector<const TensorInfo*> get_all(const std::vector<std::string_view>& names);
  /// All names that find() takes in alphabetical order, ignoring case; those that temporary tensors hide as main.A.
  /// Behind them those of attached databases, one after the other.
  std::vector<std::string> names();
  /// Those of the session and of the database.
  std::vector<std::string> own_names();
  /// All tensors in the order of names(), with their size on disk, and those of attached databases at workers. Reads
  /// the head of every row, but no tiles.
  std::vector<TensorSummary> list();
  /// The names of tensors in one schema, including those at workers.
  std::vector<std::string> names_in(std::string_view schema);
  /// present_share() of catalog/stored_tiles.
  double present(const TensorInfo& info);
  /// The cells of the tensor's statistics while they are near the truth, which is where the labels of some tiles tell
  /// of at most twice or half as many cells as when the statistics were made; else what these labels tell. nullopt if
  /// they tell nothing (sampled_cells() of catalog/stored_tiles).
  std::optional<CellEstimate> stored_cells(const TensorInfo& info);
  /// What was last put; nullopt if there is nothing, or nothing that may be true of the tensor.
  std::optional<TensorStatistics> statistics(const TensorInfo& info);
  /// Replaces the statistics, which are of the tensor's stored cells as they are now.
  void put_statistics(const TensorInfo& info, std::int64_t cells, CellSpread spread);

  /// Creates a tensor of zeros; `replicas` as in TensorInfo. Error{DuplicateName} if a tensor, table or view of the
  /// schema has the name.
  TensorInfo create(const std::string& own_name, StoredType type, const std::vector<std::string>& labels,
                    const TileGrid& grid, int replicas = 0, std::string_view schema = kMainSchema,
                    const DimensionNames& names = {});
  void drop(std::string_view name) { drop(get(name)); }
  void drop(const TensorInfo& info);
  /// Throws the errors of create() for the name, in any schema or in this one.
  void require_free(const std::string& name);
  void require_free_in(std::string_view schema, const std::string& own_name) {
    check_free(schema, own_name, std::nullopt);
  }
  /// The new name is one in the tensor's schema.
  void rename(std::string_view name, const std::string& new_name);

  /// Error{DuplicateName} if another dimension has the label.
  void rename_label(const TensorInfo& info, std::size_t dimension, const std::string& label);

  /// Gives a tensor larger extents, with zeros behind the others. Its tiles stay as they are: `grid` has the same edges
  /// where it grows, and as many parts as its extents need. Only numbers of tiles change where another dimension than
  /// the first gets more parts. `names` are those of all indices.
  TensorInfo extend(const TensorInfo& info, const TileGrid& grid, const DimensionNames& names);

  /// Creates a tensor under an internal name, to be filled while the tensor with the final name is still read.
  TensorInfo stage(StoredType type, const std::vector<std::string>& labels, const TileGrid& grid, int replicas,
                   std::string_view schema = kMainSchema, const DimensionNames& names = {});
  /// Gives a staged tensor its name, replacing the tensor of its schema that had it, if any.
  TensorInfo publish(const TensorInfo& staged, const std::string& own_name);

  /// The formats in which this session writes tiles, which all entries have from now on.
  void write_tiles_in(FormatChoice formats);

  /// Whether SQLite has this schema: main, temp, or that of an attached database.
  bool has_schema(const std::string& schema) const { return connection_.has_schema(schema); }
  /// Changes whenever a tensor or table may have been created, altered or dropped, by any connection. For caches.
  std::uint64_t version() { return connection_.schema_version(); }

 private:
  // Lookups since the last change of the schema: entries by lower-case name, and which of its own tables exist.
  struct Memory {
    std::uint64_t version = 0;
    std::uint32_t commits_of_others = 0;
    std::map<std::string, TensorInfo> tensors = {};
    std::map<std::string, bool, std::less<>> exists = {};                             // by schema
    std::map<std::string, std::map<std::string, bool, std::less<>>> has_own = {};     // by table, then by schema
    std::map<std::string, std::unordered_set<std::string>, std::less<>> tables = {};  // lower case; see has_tiles
  };
  using Schemas = std::vector<std::string>;

  void forget_if_changed();
  const TensorInfo* remembered(std::string_view name);
  Schemas schemas() const;
  std::optional<TensorInfo> look_up(std::string_view name, const Schemas& schemas);
  /// A tensor of an attached database may be at workers.
  std::optional<TensorInfo> look_up_in(std::string_view schema, std::string_view own_name);
  bool exists(std::string_view schema);
  bool known_to_exist(std::string_view schema);
  void require_tables(std::string_view schema);
  std::vector<std::string> readable_names(std::string_view schema);
  TensorInfo insert(const std::string& own_name, StoredType type, const std::vector<std::string>& labels,
                    const TileGrid& grid, int replicas, std::string_view schema, const DimensionNames& names);
  void insert_sharding(const TensorInfo& info);
  bool has_tiles(std::string_view schema, const std::string& tensor);
  bool has_own(std::string_view schema, const std::string& table, std::initializer_list<const char*> columns);
  bool has_shardings(std::string_view schema);
  bool has_edges(std::string_view schema);
  bool has_statistics(std::string_view schema);
  bool has_names(std::string_view schema);
  void announce_change(std::string_view schema);
  int read_replicas(std::string_view schema, std::int64_t tensor_id, const std::string& name);
  TensorInfo read(std::string_view schema, std::int64_t id, std::string own_name, const std::string& dtype);
  void show_in_sql(const TensorInfo& info);
  void hide_in_sql(const TensorInfo& info);
  void remove(const TensorInfo& info);
  void move(const TensorInfo& info, const std::string& new_name);
  void check_free(std::string_view schema, const std::string& own_name, std::optional<std::int64_t> except);
  [[noreturn]] void refuse_unknown(std::string_view name);
  [[noreturn]] void corrupt(std::string_view schema, const std::string& tensor, const std::string& what) const;

  SqliteConnection& connection_;
  Memory memory_;
  FormatChoice formats_ = FormatChoice::Auto;
};

}  // namespace eindb
