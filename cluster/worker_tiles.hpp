#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cluster/control_message.hpp"
#include "cluster/plan_codec.hpp"
#include "executor/tile_exchange.hpp"
#include "storage/shard_file.hpp"
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

 private:
  struct Tensor {
    DType dtype = DType::Float64;
    TileGrid grid;
    std::map<std::int64_t, ContentId> contents;  // by tile
  };

  ShardFile& shards_;
  std::map<std::string, Tensor> tensors_;
};

/// The way of a statement's contents into a worker's file, which can be closed: what a statement that was given up
/// still makes must not get into a transaction that goes on, and may be prepared, without it. Thread-safe.
class PutGate {
 public:
  explicit PutGate(ShardFile& shards) : shards_(shards) {}

  /// Error{Cancelled} after close().
  void put(ShardTransaction transaction, const std::vector<OutgoingContent>& contents);
  /// When it returns nothing is put any more.
  void close() noexcept;

 private:
  ShardFile& shards_;
  std::mutex mutex_;  // held while something is put
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
