#include "catalog/stored_tiles.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "storage/tiles/stored_references.hpp"
#include "storage/tiles/stored_rows.hpp"

namespace eindb {
namespace {

// Cells are no longer counted once some tile does not tell them.
void count_label(TensorSummary& out, std::int64_t tile_id, const TileLabel& label) {
  ++out.formats[label.format];
  if (!out.stored_cells) return;
  const auto& grid = out.info.grid;
  *out.stored_cells +=
      label.format == TileFormat::Dense ? grid.tile_shape(grid.key_of(tile_id)).element_count() : label.count;
}

// LENGTH of a blob reads the head of its row alone, and a label the tile's first bytes.
TensorSummary count_in_file(SqliteConnection& connection, const TensorInfo& info) {
  TensorSummary out{.info = info, .stored_cells = 0};
  const auto store = info.store();
  auto select = connection.prepare("SELECT tile_id, LENGTH(tile) FROM " + store.quoted_table());
  while (select.step()) {
    ++out.stored_tiles;
    out.stored_bytes += select.integer(1);
    const auto id = select.integer(0);
    const auto label = store.label(connection, id);
    if (!label) continue;  // a damaged tile, which whoever reads it is told of
    count_label(out, id, *label);
  }
  return out;
}

// Those of a large table from the share of its numbers that are there.
double row_count(SqliteConnection& connection, const TileStore& store) {
  constexpr std::int64_t kCounted = 4096;
  auto select = connection.prepare("SELECT COUNT(*) FROM (SELECT 1 FROM " + store.quoted_table() + " LIMIT " +
                                   std::to_string(kCounted) + ")");
  const auto counted = select.step() ? select.integer(0) : 0;
  if (counted < kCounted) return static_cast<double>(counted);
  // The numbers of the first rows, if rows lie evenly.
  auto last = connection.prepare("SELECT tile_id FROM " + store.quoted_table() + " ORDER BY tile_id LIMIT 1 OFFSET " +
                                 std::to_string(kCounted - 1));
  const auto tiles = static_cast<double>(store.grid().tile_count());
  const auto reached = last.step() ? static_cast<double>(last.integer(0)) + 1 : tiles;
  return static_cast<double>(kCounted) * tiles / std::max(1.0, reached);
}

}  // namespace

TensorSummary count_stored(SqliteConnection& connection, const TensorInfo& info) {
  if (!info.is_sharded()) return count_in_file(connection, info);
  TensorSummary out{.info = info, .stored_cells = 0};
  for (const auto& [tile_id, reference] : read_references(connection, info.store())) {
    ++out.stored_tiles;
    out.stored_bytes += static_cast<std::int64_t>(reference.bytes);
    if (reference.label) count_label(out, tile_id, *reference.label);
    else out.stored_cells.reset();
  }
  return out;
}

double present_share(SqliteConnection& connection, const TensorInfo& info) {
  // Each look-up reads at most a page of the file, which execution reads anyway.
  constexpr std::int64_t kLookedFor = 96;
  const auto tiles = info.grid.tile_count();
  if (tiles <= 1) return 1;
  const auto table = info.store().quoted_table();
  std::int64_t found = 0;
  if (tiles <= kLookedFor) {
    auto select = connection.prepare("SELECT COUNT(*) FROM " + table);
    if (select.step()) found = select.integer(0);
  } else {
    auto select = connection.prepare("SELECT 1 FROM " + table + " WHERE tile_id = ?");
    // The step is irrational, or samples would follow the columns of the grid.
    constexpr double kStep = 0.6180339887498949;
    for (std::int64_t n = 1; n <= kLookedFor; ++n) {
      const double place = static_cast<double>(n) * kStep;
      select.bind(1, static_cast<std::int64_t>((place - std::floor(place)) * static_cast<double>(tiles)));
      if (select.step()) ++found;
      select.reset();
    }
  }
  const auto looked_for = static_cast<double>(std::min(tiles, kLookedFor));
  const double share = std::clamp(static_cast<double>(found), 0.5, looked_for) / looked_for;
  return std::exp2(std::round(8 * std::log2(share)) / 8);
}

std::optional<double> sampled_cells(SqliteConnection& connection, const TensorInfo& info) {
  // Each label is the beginning of a row of the file, in a page of its own. If the first ones are of dense tiles, no
  // others are looked at.
  constexpr std::int64_t kLookedAt = 64;
  constexpr std::int64_t kFirstLooks = 2;
  constexpr std::int64_t kFewCells = 4096;
  const bool always = info.formats == FormatChoice::Sparse;
  if (!always && info.grid.shape().element_count() < kFewCells) return std::nullopt;
  const auto store = info.store();
  const auto tiles = info.grid.tile_count();
  StoredRows rows(connection, store);
  double cells = 0;
  std::int64_t looked_at = 0;
  bool all_dense = true;
  const auto look_near = [&](std::int64_t place) {
    const auto id = rows.seek(place);
    const auto label = id ? rows.label() : std::nullopt;
    if (!label) return id.has_value();
    const bool dense = label->format == TileFormat::Dense;
    all_dense = all_dense && dense;
    cells += static_cast<double>(dense ? info.grid.tile_shape(info.grid.key_of(*id)).element_count() : label->count);
    ++looked_at;
    return true;
  };
  for (std::int64_t n = 0; n < kFirstLooks; ++n) look_near(n * tiles / kFirstLooks);
  if (all_dense && !always) return std::nullopt;
  const auto looks = std::min(tiles, kLookedAt);
  for (std::int64_t n = 0; n < looks; ++n)
    if (!look_near(static_cast<std::int64_t>(static_cast<double>(n) / static_cast<double>(looks) *
                                             static_cast<double>(tiles))))
      break;
  if (looked_at == 0) return always ? std::optional(1.0) : std::nullopt;
  const double all = cells / static_cast<double>(looked_at) * row_count(connection, store);
  return std::exp2(std::round(2 * std::log2(std::max(1.0, all))) / 2);
}

}  // namespace eindb
