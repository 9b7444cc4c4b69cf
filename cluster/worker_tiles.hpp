#pragma once

#include <cstdint>
#include <map>
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

/// Puts the tiles of a result into a worker's file, under the statement's transaction.
class WorkerSink final : public TileSink {
 public:
  /// References outlive it.
  WorkerSink(ShardFile& shards, const ResultContents& result) : shards_(shards), result_(result) {}

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

  ShardFile& shards_;
  const ResultContents& result_;
  std::vector<Waiting> waiting_;  // small ones are stored together
  std::size_t waiting_bytes_ = 0;
  std::vector<StoredTile> stored_;
};

}  // namespace eindb
