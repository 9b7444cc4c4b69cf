// Sinks of results.
#include "engine/tensors/tile_endpoints.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace eindb {
namespace {

// Another owner such as the thread that writes a tile to the scratch file holds it for a moment.
TEST(CollectingSink, ATileThatOthersHoldIsTakenWhereThereIsNoRoomForACopy) {
  constexpr std::int64_t kElements = 100'000;
  const auto memory = MemoryBudget::create(std::int64_t{1} << 20U);
  CollectingSink sink(TileGrid(Shape({kElements}), {1}));
  sink.begin(memory);
  auto tile = memory->track(Tile::zeros(DType::Float64, Shape({kElements})));
  const auto held = tile;
  sink.write(0, std::move(tile));
  EXPECT_EQ(sink.take()->take(0), held);
}

}  // namespace
}  // namespace eindb
