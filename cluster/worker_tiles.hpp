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
#include "storage/worker_file/shard_file.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// The tiles of stored tensors that lie at a worker, for the scans of a statement. Thread-safe.
class WorkerTiles final : public TileSource {
 public:
  /// Of the tiles that `rank` holds, list by list of the plan's holders, the contents. Error{Corrupt} unless there is
  /// one for each. `shards` outlives it.
  WorkerTiles(ShardFile& shards, const PlacedPlan& placed, Rank rank,
              const std::vector<std::vector<ContentId>>& contents);

  TilePtr read(const std::string& tensor, std::int64_t tile_id) override;

  /// After read() has found one: all contents that are damaged or not there, so that one attempt at a statement finds
  /// what another would. Reads them all, but for those that read() has found: that a disk gives them now is no reason
  /// to trust it.
  std::vector<ContentId> damaged();

 private:
  struct Tensor {
    DType dtype = DType::Float64;
    TileGrid grid;
    std::map<std::int64_t, ContentId> contents;  // by tile
  };

  TilePtr read(const std::string& name, const Tensor& tensor, std::int64_t tile_id, ContentId content);

  ShardFile& shards_;
  std::map<std::string, Tensor> tensors_;
  std::mutex mutex_;                // guards what follows
  std::set<ContentId> unreadable_;  // found by read()
};

/// The way of a statement's contents into a worker's file, which can be closed: what a statement that was given up
/// still makes must not get into a transaction that goes on, and may be prepared, without it. Thread-safe.
class PutGate {
 public:
  explicit PutGate(ShardFile& shards) : shards_(shards) {}

  /// Error{Cancelled} after close().
  void put(ShardTransaction transaction, const std::vector<OutgoingContent>& contents);
  /// Nothing begins to be put any more. Does not wait for what is being put: the disk may hang.
  void close() noexcept;
  /// After close(): when it returns nothing is put any more.
  void wait_until_idle() noexcept;

 private:
  class Passage;

  ShardFile& shards_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable idle_;
  int passing_ = 0;
  bool is_closed_ = false;
};

/// Puts the tiles of a result into a worker's file, under the statement's transaction.
class WorkerSink final : public TileSink {
 public:
  /// References outlive it.
  WorkerSink(PutGate& gate, const ResultContents& result) : gate_(gate), result_(result) {}

  void write(std::int64_t tile_id, TilePtr tile) override;
  /// After the last tile: what was stored.
  std::vector<StoredTile> finish();

 private:
  struct Waiting {
    ContentId content{};
    TileHeader header;
    TilePtr tile;
  };
  void flush();

  PutGate& gate_;
  const ResultContents& result_;
  std::vector<Waiting> waiting_;  // small ones are stored together
  std::size_t waiting_bytes_ = 0;
  std::vector<StoredTile> stored_;
};

}  // namespace eindb
