#include "storage/tile_store.hpp"

#include <array>
#include <set>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "storage/sqlite_blob.hpp"
#include "storage/tile_codec.hpp"

namespace eindb {
namespace {

/// SQLite's limit for a row, less what the other columns and the record's header may take.
constexpr std::size_t kMaxTileBytes = 1'000'000'000 - 16 * (kMaxStoredRank + 4);

constexpr std::array<std::string_view, 2> kOwnColumns{"tile_id", "tile"};

std::string qualified(const std::string& table) { return "main." + quote_identifier(table); }

std::string insert_sql(const std::string& table, std::size_t rank) {
  std::string sql = "INSERT OR REPLACE INTO " + qualified(table) + " VALUES (?";
  for (std::size_t d = 0; d < rank; ++d) sql += ", ?";
  return sql + ", zeroblob(?))";
}

constexpr const char* kBetweenNames = "eindb_renamed";

void rename_table(SqliteConnection& connection, const std::string& from, const std::string& to) {
  connection.execute("ALTER TABLE " + qualified(from) + " RENAME TO " + quote_identifier(to));
}

/// Without it SQLite resolves every view and trigger of the database at each rename, and fails if a person has left one
/// that names a table long gone.
class LegacyRename {
 public:
  explicit LegacyRename(SqliteConnection& connection) : connection_(connection) {
    connection_.execute("PRAGMA legacy_alter_table = ON");
  }
  ~LegacyRename() {
    try {
      connection_.execute("PRAGMA legacy_alter_table = OFF");
    } catch (const Error&) {  // an old-style rename of a person's table is all that can follow
    }
  }
  LegacyRename(const LegacyRename&) = delete;
  LegacyRename& operator=(const LegacyRename&) = delete;

 private:
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

TileStore::TileStore(std::string tensor, const std::vector<std::string>& labels, DType dtype, TileGrid grid)
    : tensor_(std::move(tensor)),
      table_(table_of(tensor_)),
      columns_(column_names(labels, kOwnColumns)),
      dtype_(dtype),
      grid_(std::move(grid)) {
  CHECK(labels.size() == grid_.rank(), "a tensor has one label per dimension");
  if (grid_.rank() > kMaxStoredRank) {
    throw Error(ErrorKind::Unsupported, "a tensor of " + std::to_string(grid_.rank()) + " dimensions cannot be stored",
                std::nullopt, "at most " + std::to_string(kMaxStoredRank) + " dimensions can");
  }
}

std::string TileStore::table_of(const std::string& tensor) { return "eindb_tiles_" + tensor; }

void TileStore::create(SqliteConnection& connection) const {
  std::string sql = "CREATE TABLE " + qualified(table_) + " (tile_id INTEGER PRIMARY KEY";
  for (const auto& column : columns_) sql += ", " + quote_identifier(column) + " INTEGER";
  connection.execute(sql + ", tile BLOB)");
}

void TileStore::drop(SqliteConnection& connection) const { connection.execute("DROP TABLE " + qualified(table_)); }

void TileStore::rename(SqliteConnection& connection, const std::string& new_tensor) const {
  const LegacyRename scope(connection);
  const auto target = table_of(new_tensor);
  auto source = table_;
  if (to_lower(source) == to_lower(target)) {  // SQLite refuses to change the case alone
    rename_table(connection, source, kBetweenNames);
    source = kBetweenNames;
  }
  rename_table(connection, source, target);
}

std::string TileStore::describe(std::int64_t tile_id) const {
  return "tile " + bracketed(grid_.key_of(tile_id)) + " of tensor " + tensor_;
}

TilePtr TileStore::read(SqliteConnection& connection, std::int64_t tile_id) const {
  const auto shape = grid_.tile_shape(grid_.key_of(tile_id));
  const std::lock_guard lock(connection.mutex());
  if (const auto blob = SqliteBlob::open(connection, table_, "tile", tile_id, SqliteBlob::Access::Read))
    return std::make_shared<const Tile>(decode_tile(*blob, dtype_, shape, describe(tile_id)));
  // Either there is no such row, or its value is no blob: a query tells which.
  auto select = connection.prepare("SELECT tile FROM " + qualified(table_) + " WHERE tile_id = ?");
  select.bind(1, tile_id);
  if (!select.step()) return nullptr;
  return std::make_shared<const Tile>(decode_tile(MemorySource(select.blob(0)), dtype_, shape, describe(tile_id)));
}

TileWriter::TileWriter(SqliteConnection& connection, const TileStore& store)
    : connection_(connection),
      store_(store),
      insert_(connection.prepare(insert_sql(store.table_, store.grid_.rank()))),
      remove_(connection.prepare("DELETE FROM " + qualified(store.table_) + " WHERE tile_id = ?")) {
  CHECK(connection.in_transaction(), "tiles are written inside a transaction");
}

void TileWriter::write(std::int64_t tile_id, const Tile& tile) {
  const auto key = store_.grid_.key_of(tile_id);
  CHECK(tile.dtype() == store_.dtype_ && tile.shape() == store_.grid_.tile_shape(key), "a tile fits its place");
  if (encoded_size(tile) > kMaxTileBytes) {
    throw Error(
        ErrorKind::Unsupported,
        store_.describe(tile_id) + " has " + std::to_string(tile.byte_size()) + " bytes; a tile has less than 1 GB",
        std::nullopt, "cut the tensor into more parts: PARTITION (...)");
  }
  if (tile.is_all_zero()) return remove(tile_id);

  const TileHeader header(tile);
  const std::lock_guard lock(connection_.mutex());
  insert_.bind(1, tile_id);
  for (std::size_t d = 0; d < key.size(); ++d) insert_.bind(static_cast<int>(d) + 2, key[d]);
  insert_.bind(static_cast<int>(key.size()) + 2, static_cast<std::int64_t>(encoded_size(tile)));
  insert_.run();
  // The row is made of zeros and filled in place: no buffer of header and values together is needed.
  auto blob = SqliteBlob::open(connection_, store_.table_, "tile", tile_id, SqliteBlob::Access::Write);
  CHECK(blob.has_value(), "a row just written can be opened");
  blob->write(0, header.bytes());
  blob->write(header.bytes().size(), tile.bytes());
}

void TileWriter::remove(std::int64_t tile_id) {
  const std::lock_guard lock(connection_.mutex());
  remove_.bind(1, tile_id).run();
}

StoredTileIds::StoredTileIds(SqliteConnection& connection, const TileStore& store)
    : connection_(connection),
      select_(connection.prepare("SELECT tile_id FROM " + qualified(store.table()) +
                                 " WHERE tile_id >= ? AND tile_id < ? ORDER BY tile_id LIMIT 1")) {
  select_.bind(2, store.grid().tile_count());
}

std::optional<std::int64_t> StoredTileIds::next(std::int64_t from) {
  const std::lock_guard lock(connection_.mutex());
  select_.bind(1, from);
  std::optional<std::int64_t> found;
  if (select_.step()) found = select_.integer(0);
  select_.reset();
  return found;
}

}  // namespace eindb
