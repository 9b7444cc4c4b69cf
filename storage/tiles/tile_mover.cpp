#include "storage/tiles/tile_mover.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/encoding/tile_codec.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/sqlite/kept_statement.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "tensor/shape.hpp"

namespace eindb {
namespace {

using Clock = std::chrono::steady_clock;

// How long prepared copies wait for the lock of writers.
constexpr std::chrono::seconds kPatienceForLock{30};

// Errors that end a round without saying anything about a single tile.
bool ends_round(const Error& error) {
  return error.kind() == ErrorKind::WorkerLost || error.kind() == ErrorKind::Busy ||
         error.kind() == ErrorKind::Cancelled || error.kind() == ErrorKind::MemoryLimit;
}

}  // namespace

TileMover::TileMover(DatabaseFile& file) : file_(file) {
  CHECK(ShardedContents::of(file.connection()) != nullptr, "tiles move between the workers of a database");
}

ShardedContents& TileMover::contents() const { return *ShardedContents::of(file_.connection()); }

// Rows of workers that the file does not know yet.
void TileMover::know(std::span<const ShardWorker> others) {
  ShardLog log(file_.connection());
  const auto known = log.workers();
  const auto is_new = [&](const ShardWorker& other) {
    return std::none_of(known.begin(), known.end(),
                        [&](const auto& worker) { return worker.second.data == other.data; });
  };
  if (std::none_of(others.begin(), others.end(), is_new)) return;
  SqliteTransaction transaction(file_.connection());
  for (const auto& other : others)
    if (is_new(other)) log.number_of(other);
  transaction.commit();
}

TileMover::Census TileMover::look(const PlaceOf& place_of, std::span<const ShardWorker> others,
                                  std::int64_t least_imbalance) {
  know(others);
  Census census;
  ShardLog log(file_.connection());
  SqliteTransaction one_state(file_.connection(), SqliteTransaction::Scope::Memory);
  const auto leaving = log.leaving();
  for (const auto& [number, worker] : log.workers()) {
    auto place = place_of(worker);
    if (leaving.contains(worker.data)) place.standing = TilePlace::Standing::Leaving;
    if (place.standing != TilePlace::Standing::Stays) place.takes = false;
    census.places.emplace(number, std::move(place));
  }
  std::vector<ShardedTile> tiles;
  std::set<DataId> needed;
  for_each_reference(file_.connection(), [&](ShardedTile tile) {
    for (const auto worker : tile.reference.workers) {
      const auto place = census.places.find(worker);
      if (place == census.places.end())
        throw Error(ErrorKind::Corrupt, "a tile of tensor " + tile.tensor->name + " lies at an unknown worker");
      needed.insert(place->second.worker.data);
    }
    tiles.push_back(std::move(tile));
  });
  for (const auto& garbage : log.garbage()) needed.insert(garbage.worker.data);
  const auto is_refused = [&](WorkerNumber worker, ContentId content) {
    return refused_.contains({worker, content}) || log.is_garbage(worker, content);
  };
  census.plan = plan_moves(tiles, census.places, {.is_refused = is_refused, .least_imbalance = least_imbalance});
  for (const auto& [data, mark] : leaving)
    if (!needed.contains(data)) census.drained.emplace(data, mark);
  one_state.commit();
  return census;
}

std::size_t TileMover::move_some(const Census& census, std::size_t begin, std::int64_t bytes, MovedTiles& done) {
  const auto& moves = census.plan.moves;
  CHECK(begin < moves.size(), "there is something to move");
  auto end = begin;
  std::int64_t sum = 0;
  do {
    sum += moves[end].bytes();
    ++end;
  } while (end < moves.size() && sum + moves[end].bytes() <= bytes);
  const std::span chosen(moves.data() + begin, end - begin);
  try {
    move_all(census, chosen, done);
  } catch (const Error& error) {
    if (ends_round(error)) throw;
    // One of them cannot be moved: the others are, one by one.
    for (const auto& move : chosen) {
      try {
        move_all(census, {&move, 1}, done);
      } catch (const Error& alone) {
        if (ends_round(alone)) throw;
        ++done.failed;
        for (const auto worker : move.added) refused_.emplace(worker, move.tile.reference.content);
      }
    }
  }
  return chosen.size();
}

// Nullopt if no worker has it undamaged.
std::optional<std::vector<std::byte>> TileMover::read(const TilePlaces& places, const ShardedTile& tile,
                                                      std::span<const WorkerNumber> sources) {
  const auto& reference = tile.reference;
  auto& access = contents().access();
  for (const auto source : sources) {
    const auto& worker = places.at(source).worker;
    try {
      const auto found = access.fetch(worker, reference.content);
      if (found != nullptr && found->size() == reference.bytes && encoded_checksum(*found) == reference.checksum &&
          is_intact(*found)) {
        std::vector<std::byte> bytes(found->size());
        found->read(0, bytes);
        return bytes;
      }
      access.note_damage(worker, reference.content,
                         "content " + std::to_string(number(reference.content)) + " of tensor " + tile.tensor->name +
                             (found == nullptr ? " is not there" : " is damaged"));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Io && error.kind() != ErrorKind::Corrupt && error.kind() != ErrorKind::WorkerLost)
        throw;
    }
  }
  return std::nullopt;
}

// The moves whose rows are as they were planned, and whose new workers have no garbage of the content; and an epoch
// that follows the one in which that is so. In a transaction.
std::vector<TileMover::Copy> TileMover::possible(std::span<const TileMove> moves, std::int64_t& since) {
  ShardLog log(file_.connection());
  since = log.epoch_number() + 1;
  std::vector<Copy> out;
  for (const auto& move : moves) {
    const bool may_come = std::none_of(move.added.begin(), move.added.end(), [&](WorkerNumber worker) {
      return log.is_garbage(worker, move.tile.reference.content);
    });
    if (may_come && is_current(move.tile)) out.push_back(&move);
  }
  return out;
}

bool TileMover::is_current(const ShardedTile& tile) {
  const auto& table = tile.tensor->table;
  if (!file_.connection().has_table(table, {"tile_id", "tile"})) return false;
  const auto reference = encode_reference(tile.reference);
  auto select =
      file_.connection().prepare("SELECT 1 FROM main." + quote_identifier(table) + " WHERE tile_id = ? AND tile = ?");
  return select.bind(1, tile.tile_id).bind(2, std::span<const std::byte>(reference)).step();
}

void TileMover::move_all(const Census& census, std::span<const TileMove> moves, MovedTiles& done) {
  auto& access = contents().access();
  const auto transaction = access.numbers().transaction();
  std::map<DataId, ShardParticipant> at;
  std::vector<Copy> copies;
  std::int64_t sent = 0;
  std::vector<ShardParticipant> participants;
  std::int64_t since = 0;
  try {
    // While this state is read, nobody drops what it refers to.
    SqliteTransaction one_state(file_.connection(), SqliteTransaction::Scope::Memory);
    for (const auto* move : possible(moves, since)) {
      if (!move->added.empty()) {
        const auto bytes = read(census.places, move->tile, move->sources);
        if (!bytes) {
          ++done.failed;
          continue;
        }
        for (const auto added : move->added) {
          const auto& worker = census.places.at(added).worker;
          ++at.try_emplace(worker.data, ShardParticipant{worker, 0}).first->second.contents;
          access.put(worker, transaction,
                     {.content = move->tile.reference.content,
                      .tensor = move->tile.tensor->name,
                      .header = *bytes,
                      .values = {},
                      .since = since});
          sent += static_cast<std::int64_t>(bytes->size());
        }
      }
      copies.push_back(move);
    }
    one_state.commit();
    for (const auto& [data, participant] : at) participants.push_back(participant);
    if (!participants.empty()) access.prepare(transaction, participants);
    if (!copies.empty()) change(census, transaction, participants, copies, done);
  } catch (const std::exception&) {
    for (const auto& [data, participant] : at) access.abort(participant.worker, transaction);
    throw;
  }
  done.bytes += sent;
}

// The commit is the last thing that may throw: after it the copies must not be aborted. It prepares them again, which
// finds out whether somebody has had them aborted meanwhile, as a transaction of which the file knows nothing.
void TileMover::change(const Census& census, ShardTransaction transaction,
                       const std::vector<ShardParticipant>& participants, std::vector<Copy>& moves, MovedTiles& done) {
  auto& connection = file_.connection();
  auto& contents = this->contents();
  std::sort(moves.begin(), moves.end(),
            [](const Copy& a, const Copy& b) { return a->tile.reference.content < b->tile.reference.content; });
  std::optional<SqliteTransaction> change;
  for (const auto last = Clock::now() + kPatienceForLock; !change;) {
    try {
      change.emplace(connection);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Busy || Clock::now() > last) throw;
      poll_cancellation();
    }
  }
  if (!participants.empty()) contents.adopt(transaction, participants);
  ShardLog log(connection);
  const auto leaving = log.leaving();
  std::int64_t changed = 0;
  for (const auto* move : moves) {
    const auto content = move->tile.reference.content;
    const bool may_come = std::none_of(move->added.begin(), move->added.end(), [&](WorkerNumber worker) {
      return leaving.contains(census.places.at(worker).worker.data) || log.is_garbage(worker, content);
    });
    if (!may_come || !refer(*move)) continue;
    ++changed;
    std::vector<ShardWorker> added;
    for (const auto worker : move->added) added.push_back(census.places.at(worker).worker);
    if (!added.empty()) contents.keep_copy(content, added);
    auto old = move->tile.reference;
    old.workers = move->removed;
    contents.discard(old);
  }
  if (changed == 0) {
    change.reset();  // and the copies are aborted with it
    return;
  }
  change->commit();
  done.tiles += changed;
}

// False if the row has changed, or is gone.
bool TileMover::refer(const TileMove& move) {
  auto& connection = file_.connection();
  const auto& table = move.tile.tensor->table;
  if (!connection.has_table(table, {"tile_id", "tile"})) return false;
  auto reference = move.tile.reference;
  const auto before = encode_reference(reference);
  reference.workers = move.workers();
  const auto after = encode_reference(reference);
  auto update =
      connection.prepare("UPDATE main." + quote_identifier(table) + " SET tile = ? WHERE tile_id = ? AND tile = ?");
  update.bind(1, std::span<const std::byte>(after))
      .bind(2, move.tile.tile_id)
      .bind(3, std::span<const std::byte>(before))
      .run();
  return connection.changes() == 1;
}

// By the indices of the tile, which stand between its number and its value.
std::string TileMover::name_of(const ShardedTile& tile) {
  auto select =
      file_.connection().prepare("SELECT * FROM main." + quote_identifier(tile.tensor->table) + " WHERE tile_id = ?");
  std::vector<std::int64_t> key;
  if (select.bind(1, tile.tile_id).step())
    for (int column = 1; column + 1 < select.column_count(); ++column) key.push_back(select.integer(column));
  return "tile " + bracketed(key) + " of tensor " + tile.tensor->name;
}

TileMover::Mended TileMover::mend(std::span<const CopyAt> damaged) {
  Mended out;
  std::set<CopyAt> unknown(damaged.begin(), damaged.end());
  std::set<ContentId> contents;
  for (const auto& [data, content] : damaged) contents.insert(content);
  SqliteTransaction one_state(file_.connection(), SqliteTransaction::Scope::Memory);
  TilePlaces places;
  for (const auto& [number, worker] : ShardLog(file_.connection()).workers()) places[number] = {.worker = worker};
  std::vector<std::pair<ShardedTile, WorkerNumber>> bad;
  for_each_reference(file_.connection(), [&](const ShardedTile& tile) {
    if (!contents.contains(tile.reference.content)) return;
    for (const auto worker : tile.reference.workers) {
      const auto place = places.find(worker);
      if (place != places.end() && unknown.erase({place->second.worker.data, tile.reference.content}) > 0)
        bad.emplace_back(tile, worker);
    }
  });
  out.unknown.assign(unknown.begin(), unknown.end());
  for (const auto& [tile, at] : bad) {
    auto others = tile.reference.workers;
    std::erase(others, at);
    std::erase_if(others, [&](WorkerNumber other) { return !places.contains(other); });
    const auto& worker = places.at(at).worker;
    const auto bytes = read(places, tile, others);
    if (!bytes || !this->contents().access().repair(worker, {tile.reference.content, tile.tensor->name, *bytes, {}}))
      out.unmendable[worker.data].push_back(name_of(tile));
  }
  one_state.commit();
  return out;
}

}  // namespace eindb
