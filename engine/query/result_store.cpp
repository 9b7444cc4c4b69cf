#include "engine/query/result_store.hpp"

#include <utility>

#include "common/check.hpp"
#include "tensor/tile_gather.hpp"

namespace eindb {

void write_result(SqliteConnection& connection, const StoredResult& result, BufferedTiles& tiles) {
  const auto& grid = result.tensor.grid;
  CHECK(tiles.count() == grid.tile_count(), "a tensor gets as many tiles as it has");
  StoringSink sink(connection, result.tensor.store(), result.has_tiles);
  if (grid.cuts_evenly()) {
    for (auto tile = tiles.next(0); tile; tile = tiles.next(*tile + 1)) sink.write(*tile, tiles.take(*tile));
  } else {
    std::int64_t count = 0;
    for (std::int64_t tile = 0; tile < grid.tile_count(); ++tile) {
      auto gathered = gather_tile(
          grid.even(), result.tensor.dtype, [&](std::int64_t id) { return tiles.get_values(id); }, grid, tile, count);
      if (gathered) sink.write(tile, std::make_shared<const Tile>(std::move(*gathered)));
    }
  }
  sink.finish();
}

ResultStore::ResultStore(SqliteConnection& connection, std::span<const StoredResult> results, bool at_workers, Way way)
    : connection_(connection), results_(results) {
  CHECK(connection.in_transaction(), "results are stored in a transaction");
  for (const auto& result : results) {
    auto& collected = collected_.emplace_back();
    auto& storing = storing_.emplace_back();
    if (at_workers && result.tensor.is_sharded()) {
      sinks_.push_back(&at_workers_);
    } else if (way != Way::Write || !result.tensor.grid.cuts_evenly()) {
      collected = std::make_unique<CollectingSink>(result.tensor.grid);
      sinks_.push_back(collected.get());
    } else {
      storing = std::make_unique<StoringSink>(connection, result.tensor.store(), result.has_tiles);
      sinks_.push_back(storing.get());
    }
  }
  CHECK(collected_.size() == results.size() && sinks_.size() == results.size(), "every result has a sink");
}

std::vector<NewTiles> ResultStore::take() {
  std::vector<NewTiles> taken;
  for (std::size_t n = 0; n < results_.size(); ++n) {
    CHECK(collected_[n] != nullptr, "tiles are taken of results that are collected");
    taken.push_back({.tensor = results_[n].tensor, .tiles = collected_[n]->take()});
  }
  return taken;
}

void ResultStore::finish() {
  for (auto& storing : storing_)
    if (storing != nullptr) storing->finish();
  storing_.clear();
  for (std::size_t n = 0; n < results_.size(); ++n) {
    if (collected_[n] == nullptr) continue;
    const auto tiles = collected_[n]->take();
    write_result(connection_, results_[n], *tiles);
  }
}

}  // namespace eindb
