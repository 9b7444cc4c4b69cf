#include "executor/tile_exchange.hpp"

#include "common/check.hpp"

namespace eindb {

TilePtr TileSource::read_cells(const std::string&, const TileGrid&, std::int64_t) {
  CHECK(false, "cells are read from a source that has them");
}

TilePtr TileSource::read_attached(const std::string&, const TileGrid&, std::int64_t, ValueOrder) {
  CHECK(false, "attached tensors are read from a source that knows them");
  return nullptr;
}

std::optional<TilePtr> TileSource::read_cut(const std::string&, const TileGrid&, std::int64_t,
                                            const std::function<std::optional<Tile>()>&) {
  return std::nullopt;
}

}  // namespace eindb
