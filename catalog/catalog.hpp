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

/// Names -> tensors, kept in tables of the database itself:
///
///     eindb_tensors(tensor_id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, dtype TEXT)
///     eindb_dimensions(tensor_id, position, label, extent, parts)
///     eindb_shardings(tensor_id INTEGER PRIMARY KEY, replicas)      of those whose tiles lie at workers
///     eindb_settings(name, value)
///
/// Names of tensors match without regard to the case of ASCII letters and keep the case they were given; labels are
/// told apart by case. A database file may come from anywhere: each row is verified when it is read, and what cannot be
/// is Error{Corrupt}. What was found is remembered until
/// somebody makes, alters or drops a tensor or table, or another connection commits anything. Changes happen inside the
/// caller's SqliteTransaction, so that several can be one. Threads: as its connection, which must outlive it.
class Catalog {
 public:
  explicit Catalog(SqliteConnection& connection) : connection_(connection) {}

  /// nullopt if there is no such tensor.
  std::optional<TensorInfo> find(std::string_view name);
  /// Error{UnknownName} with the nearest name as a hint.
  TensorInfo get(std::string_view name);
  /// All names, in alphabetical order without regard to case.
  std::vector<std::string> names();
  /// All tensors in the order of names(), with what they take on disk. Reads every row's head, not the tiles.
  std::vector<TensorSummary> list();
  TensorSummary summarize(const TensorInfo& info);
  /// The share of tiles that are stored, to within a tenth or so, so that few writes change it. Of large grids a sample
  /// is looked for; never reads a tile. 1 for a tensor of one tile.
  double present(const TensorInfo& info);

  /// Makes a tensor of zeros; `replicas` as TensorInfo's. Error{DuplicateName} if a tensor, table or view has the name.
  TensorInfo create(const std::string& name, DType dtype, const std::vector<std::string>& labels, const TileGrid& grid,
                    int replicas = 0);
  void drop(std::string_view name);
  /// Throws what create() would of the name.
  void require_free(const std::string& name) { check_free(name, std::nullopt); }
  void rename(std::string_view name, const std::string& new_name);

  /// A tensor under a name of eindb's own, to be filled while the old one of the final name is still read.
  TensorInfo stage(DType dtype, const std::vector<std::string>& labels, const TileGrid& grid, int replicas);
  /// Gives a staged tensor its name, in place of the tensor that had it, if any.
  TensorInfo publish(const TensorInfo& staged, const std::string& name);

  /// Changes whenever a tensor or table may have been made, dropped or altered, by whomever. For caches.
  std::uint64_t version() { return connection_.schema_version(); }

 private:
  // Tensors found since something changed, by name in lower case.
  struct Memory {
    std::uint64_t version = 0;
    std::uint32_t commits_of_others = 0;
    std::map<std::string, TensorInfo> tensors;
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
