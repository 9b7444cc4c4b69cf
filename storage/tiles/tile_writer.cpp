#include "storage/tiles/tile_writer.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "storage/tiles/sqlite_blob.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb {
namespace {

std::string insert_sql(const std::string& quoted_table, std::size_t rank, bool sharded) {
  std::string sql = "INSERT OR REPLACE INTO " + quoted_table + " VALUES (?";
  for (std::size_t d = 0; d < rank; ++d) sql += ", ?";
  return sql + (sharded ? ", ?)" : ", zeroblob(?))");
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

/// The tile that is zero but for these cells.
Tile tile_of(DType type, const Shape& shape, const CellList& cells) {
  auto tile = Tile::zeros(type, shape);
  const auto size = size_of(type);
  CHECK(cells.values.size() == cells.numbers.size() * size, "each cell of a list has a value");
  for (std::size_t n = 0; n < cells.numbers.size(); ++n)
    std::memcpy(tile.mutable_bytes().data() + cells.numbers[n] * size, cells.values.data() + n * size, size);
  return tile;
}

}  // namespace

TileWriter::TileWriter(SqliteConnection& connection, const TileStore& store)
    : connection_(connection),
      store_(store),
      contents_(store.is_sharded() ? &store.contents(connection) : nullptr),
      insert_(connection.prepare(insert_sql(store.quoted_table(), store.grid_.rank(), store.is_sharded()))),
      remove_(connection.prepare("DELETE FROM " + store.quoted_table() + " WHERE tile_id = ?")) {
  CHECK(connection.in_transaction(), "tiles are written inside a transaction");
  if (contents_ == nullptr) return;
  select_ = connection.prepare("SELECT tile FROM " + store.quoted_table() + " WHERE tile_id = ?");
  workers_ = contents_->placing_workers();
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
  check_size(tile_id);
}

void TileWriter::check_size(std::int64_t tile_id) const {
  const auto bytes = encoded_bytes(store_.type_, store_.grid_.room_shape(store_.grid_.key_of(tile_id)).element_count());
  if (static_cast<std::size_t>(bytes) > kMaxStoredTileBytes) {
    throw Error(ErrorKind::Unsupported,
                store_.describe(tile_id) + " has " + std::to_string(bytes) + " bytes; a tile has less than 1 GB",
                std::nullopt, "cut the tensor into more parts: PARTITION (...)");
  }
}

void TileWriter::write(std::int64_t tile_id, const Tile& given) {
  check(tile_id, given);
  if (given.is_all_zero()) return remove(tile_id);
  if (given.is_of_cells()) return write(tile_id, list_of(given.cells()));
  const auto room = room_of(tile_id, given);
  put(tile_id, encode(tile_id, room ? *room : given));
}

void TileWriter::write(std::int64_t tile_id, CellList cells) {
  CHECK(tile_id >= 0 && tile_id < store_.grid_.tile_count(), "a tile that is written lies in its grid");
  check_size(tile_id);
  const auto key = store_.grid_.key_of(tile_id);
  const auto shape = store_.grid_.tile_shape(key);
  const auto room = store_.grid_.room_shape(key);
  if (!may_be_sparse(store_.type_, room.element_count())) return write(tile_id, tile_of(store_.dtype(), shape, cells));
  if (room != shape)
    for (auto& number : cells.numbers) number = static_cast<std::uint32_t>(number_in(room, shape, number));
  const EncodedTile tile(store_.type_, room, std::move(cells), namer(tile_id, room), store_.formats_);
  if (tile.stores_nothing()) return remove(tile_id);
  put(tile_id, tile);
}

void TileWriter::put(std::int64_t tile_id, const EncodedTile& tile) {
  if (contents_ == nullptr) insert(tile_id, tile);
  else send(tile_id, tile);
}

EncodedTile TileWriter::encode(std::int64_t tile_id, const Tile& tile) const {
  return EncodedTile(tile, store_.type_.encoding, namer(tile_id, tile.shape()), store_.formats_);
}

// Cells that an encoding does not hold are named by their indices in the tensor.
CellNamer TileWriter::namer(std::int64_t tile_id, const Shape& room) const {
  return [this, tile_id, room](std::int64_t cell) {
    auto index = store_.grid_.tile_begin(store_.grid_.key_of(tile_id));
    for (std::size_t d = index.size(); d-- > 0;) {
      index[d] += cell % room[d];
      cell /= room[d];
    }
    return "cell " + bracketed(index) + " of tensor " + store_.tensor_;
  };
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
  if (contents_ != nullptr || given.is_of_cells()) return write(tile_id, given);
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

// False if there is no row of that size. Frees and allocates no pages. A tile of another format has none of the values
// that are left as they are.
bool TileWriter::overwrite(std::int64_t tile_id, const EncodedTile& tile, std::span<const std::byte> changed) {
  const std::lock_guard lock(connection_.mutex());
  auto blob = SqliteBlob::open(connection_, store_.schema_, store_.table_, "tile", tile_id, SqliteBlob::Access::Write);
  if (!blob || blob->size() != tile.size()) return false;
  if (tile_label(*blob) != tile.label()) changed = tile.values();
  blob->write(0, tile.header());
  if (!changed.empty())
    blob->write(tile.header().size() + static_cast<std::size_t>(changed.data() - tile.values().data()), changed);
  return true;
}

// Announces first: from then on only this connection writes, and its transaction knows the contents that are sent.
void TileWriter::send(std::int64_t tile_id, const EncodedTile& tile) {
  const auto holders = holders_of(tile_id, tile.label());
  ContentId content{};
  {
    const std::lock_guard lock(connection_.mutex());
    content = contents_->announce(1, holders);
    insert_reference(tile_id, {.content = content,
                               .bytes = tile.size(),
                               .checksum = tile.checksum(),
                               .workers = numbers_of(holders),
                               .label = tile.label()});
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
                             .workers = numbers_of(put.workers),
                             .label = put.label});
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

void TileWriter::expect_cells(std::int64_t cells) {
  if (contents_ != nullptr) runs_.emplace(cells, workers_.size());
}

std::vector<ShardWorker> TileWriter::holders_of(std::int64_t tile_id, const TileLabel& label) {
  CHECK(placement_.has_value(), "tiles of sharded tensors have a place at workers");
  std::vector<ShardWorker> holders;
  const auto all = store_.grid_.tile_shape(store_.grid_.key_of(tile_id)).element_count();
  const auto places = runs_ ? placement_->from(runs_->next(label.format == TileFormat::Dense ? all : label.count))
                            : placement_->of(tile_id);
  for (const auto place : places) {
    CHECK(place < workers_.size(), "a tile goes to a worker that is there");
    holders.push_back(workers_[place]);
  }
  CHECK(std::cmp_equal(holders.size(), store_.replicas_), "a tile has as many copies as its tensor keeps");
  return holders;
}

const std::vector<WorkerNumber>& TileWriter::numbers_of(const std::vector<ShardWorker>& workers) {
  if (workers != last_holders_ || last_numbers_.empty()) {
    last_numbers_ = contents_->numbers_of(workers);
    last_holders_ = workers;
  }
  return last_numbers_;
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

}  // namespace eindb
