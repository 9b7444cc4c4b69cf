#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cluster/control_message.hpp"
#include "cluster/plan_codec.hpp"
#include "executor/tile_exchange.hpp"
#include "storage/encoding/tile_codec.hpp"
#include "storage/worker_file/shard_file.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// The tiles of stored tensors at a worker, for the scans of a statement. Thread-safe.
class WorkerTiles final : public TileSource {
 public:
  /// `contents`: for each holder list of the plan, the contents of the tiles that `rank` holds. Error{Corrupt} if they
  /// are no such lists. `shards` and `placed` must outlive it.
  WorkerTiles(ShardFile& shards, const PlacedPlan& placed, Rank rank,
              const std::vector<control::HeldContents>& contents);

  TilePtr read(const std::string& tensor, std::int64_t tile_id) override;
  TilePtr read_cells(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id) override;

  /// Call after read() has found damage: returns all damaged or missing contents, so that the next attempt of the
  /// statement does not find further ones. Reads all contents except those already found, which stay listed even if the
  /// disk would deliver them now.
  std::vector<ContentId> damaged();

 private:
  struct Tensor {
    DType dtype = DType::Float64;
    TileGrid grid;
    const TileHolders* holders = nullptr;
    ContentRuns contents;  // of the tiles that the rank holds
  };

  TilePtr read(const std::string& tensor, std::int64_t tile_id, TileForm form);
  TilePtr read(const std::string& name, const Tensor& tensor, std::int64_t tile_id, ContentId content, TileForm form);
  bool is_readable(const std::string& name, const Tensor& tensor, std::int64_t tile_id, ContentId content);

  ShardFile& shards_;
  const Rank rank_;
  std::map<std::string, Tensor> tensors_;
  std::mutex mutex_;                // guards the members below
  std::set<ContentId> unreadable_;  // found by read()
};

/// The gate for a statement's contents into a worker's file. Once it is closed, an abandoned statement can no longer
/// add contents to a transaction that continues, and may be prepared, without it. Thread-safe.
class PutGate {
 public:
  explicit PutGate(ShardFile& shards) : shards_(shards) {}

  /// Error{Cancelled} after close().
  void put(ShardTransaction transaction, const std::vector<OutgoingContent>& contents);
  /// Lets no further put() begin. Does not wait for running ones, since the disk may hang.
  void close() noexcept;
  /// Call after close(): waits until no put() is running.
  void wait_until_idle() noexcept;

 private:
  class Passage;

  ShardFile& shards_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable idle_;
  int passing_ = 0;
  bool is_closed_ = false;
};

/// Stores the tiles of a result in a worker's file, under the statement's transaction.
class WorkerSink final : public TileSink {
 public:
  /// The referenced objects must outlive it.
  WorkerSink(PutGate& gate, const ResultContents& result) : gate_(gate), result_(result) {}

  void write(std::int64_t tile_id, TilePtr tile) override;
  bool takes_cells() const override { return true; }
  /// Call after the last tile; returns the stored tiles.
  std::vector<StoredTile> finish();

 private:
  struct Waiting {
    ContentId content{};
    TilePtr tile;
    EncodedTile encoded;  // of that tile
  };
  void flush();

  PutGate& gate_;
  const ResultContents& result_;
  std::vector<Waiting> waiting_;  // small tiles, to be stored together
  std::size_t waiting_bytes_ = 0;
  std::vector<StoredTile> stored_;
};

}  // namespace eindb
