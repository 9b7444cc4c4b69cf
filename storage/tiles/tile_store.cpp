#include "storage/tiles/tile_store.hpp"

#include <sqlite3.h>

#include <array>
#include <set>
#include <utility>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/tiles/sqlite_blob.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb {
namespace {

/// SQLite's limit for a row, minus room for the other columns and the record's header.
constexpr std::size_t kMaxTileBytes = 1'000'000'000 - 16 * (kMaxStoredRank + 4);

constexpr std::array<std::string_view, 2> kOwnColumns{"tile_id", "tile"};

std::string insert_sql(const std::string& quoted_table, std::size_t rank, bool sharded) {
  std::string sql = "INSERT OR REPLACE INTO " + quoted_table + " VALUES (?";
  for (std::size_t d = 0; d < rank; ++d) sql += ", ?";
  return sql + (sharded ? ", ?)" : ", zeroblob(?))");
}

/// The connection's ShardedContents, or Error{Unsupported}.
ShardedContents& contents_of(const TileStore& store, SqliteConnection& connection) {
  if (auto* contents = ShardedContents::of(connection)) return *contents;
  throw Error(ErrorKind::Unsupported,
              "tensor " + store.tensor() + " is sharded: its tiles lie at workers, and this session has none",
              std::nullopt, "give the workers: --workers HOST:PORT,...");
}

/// Throws if too few workers are left only because disks are full.
void require_no_full(ShardAccess& access, const std::string& tensor, std::size_t replicas) {
  std::string full;
  for (const auto& worker : access.full_workers()) full += (full.empty() ? "" : ", ") + worker.address;
  if (full.empty()) return;
  throw Error(ErrorKind::Io,
              "tensor " + tensor + " keeps " + std::to_string(replicas) + (replicas == 1 ? " copy" : " copies") +
                  " of each tile, and the disks of these workers are full: " + full,
              std::nullopt, "drop tensors, make room on these disks, or add workers; SHOW WORKERS tells who has room");
}

/// The first cells of a tile along each dimension.
Tile corner_of(const Tile& tile, const Shape& shape) {
  auto corner = Tile::uninitialized(tile.dtype(), shape);
  copy_block(corner.mutable_bytes().data(), shape.row_major_strides(), tile.bytes().data(),
             tile.shape().row_major_strides(), shape.extents(), size_of(tile.dtype()));
  return corner;
}

/// The tile with zeros behind it along each dimension.
Tile with_room(const Tile& tile, const Shape& room) {
  auto whole = Tile::zeros(tile.dtype(), room);
  copy_block(whole.mutable_bytes().data(), room.row_major_strides(), tile.bytes().data(),
             tile.shape().row_major_strides(), tile.shape().extents(), size_of(tile.dtype()));
  return whole;
}

/// Where the element with a row-major number in one shape is in a larger one.
std::int64_t number_in(const Shape& room, const Shape& shape, std::int64_t number) {
  std::int64_t out = 0;
  std::int64_t stride = 1;
  for (std::size_t d = shape.rank(); d-- > 0;) {
    out += number % shape[d] * stride;
    number /= shape[d];
    stride *= room[d];
  }
  return out;
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
                     std::string schema)
    : tensor_(std::move(tensor)),
      table_(table_of(tensor_)),
      labels_(std::move(labels)),
      type_(type),
      grid_(std::move(grid)),
      replicas_(replicas),
      schema_(std::move(schema)) {
  CHECK(schema_ != kTemporarySchema || !is_sharded(), "only tensors of a database's file lie at workers");
  CHECK(labels_.size() == grid_.rank(), "a tensor has one label per dimension");
  CHECK(replicas >= 0, "copies of a tile are counted");
  CHECK(!is_sharded() || !grid_.has_edges(), "tiles at workers are cut evenly");
  if (grid_.rank() > kMaxStoredRank) {
    throw Error(ErrorKind::Unsupported, "a tensor of " + std::to_string(grid_.rank()) + " dimensions cannot be stored",
                std::nullopt, "at most " + std::to_string(kMaxStoredRank) + " dimensions can");
  }
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
  return contents_of(*this, connection).fetch(std::get<LocatedContent>(found), wanted(tile_id, type));
}

void TileStore::mend(SqliteConnection& connection, std::int64_t tile_id) const {
  const auto found = find(connection, tile_id, dtype());
  if (const auto* located = std::get_if<LocatedContent>(&found))
    contents_of(*this, connection).mend(*located, wanted(tile_id, dtype()));
}

ShardedContents::Wanted TileStore::wanted(std::int64_t tile_id, DType type) const {
  return {type, grid_.tile_shape(grid_.key_of(tile_id)), tensor_, describe(tile_id)};
}

std::variant<TilePtr, LocatedContent> TileStore::find(SqliteConnection& connection, std::int64_t tile_id,
                                                      DType type) const {
  CHECK(tile_id >= 0 && tile_id < grid_.tile_count(), "a tile that is read lies in its grid");
  const std::lock_guard lock(connection.mutex());
  if (const auto blob = SqliteBlob::open(connection, schema_, table_, "tile", tile_id, SqliteBlob::Access::Read))
    return value_of(*blob, connection, tile_id, type);
  // Either there is no such row, or its value is no blob; a query distinguishes the two.
  auto select = connection.prepare("SELECT tile FROM " + quoted_table() + " WHERE tile_id = ?");
  select.bind(1, tile_id);
  if (!select.step()) return nullptr;
  return value_of(MemorySource(select.blob(0)), connection, tile_id, type);
}

std::variant<TilePtr, LocatedContent> TileStore::value_of(const ByteSource& row, SqliteConnection& connection,
                                                          std::int64_t tile_id, DType type) const {
  if (const auto reference = reference_bytes(row)) {
    // The session's workers are those of its own database.
    if (!is_in_file())
      throw Error(ErrorKind::Corrupt, describe(tile_id) + " of " + schema_ + " is damaged: it refers to a worker",
                  std::nullopt, "restore that database from a copy");
    return contents_of(*this, connection).locate(decode_reference(*reference, describe(tile_id)));
  }
  const auto key = grid_.key_of(tile_id);
  const auto shape = grid_.tile_shape(key);
  const auto room = grid_.room_shape(key);
  if (room == shape) return std::make_shared<const Tile>(load_tile(row, type, shape, describe(tile_id)));
  return std::make_shared<const Tile>(corner_of(decode_tile(row, type, room, describe(tile_id)), shape));
}

TileWriter::TileWriter(SqliteConnection& connection, const TileStore& store)
    : connection_(connection),
      store_(store),
      contents_(store.is_sharded() ? &contents_of(store, connection) : nullptr),
      insert_(connection.prepare(insert_sql(store.quoted_table(), store.grid_.rank(), store.is_sharded()))),
      remove_(connection.prepare("DELETE FROM " + store.quoted_table() + " WHERE tile_id = ?")) {
  CHECK(connection.in_transaction(), "tiles are written inside a transaction");
  if (contents_ == nullptr) return;
  select_ = connection.prepare("SELECT tile FROM " + store.quoted_table() + " WHERE tile_id = ?");
  workers_ = contents_->access().workers();
  const auto replicas = static_cast<std::size_t>(store.replicas_);
  if (workers_.size() < replicas) {
    require_no_full(contents_->access(), store.tensor_, replicas);
    throw Error(ErrorKind::WorkerLost,
                "tensor " + store.tensor_ + " keeps " + std::to_string(replicas) + " copies of each tile, and " +
                    std::to_string(workers_.size()) +
                    (workers_.size() == 1 ? " worker is there" : " workers are there"),
                std::nullopt, "start the others, or keep fewer: ALTER TENSOR ... REPLICAS");
  }
  placement_.emplace(store.grid_, workers_.size(), replicas);
}

void TileWriter::check(std::int64_t tile_id, const Tile& tile) const {
  CHECK(tile_id >= 0 && tile_id < store_.grid_.tile_count(), "a tile that is written lies in its grid");
  CHECK(tile.dtype() == store_.dtype() && tile.shape() == store_.grid_.tile_shape(store_.grid_.key_of(tile_id)),
        "a tile fits its place");
  const auto bytes = encoded_bytes(store_.type_, store_.grid_.room_shape(store_.grid_.key_of(tile_id)).element_count());
  if (static_cast<std::size_t>(bytes) > kMaxTileBytes) {
    throw Error(ErrorKind::Unsupported,
                store_.describe(tile_id) + " has " + std::to_string(bytes) + " bytes; a tile has less than 1 GB",
                std::nullopt, "cut the tensor into more parts: PARTITION (...)");
  }
}

void TileWriter::write(std::int64_t tile_id, const Tile& given) {
  check(tile_id, given);
  if (given.is_all_zero()) return remove(tile_id);
  const auto room = room_of(tile_id, given);
  const auto tile = encode(tile_id, room ? *room : given);
  if (contents_ == nullptr) insert(tile_id, tile);
  else send(tile_id, tile);
}

// Cells that an encoding does not hold are named by their indices in the tensor.
EncodedTile TileWriter::encode(std::int64_t tile_id, const Tile& tile) const {
  return EncodedTile(tile, store_.type_.encoding, [&](std::int64_t cell) {
    auto index = store_.grid_.tile_begin(store_.grid_.key_of(tile_id));
    for (std::size_t d = index.size(); d-- > 0;) {
      index[d] += cell % tile.shape()[d];
      cell /= tile.shape()[d];
    }
    return "cell " + bracketed(index) + " of tensor " + store_.tensor_;
  });
}

// The tile as it is stored, where it has room for more cells.
std::optional<Tile> TileWriter::room_of(std::int64_t tile_id, const Tile& tile) const {
  if (!store_.grid_.has_edges()) return std::nullopt;
  const auto room = store_.grid_.room_shape(store_.grid_.key_of(tile_id));
  if (room == tile.shape()) return std::nullopt;
  return with_room(tile, room);
}

// Inserts a row of zeros and fills it in place, which avoids a buffer with header and values.
void TileWriter::insert(std::int64_t tile_id, const EncodedTile& tile) {
  const std::lock_guard lock(connection_.mutex());
  bind_key(insert_, tile_id);
  insert_.bind(static_cast<int>(store_.grid_.rank()) + 2, static_cast<std::int64_t>(tile.size())).run();
  auto blob = SqliteBlob::open(connection_, store_.schema_, store_.table_, "tile", tile_id, SqliteBlob::Access::Write);
  CHECK(blob.has_value() && blob->size() == tile.size(), "a row just written can be opened");
  blob->write(0, tile.header());
  blob->write(tile.header().size(), tile.values());
}

// Contents of sharded tensors never change, so a new content replaces the old one.
void TileWriter::replace(std::int64_t tile_id, const Tile& tile) {
  replace(tile_id, tile, 0, tile.shape().element_count());
}

void TileWriter::replace(std::int64_t tile_id, const Tile& given, std::int64_t begin, std::int64_t end) {
  if (contents_ != nullptr) return write(tile_id, given);
  check(tile_id, given);
  if (given.is_all_zero()) return remove(tile_id);
  const auto room = room_of(tile_id, given);
  const auto tile = encode(tile_id, room ? *room : given);
  CHECK(0 <= begin && begin <= end && end <= given.shape().element_count(), "elements to write are the tile's");
  if (room && begin < end) {
    begin = number_in(room->shape(), given.shape(), begin);
    end = number_in(room->shape(), given.shape(), end - 1) + 1;
  }
  if (!overwrite(tile_id, tile, tile.values(begin, end))) insert(tile_id, tile);
}

// False if there is no row of that size. Frees and allocates no pages.
bool TileWriter::overwrite(std::int64_t tile_id, const EncodedTile& tile, std::span<const std::byte> changed) {
  const std::lock_guard lock(connection_.mutex());
  auto blob = SqliteBlob::open(connection_, store_.schema_, store_.table_, "tile", tile_id, SqliteBlob::Access::Write);
  if (!blob || blob->size() != tile.size()) return false;
  blob->write(0, tile.header());
  if (!changed.empty())
    blob->write(tile.header().size() + static_cast<std::size_t>(changed.data() - tile.values().data()), changed);
  return true;
}

// Announces first: from then on only this connection writes, and its transaction knows the contents that are sent.
void TileWriter::send(std::int64_t tile_id, const EncodedTile& tile) {
  const auto holders = holders_of(tile_id);
  ContentId content{};
  {
    const std::lock_guard lock(connection_.mutex());
    content = contents_->announce(1, holders);
    insert_reference(tile_id, {.content = content,
                               .bytes = tile.size(),
                               .checksum = tile.checksum(),
                               .workers = contents_->numbers_of(holders)});
  }
  contents_->send({.content = content, .tensor = store_.tensor_, .header = tile.header(), .values = tile.values()},
                  holders);
}

void TileWriter::refer(std::int64_t tile_id, const PutContent& put) {
  CHECK(contents_ != nullptr, "references stand in rows of sharded tensors");
  const std::lock_guard lock(connection_.mutex());
  contents_->count_sent(put.workers);
  insert_reference(tile_id, {.content = put.content,
                             .bytes = put.bytes,
                             .checksum = put.checksum,
                             .workers = contents_->numbers_of(put.workers)});
}

void TileWriter::insert_reference(std::int64_t tile_id, const TileReference& reference) {
  discard(tile_id);
  const auto bytes = encode_reference(reference);
  bind_key(insert_, tile_id);
  insert_.bind(static_cast<int>(store_.grid_.rank()) + 2, std::span<const std::byte>(bytes)).run();
}

void TileWriter::bind_key(SqliteStatement& row, std::int64_t tile_id) const {
  CHECK(connection_.in_transaction(), "the transaction is open as long as its tiles are written");
  const auto key = store_.grid_.key_of(tile_id);
  row.bind(1, tile_id);
  for (std::size_t d = 0; d < key.size(); ++d) row.bind(static_cast<int>(d) + 2, key[d]);
}

std::vector<ShardWorker> TileWriter::holders_of(std::int64_t tile_id) const {
  CHECK(placement_.has_value(), "tiles of sharded tensors have a place at workers");
  std::vector<ShardWorker> holders;
  for (const auto place : placement_->of(tile_id)) {
    CHECK(place < workers_.size(), "a tile goes to a worker that is there");
    holders.push_back(workers_[place]);
  }
  CHECK(std::cmp_equal(holders.size(), store_.replicas_), "a tile has as many copies as its tensor keeps");
  return holders;
}

void TileWriter::discard(std::int64_t tile_id) {
  CHECK(select_.has_value(), "only rows of sharded tensors hold references");
  select_->bind(1, tile_id);
  if (select_->step()) contents_->discard(decode_reference(select_->blob(0), store_.describe(tile_id)));
  select_->reset();
}

void TileWriter::remove(std::int64_t tile_id) {
  const std::lock_guard lock(connection_.mutex());
  if (contents_ != nullptr) discard(tile_id);
  remove_.bind(1, tile_id).run();
}

StoredTileIds::StoredTileIds(SqliteConnection& connection, const TileStore& store)
    : connection_(connection),
      select_(connection.prepare("SELECT tile_id FROM " + store.quoted_table() +
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
