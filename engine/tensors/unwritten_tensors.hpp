#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catalog/tensor_info.hpp"
#include "executor/tile_buffer.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// The complete new contents of a tensor; absent tiles are zero.
struct NewTiles {
  TensorInfo tensor;
  std::shared_ptr<BufferedTiles> tiles;  ///< by tile_id of the tensor's grid
  bool of_cells = false;                 ///< all tiles are of cells
};

/// Tensors whose newest tiles are not in their tables yet. Updates inside a transaction compute such tiles, and the
/// next update often replaces them before any other connection could see them.
///
///     UPDATE TENSOR --put--> here --the next UPDATE puts others, these are free again
///                              |
///                              +--write--> tables, before COMMIT or a statement that reads the tables themselves
///
/// Queries look for tiles here first (StoredTiles). Before any other access to the tables of tensors, run_statement
/// calls write(). There are unwritten tensors only while the connection is in a transaction, which keeps others from
/// writing where the tensors are not temporary: no other connection can commit to them meanwhile, a rollback drops
/// them, and a failed statement restores them.
///
/// Unused tiles move to a scratch file if a statement needs their memory, after the tiles of the tile cache. Owned by
/// the session. find(), idle_bytes() and evict() may be called from any thread while a query runs, all other functions
/// only from the session's thread between queries.
class UnwrittenTensors final : public TileKeeper {
 public:
  /// The schema and the id of a tensor.
  using Key = std::pair<std::string, std::int64_t>;
  static Key key_of(const TensorInfo& tensor) { return {tensor.schema, tensor.id}; }

  struct Contents {
    std::map<Key, NewTiles> tensors;
    std::vector<std::shared_ptr<MemoryBudget>> budgets;  // the budgets that their tiles count in, without duplicates
  };

  bool empty() const { return contents_.tensors.empty(); }
  /// Null: the tensor's tiles are in its table.
  std::shared_ptr<BufferedTiles> find(const TensorInfo& tensor) const;
  /// About how many cells the tensor's unwritten tiles have, rounded so that small changes change no plan; nullopt if
  /// they are dense. Only for a tensor that has unwritten tiles.
  std::optional<double> cells(const TensorInfo& tensor) const;
  /// Replaces the unwritten tiles of these tensors: of all of them or, if it throws, of none.
  void put(std::vector<NewTiles> all);
  /// Call when the tensor is dropped, or when its table is newer.
  void drop(const TensorInfo& tensor) noexcept {
    // Without a key, which would be allocated: this is called after a commit.
    std::erase_if(contents_.tensors, [&](const auto& entry) {
      return entry.first.first == tensor.schema && entry.first.second == tensor.id;
    });
  }
  /// Writes all tiles to their tables. If it throws, the object is unchanged, unless SQLite has rolled the transaction
  /// back: tiles that were changed in it are forgotten, also where that happened before.
  void write(SqliteConnection& connection);

  /// A copy for restore(), if the statement fails.
  const Contents& contents() const { return contents_; }
  void restore(Contents contents) noexcept { contents_ = std::move(contents); }
  void forget() noexcept { contents_ = {}; }

  /// The bytes of all tiles, in memory or in a scratch file.
  std::int64_t bytes() const;
  /// Bytes that are in memory.
  std::int64_t idle_bytes() const override;
  std::int64_t evict(std::int64_t bytes) override;

 private:
  Contents contents_;
};

}  // namespace eindb
