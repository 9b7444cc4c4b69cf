#include "storage/tiles/tile_store.hpp"

#include <sqlite3.h>

#include <array>
#include <set>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/tiles/sqlite_blob.hpp"
#include "tensor/cell_block.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb {
namespace {

constexpr std::array<std::string_view, 2> kOwnColumns{"tile_id", "tile"};

/// The first cells of a tile along each dimension.
Tile corner_of(const Tile& tile, const Shape& shape) {
  auto corner = Tile::uninitialized(tile.dtype(), shape);
  copy_block(corner.mutable_bytes().data(), shape.row_major_strides(), tile.bytes().data(),
             tile.shape().row_major_strides(), shape.extents(), size_of(tile.dtype()));
  return corner;
}

constexpr const char* kBetweenNames = "eindb_renamed";

/// Disables the check of views and triggers during a rename. Otherwise SQLite resolves all of them, and fails if a
/// user's view or trigger names a table that no longer exists.
class LegacyRename {
 public:
  explicit LegacyRename(SqliteConnection& connection) : connection_(connection) { set(1); }
  ~LegacyRename() { set(0); }
  LegacyRename(const LegacyRename&) = delete;
  LegacyRename& operator=(const LegacyRename&) = delete;

 private:
  // Uses the C interface because the pragma of the same name allocates memory.
  void set(int on) { sqlite3_db_config(connection_.handle(), SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, on, nullptr); }

  SqliteConnection& connection_;
};

}  // namespace

std::vector<std::string> column_names(const std::vector<std::string>& labels,
                                      std::span<const std::string_view> reserved) {
  std::set<std::string> taken;
  for (const auto name : reserved) taken.insert(to_lower(name));
  std::vector<std::string> out;
  for (const auto& label : labels) {
    auto column = label;
    for (int n = 2; !taken.insert(to_lower(column)).second; ++n) column = label + "_" + std::to_string(n);
    out.push_back(std::move(column));
  }
  return out;
}

TileStore::TileStore(std::string tensor, std::vector<std::string> labels, StoredType type, TileGrid grid, int replicas,
                     std::string schema, FormatChoice formats)
    : tensor_(std::move(tensor)),
      table_(table_of(tensor_)),
      labels_(std::move(labels)),
      type_(type),
      grid_(std::move(grid)),
      replicas_(replicas),
      schema_(std::move(schema)),
      formats_(formats) {
  CHECK(schema_ != kTemporarySchema || !is_sharded(), "only tensors of a database's file lie at workers");
  CHECK(labels_.size() == grid_.rank(), "a tensor has one label per dimension");
  CHECK(replicas >= 0, "copies of a tile are counted");
  CHECK(!is_sharded() || !grid_.has_edges(), "tiles at workers are cut evenly");
  if (grid_.rank() > kMaxStoredRank) {
    throw Error(ErrorKind::Unsupported, "a tensor of " + std::to_string(grid_.rank()) + " dimensions cannot be stored",
                std::nullopt, "at most " + std::to_string(kMaxStoredRank) + " dimensions can");
  }
}

ShardedContents& TileStore::contents(SqliteConnection& connection) const {
  if (auto* contents = ShardedContents::of(connection)) return *contents;
  throw Error(ErrorKind::Unsupported,
              "tensor " + tensor_ + " is sharded: its tiles lie at workers, and this session has none", std::nullopt,
              "give the workers: --workers HOST:PORT,...");
}

std::string TileStore::table_of(const std::string& tensor) { return "eindb_tiles_" + tensor; }

std::string TileStore::quoted(const std::string& table) const {
  return quote_identifier(schema_) + "." + quote_identifier(table);
}

void TileStore::create(SqliteConnection& connection) const {
  std::string sql = "CREATE TABLE " + quoted_table() + " (tile_id INTEGER PRIMARY KEY";
  for (const auto& column : column_names(labels_, kOwnColumns)) sql += ", " + quote_identifier(column) + " INTEGER";
  connection.execute(sql + ", tile BLOB)");
}

void TileStore::drop(SqliteConnection& connection) const {
  if (is_sharded()) discard_all(connection);
  connection.execute("DROP TABLE " + quoted_table());
}

// Runs without workers too: a later session with workers drops the garbage.
void TileStore::discard_all(SqliteConnection& connection) const {
  if (auto* contents = ShardedContents::of(connection)) return contents->discard_all(table_);
  ShardLog log(connection);
  log.create();
  log.advance(random_identity());
  log.discard_all(table_);
}

void TileStore::rename_table(SqliteConnection& connection, const std::string& from, const std::string& to) const {
  connection.execute("ALTER TABLE " + quoted(from) + " RENAME TO " + quote_identifier(to));
}

void TileStore::rename(SqliteConnection& connection, const std::string& new_tensor) const {
  const LegacyRename scope(connection);
  const auto target = table_of(new_tensor);
  auto source = table_;
  if (to_lower(source) == to_lower(target)) {  // SQLite refuses to change only the case
    rename_table(connection, source, kBetweenNames);
    source = kBetweenNames;
  }
  rename_table(connection, source, target);
}

// By way of names that no label has, since labels may change places.
void TileStore::rename_columns(SqliteConnection& connection, const std::vector<std::string>& labels) const {
  const LegacyRename scope(connection);
  const auto before = column_names(labels_, kOwnColumns);
  const auto after = column_names(labels, kOwnColumns);
  const auto rename = [&](const std::string& from, const std::string& to) {
    connection.execute("ALTER TABLE " + quoted_table() + " RENAME COLUMN " + quote_identifier(from) + " TO " +
                       quote_identifier(to));
  };
  for (std::size_t d = 0; d < before.size(); ++d)
    if (before[d] != after[d]) rename(before[d], kBetweenNames + std::to_string(d));
  for (std::size_t d = 0; d < before.size(); ++d)
    if (before[d] != after[d]) rename(kBetweenNames + std::to_string(d), after[d]);
}

// In two steps, since a new number may be the old one of another row.
void TileStore::renumber(SqliteConnection& connection) const {
  std::string number = "0";
  const auto columns = column_names(labels_, kOwnColumns);
  for (std::size_t d = 0; d < columns.size(); ++d)
    number = "(" + number + ") * " + std::to_string(grid_.partition()[d]) + " + " + quote_identifier(columns[d]);
  connection.execute("UPDATE " + quoted_table() + " SET tile_id = -1 - (" + number + ")");
  connection.execute("UPDATE " + quoted_table() + " SET tile_id = -1 - tile_id");
}

std::string TileStore::describe(std::int64_t tile_id) const {
  return "tile " + bracketed(grid_.key_of(tile_id)) + " of tensor " + tensor_;
}

TilePtr TileStore::read(SqliteConnection& connection, std::int64_t tile_id) const {
  auto tile = load(connection, tile_id, dtype());
  return tile != nullptr && tile->is_encoded() ? std::make_shared<const Tile>(decoded(*tile)) : tile;
}

TilePtr TileStore::load(SqliteConnection& connection, std::int64_t tile_id, DType type) const {
  auto found = find(connection, tile_id, type);
  if (auto* tile = std::get_if<TilePtr>(&found)) return std::move(*tile);
  return contents(connection).fetch(std::get<LocatedContent>(found), wanted(tile_id, type, TileForm::Stored));
}

std::vector<TilePtr> TileStore::load_all(SqliteConnection& connection, std::span<const WantedTile> wanted) {
  std::vector<TilePtr> out(wanted.size());
  std::vector<std::size_t> places;
  std::vector<ShardedContents::WantedTile> at_workers;
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    const auto& [store, tile_id, type, form] = wanted[n];
    auto found = store->find(connection, tile_id, type, form);
    if (auto* tile = std::get_if<TilePtr>(&found)) {
      out[n] = std::move(*tile);
      continue;
    }
    places.push_back(n);
    at_workers.push_back({std::get<LocatedContent>(std::move(found)), store->wanted(tile_id, type, form)});
  }
  if (at_workers.empty()) return out;
  auto fetched = wanted[places.front()].store->contents(connection).fetch_all(at_workers);
  for (std::size_t n = 0; n < places.size(); ++n) out[places[n]] = std::move(fetched[n]);
  return out;
}

bool TileStore::may_have_cells(std::int64_t tile_id) const {
  const auto key = grid_.key_of(tile_id);
  const auto shape = grid_.tile_shape(key);
  return CellBlock::may_have(shape) && grid_.room_shape(key) == shape && may_be_sparse(type_, shape.element_count());
}

TilePtr TileStore::read_as_cells(SqliteConnection& connection, std::int64_t tile_id) const {
  const auto shape = grid_.tile_shape(grid_.key_of(tile_id));
  if (!CellBlock::may_have(shape)) return nullptr;
  const auto found = label(connection, tile_id);
  if (!found || found->format != TileFormat::Coordinates) return nullptr;
  auto cells = load_cells(connection, tile_id, dtype());
  const std::vector<std::int64_t> numbers(cells.numbers.begin(), cells.numbers.end());
  return std::make_shared<const Tile>(Tile::of_cells(
      std::make_shared<const CellBlock>(CellBlock::of_numbers(dtype(), shape, numbers, std::move(cells.values)))));
}

std::optional<TileLabel> TileStore::label(SqliteConnection& connection, std::int64_t tile_id) const {
  if (tile_id < 0 || tile_id >= grid_.tile_count()) return std::nullopt;
  const std::lock_guard lock(connection.mutex());
  const auto blob = SqliteBlob::open(connection, schema_, table_, "tile", tile_id, SqliteBlob::Access::Read);
  if (!blob) return std::nullopt;
  if (!is_sharded()) return tile_label(*blob);
  const auto reference = reference_bytes(*blob);
  if (!reference) return std::nullopt;
  try {
    return decode_reference(*reference, {}).label;
  } catch (const Error& error) {  // whoever reads the tile is told of the damage
    if (error.kind() != ErrorKind::Corrupt) throw;
    return std::nullopt;
  }
}

void TileStore::mend(SqliteConnection& connection, std::int64_t tile_id) const {
  const auto found = find(connection, tile_id, dtype());
  if (const auto* located = std::get_if<LocatedContent>(&found))
    contents(connection).mend(*located, wanted(tile_id, dtype(), TileForm::Stored));
}

ShardedContents::Wanted TileStore::wanted(std::int64_t tile_id, DType type, TileForm form) const {
  return {type, grid_.tile_shape(grid_.key_of(tile_id)), tensor_, describe(tile_id), form};
}

std::variant<TilePtr, LocatedContent> TileStore::find(SqliteConnection& connection, std::int64_t tile_id, DType type,
                                                      TileForm form) const {
  CHECK(tile_id >= 0 && tile_id < grid_.tile_count(), "a tile that is read lies in its grid");
  const std::lock_guard lock(connection.mutex());
  if (const auto blob = SqliteBlob::open(connection, schema_, table_, "tile", tile_id, SqliteBlob::Access::Read))
    return value_of(*blob, connection, tile_id, type, form);
  // Either there is no such row, or its value is no blob; a query distinguishes the two.
  auto select = connection.prepare("SELECT tile FROM " + quoted_table() + " WHERE tile_id = ?");
  select.bind(1, tile_id);
  if (!select.step()) return nullptr;
  return value_of(MemorySource(select.blob(0)), connection, tile_id, type, form);
}

std::optional<LocatedContent> TileStore::reference_in(const ByteSource& row, SqliteConnection& connection,
                                                      std::int64_t tile_id) const {
  const auto reference = reference_bytes(row);
  if (!reference) return std::nullopt;
  // The session's workers are those of its own database.
  if (!is_in_file())
    throw Error(ErrorKind::Corrupt, describe(tile_id) + " of " + schema_ + " is damaged: it refers to a worker",
                std::nullopt, "restore that database from a copy");
  return contents(connection).locate(decode_reference(*reference, describe(tile_id)));
}

std::variant<TilePtr, LocatedContent> TileStore::value_of(const ByteSource& row, SqliteConnection& connection,
                                                          std::int64_t tile_id, DType type, TileForm form) const {
  if (auto located = reference_in(row, connection, tile_id)) return *std::move(located);
  const auto key = grid_.key_of(tile_id);
  const auto shape = grid_.tile_shape(key);
  const auto room = grid_.room_shape(key);
  const auto named = [&] { return describe(tile_id); };
  if (room == shape) return std::make_shared<const Tile>(load_tile(row, type, shape, named, form));
  CHECK(form == TileForm::Stored, "tiles with room behind them are read with all values");
  return std::make_shared<const Tile>(corner_of(decode_tile(row, type, room, named), shape));
}

// Those with room for cells behind their end are read as others are.
CellList TileStore::load_cells(SqliteConnection& connection, std::int64_t tile_id, DType type) const {
  CHECK(tile_id >= 0 && tile_id < grid_.tile_count(), "a tile that is read lies in its grid");
  const auto key = grid_.key_of(tile_id);
  if (is_sharded() && may_have_cells(tile_id)) {
    const WantedTile wanted{this, tile_id, type, TileForm::Cells};
    const auto tile = load_all(connection, std::span(&wanted, 1)).front();
    return tile == nullptr ? CellList{} : list_of(tile->cells());
  }
  if (!is_sharded() && grid_.room_shape(key) == grid_.tile_shape(key)) {
    const std::lock_guard lock(connection.mutex());
    const auto blob = SqliteBlob::open(connection, schema_, table_, "tile", tile_id, SqliteBlob::Access::Read);
    if (blob && !reference_bytes(*blob))
      return eindb::load_cells(*blob, type, grid_.tile_shape(key), [&] { return describe(tile_id); });
  }
  const auto tile = load(connection, tile_id, type);
  return tile == nullptr ? CellList{} : cells_of(*tile);
}

StoredTileIds::StoredTileIds(SqliteConnection& connection, const TileStore& store) : connection_(connection) {
  const std::lock_guard lock(connection_.mutex());
  select_.emplace(connection.prepare("SELECT tile_id FROM " + store.quoted_table() +
                                     " WHERE tile_id >= ? AND tile_id < ? ORDER BY tile_id LIMIT 1"));
  select_->bind(2, store.grid().tile_count());
}

StoredTileIds::~StoredTileIds() {
  const std::lock_guard lock(connection_.mutex());
  select_.reset();
}

std::optional<std::int64_t> StoredTileIds::next(std::int64_t from) {
  const std::lock_guard lock(connection_.mutex());
  select_->bind(1, from);
  std::optional<std::int64_t> found;
  if (select_->step()) found = select_->integer(0);
  select_->reset();
  return found;
}

}  // namespace eindb
