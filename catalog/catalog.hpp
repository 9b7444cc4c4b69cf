#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/tensor_info.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// Maps names to tensors, in tables of the database itself:
///
///     eindb_tensors(tensor_id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, dtype TEXT)
///     eindb_dimensions(tensor_id, position, label, extent, parts)
///     eindb_shardings(tensor_id INTEGER PRIMARY KEY, replicas)      only for tensors whose tiles are at workers
///     eindb_settings(name, value)
///
/// Names of tensors ignore the case of ASCII letters, and keep the case in which they were given; labels are
/// case-sensitive. A database file may come from anywhere, so each row is verified when it is read, and an invalid one
/// is Error{Corrupt}. Entries are cached until a tensor or table is created, altered or dropped, or another connection
/// commits. Changes happen inside the caller's SqliteTransaction, so that several can be atomic. Threads: like its
/// connection, which must outlive it.
class Catalog {
 public:
  explicit Catalog(SqliteConnection& connection) : connection_(connection) {}

  /// nullopt if there is no such tensor.
  std::optional<TensorInfo> find(std::string_view name);
  /// Error{UnknownName} with the nearest name as a hint.
  TensorInfo get(std::string_view name);
  /// All names in alphabetical order, ignoring case.
  std::vector<std::string> names();
  /// All tensors in the order of names(), with their size on disk. Reads the head of every row, but no tiles.
  std::vector<TensorSummary> list();
  TensorSummary summarize(const TensorInfo& info);
  /// The share of tiles that are stored, rounded to about a tenth, so that few writes change it. Large grids are
  /// sampled; no tile is read. 1 for a tensor of one tile.
  double present(const TensorInfo& info);

  /// Creates a tensor of zeros; `replicas` as in TensorInfo. Error{DuplicateName} if a tensor, table or view has the
  /// name.
  TensorInfo create(const std::string& name, DType dtype, const std::vector<std::string>& labels, const TileGrid& grid,
                    int replicas = 0);
  void drop(std::string_view name);
  /// Throws the errors of create() for the name.
  void require_free(const std::string& name) { check_free(name, std::nullopt); }
  void rename(std::string_view name, const std::string& new_name);

  /// Creates a tensor under an internal name, to be filled while the tensor with the final name is still read.
  TensorInfo stage(DType dtype, const std::vector<std::string>& labels, const TileGrid& grid, int replicas);
  /// Gives a staged tensor its name, replacing the tensor that had it, if any.
  TensorInfo publish(const TensorInfo& staged, const std::string& name);

  /// Changes whenever a tensor or table may have been created, altered or dropped, by any connection. For caches.
  std::uint64_t version() { return connection_.schema_version(); }

 private:
  // Lookups since the last change of the schema: entries by lower-case name, and which of its own tables exist.
  struct Memory {
    std::uint64_t version = 0;
    std::uint32_t commits_of_others = 0;
    std::map<std::string, TensorInfo> tensors;
    std::optional<bool> exists;
    std::optional<bool> has_shardings;
  };

  void forget_if_changed();
  std::optional<TensorInfo> look_up(std::string_view name);
  bool exists();
  void require_tables();
  TensorInfo insert(const std::string& name, DType dtype, const std::vector<std::string>& labels, const TileGrid& grid,
                    int replicas);
  void insert_sharding(const TensorInfo& info);
  int read_replicas(std::int64_t tensor_id, const std::string& name);
  TensorInfo read(std::int64_t id, std::string name, const std::string& dtype);
  void remove(const TensorInfo& info);
  void move(const TensorInfo& info, const std::string& new_name);
  void check_free(const std::string& name, std::optional<std::int64_t> except);
  [[noreturn]] void corrupt(const std::string& tensor, const std::string& what) const;

  SqliteConnection& connection_;
  Memory memory_;
};

}  // namespace eindb
