#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "catalog/tensor_info.hpp"
#include "executor/tile_buffer.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// All tiles that a tensor is to have from now on; absent ones are zero.
struct NewTiles {
  TensorInfo tensor;
  std::shared_ptr<BufferedTiles> tiles;  ///< one per tile of the tensor's grid, by tile_id
};

/// Tensors whose newest tiles are not in their tables yet: what updates inside a transaction have computed, which the
/// next update replaces before anybody else could see it.
///
///     UPDATE TENSOR --put--> here --the next UPDATE puts others, these are free again
///                              |
///                              +--write--> tables, before COMMIT or a statement that reads the tables themselves
///
/// Queries find tiles here first (StoredTiles); whoever reads the tables of tensors in any other way is preceded by
/// write() (run_statement). There is something here only while the connection is in a transaction that has the right to
/// write: nobody else can commit meanwhile, a rollback forgets it, and a statement that fails leaves it as it was.
///
/// Tiles that nobody uses now go to a scratch file where a statement needs their room, after those of the tile cache.
/// Owned by the session. Threads: find(), idle_bytes() and evict() from any while a query runs, all else from the
/// session's own between queries.
class UnwrittenTensors final : public TileKeeper {
 public:
  struct Contents {
    std::map<std::int64_t, NewTiles> tensors;            // by TensorInfo::id
    std::vector<std::shared_ptr<MemoryBudget>> budgets;  // that their tiles count in, each once
  };

  bool empty() const { return contents_.tensors.empty(); }
  /// Null: the tensor's tiles are those of its table.
  std::shared_ptr<BufferedTiles> find(std::int64_t tensor_id) const;
  /// In place of what is here of these tensors. All of them or, where it throws, none.
  void put(std::vector<NewTiles> all);
  /// The tensor goes, or its table is newer.
  void drop(std::int64_t tensor_id) noexcept { contents_.tensors.erase(tensor_id); }
  /// Brings the tables up to date. If it throws, what is here is as it was.
  void write(SqliteConnection& connection);

  /// To be given back to restore(), by a statement that fails.
  const Contents& contents() const { return contents_; }
  void restore(Contents contents) noexcept { contents_ = std::move(contents); }
  void forget() noexcept { contents_ = {}; }

  /// Of all of them, as if no tile were all zero.
  std::int64_t dense_bytes() const;
  /// Bytes in memory.
  std::int64_t idle_bytes() const override;
  std::int64_t evict(std::int64_t bytes) override;

 private:
  Contents contents_;
};

}  // namespace eindb
