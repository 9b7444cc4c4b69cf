#include "storage/tiles/stored_rows.hpp"

#include "common/check.hpp"

namespace eindb {
namespace {

/// Longer rows lie in several pages of the file, which SQLite would copy to memory of its own.
constexpr int kMostBytesInPlace = 8192;
/// A row that is not farther than so many steps is not looked up anew.
constexpr int kMostSteps = 8;

}  // namespace

StoredRows::StoredRows(SqliteConnection& connection, const TileStore& store) : connection_(connection), store_(store) {
  const std::lock_guard lock(connection_.mutex());
  select_.emplace(connection.prepare(
      "SELECT tile_id, CASE WHEN typeof(tile) = 'blob' AND length(tile) <= " + std::to_string(kMostBytesInPlace) +
      " THEN tile END FROM " + store.quoted_table() + " WHERE tile_id >= ? AND tile_id < ? ORDER BY tile_id"));
  select_->bind(2, store.grid().tile_count());
}

StoredRows::~StoredRows() {
  const std::lock_guard lock(connection_.mutex());
  select_.reset();
}

bool StoredRows::step() {
  found_.reset();
  if (select_->step()) found_ = select_->integer(0);
  return found_.has_value();
}

std::optional<std::int64_t> StoredRows::seek(std::int64_t from) {
  const std::lock_guard lock(connection_.mutex());
  if (found_ && *found_ < from) {
    for (int n = 0; n < kMostSteps; ++n)
      if (!step() || *found_ >= from) return found_;
  }
  if (found_ == from) return found_;
  select_->reset();
  select_->bind(1, from);
  step();
  return found_;
}

std::optional<std::span<const std::byte>> StoredRows::small_tile() const {
  if (store_.is_sharded() || select_->is_null(1)) return std::nullopt;
  const auto bytes = select_->blob(1);
  return reference_bytes(MemorySource(bytes)) ? std::nullopt : std::optional(bytes);
}

std::optional<TileLabel> StoredRows::label() {
  CHECK(found_.has_value(), "a row has been found");
  {
    const std::lock_guard lock(connection_.mutex());
    if (const auto bytes = small_tile()) return tile_label(MemorySource(*bytes));
  }
  return store_.label(connection_, *found_);
}

CellList StoredRows::load_cells(DType type) {
  CHECK(found_.has_value(), "a row has been found");
  const auto key = store_.grid().key_of(*found_);
  const auto shape = store_.grid().tile_shape(key);
  if (store_.grid().room_shape(key) == shape) {
    const std::lock_guard lock(connection_.mutex());
    if (const auto bytes = small_tile())
      return eindb::load_cells(MemorySource(*bytes), type, shape, [&] { return store_.describe(*found_); });
  }
  return store_.load_cells(connection_, *found_, type);
}

}  // namespace eindb
