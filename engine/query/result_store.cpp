#include "engine/query/result_store.hpp"

#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

std::unique_ptr<TileSink> writing_sink(SqliteConnection& connection, const StoredResult& result) {
  if (result.has_tiles) return std::make_unique<ReplacingSink>(connection, result.tensor.store());
  return std::make_unique<StoringSink>(connection, result.tensor.store());
}

}  // namespace

ResultStore::ResultStore(SqliteConnection& connection, std::span<const StoredResult> results, bool at_workers,
                         bool collects)
    : connection_(connection), results_(results) {
  CHECK(connection.in_transaction(), "results are stored in a transaction");
  for (const auto& result : results) {
    auto& collected = collected_.emplace_back();
    if (at_workers && result.tensor.is_sharded()) {
      sinks_.push_back(others_.emplace_back(std::make_unique<DiscardingSink>()).get());
    } else if (collects) {
      collected = std::make_unique<CollectingSink>(result.tensor.grid);
      sinks_.push_back(collected.get());
    } else {
      sinks_.push_back(others_.emplace_back(writing_sink(connection, result)).get());
    }
  }
  CHECK(collected_.size() == results.size() && sinks_.size() == results.size(), "every result has a sink");
}

std::vector<NewTiles> ResultStore::take() {
  std::vector<NewTiles> taken;
  for (std::size_t n = 0; n < results_.size(); ++n) {
    CHECK(collected_[n] != nullptr, "tiles are taken of results that are collected");
    taken.push_back({results_[n].tensor, collected_[n]->take()});
  }
  return taken;
}

void ResultStore::finish() {
  others_.clear();
  for (std::size_t n = 0; n < results_.size(); ++n) {
    if (collected_[n] == nullptr) continue;
    const auto tiles = collected_[n]->take();
    CHECK(tiles->count() == results_[n].tensor.grid.tile_count(), "what is collected are the tiles of a tensor");
    const auto sink = writing_sink(connection_, results_[n]);
    for (std::int64_t tile = 0; tile < results_[n].tensor.grid.tile_count(); ++tile)
      sink->write(tile, tiles->take(tile));
  }
}

}  // namespace eindb
