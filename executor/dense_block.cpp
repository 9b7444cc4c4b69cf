#include "executor/dense_block.hpp"

#include <utility>

#include "executor/block_copy.hpp"
#include "executor/sliced_result.hpp"
#include "executor/tile_tasks.hpp"
#include "plan/index_box.hpp"

namespace eindb {
Tile dense_block(Relation& source, const TileWindow& window, bool gives_up, const ExecutionContext& context) {
  const auto& grid = source.grid();
  const auto whole = window_box(grid, window);
  auto block = Tile::uninitialized(source.dtype(), shape_of(whole));
  const auto bytes = block.mutable_bytes();
  for_each_in_room(window.tile_count(), context, [&](std::int64_t n) {
    const auto key = window.key_of(n);
    const auto box = tile_box(grid, key);
    const auto tile = source.dense_tile(grid.id_of(key));
    copy_part({whole, bytes}, {box, tile->bytes()}, box, source.dtype());
    if (gives_up) source.release(grid.id_of(key));
  });
  return block;
}

void cut_block(const Tile& block, const TileWindow& window, Relation& result, const ExecutionContext& context) {
  const auto& grid = result.grid();
  const auto whole = window_box(grid, window);
  for_each_in_room(window.tile_count(), context, [&](std::int64_t n) {
    const auto key = window.key_of(n);
    const auto box = tile_box(grid, key);
    auto tile = counted_tile(context.memory, result.dtype(), shape_of(box));
    copy_part({box, tile.tile.mutable_bytes()}, {whole, block.bytes()}, box, result.dtype());
    result.put(grid.id_of(key), finished(std::move(tile), result.dtype(), *context.memory));
  });
}

}  // namespace eindb
