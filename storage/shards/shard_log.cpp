#include "storage/shards/shard_log.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "storage/sqlite/kept_statement.hpp"
#include "storage/sqlite/schema_version.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

constexpr const char* kCreateLogTables =
    "CREATE TABLE IF NOT EXISTS main.eindb_workers (worker_id INTEGER PRIMARY KEY, data_id INTEGER NOT NULL UNIQUE,"
    " address TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS main.eindb_shard_transactions (txn INTEGER NOT NULL, first INTEGER NOT NULL,"
    " last INTEGER NOT NULL, PRIMARY KEY (txn, first)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS main.eindb_shard_participants (txn INTEGER NOT NULL, worker_id INTEGER NOT NULL,"
    " PRIMARY KEY (txn, worker_id)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS main.eindb_shard_garbage (worker_id INTEGER NOT NULL, content_id INTEGER NOT NULL,"
    " PRIMARY KEY (worker_id, content_id)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS main.eindb_shard_settings (name TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS main.eindb_shard_lineage (first INTEGER PRIMARY KEY, stamp INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS main.eindb_shard_former (identity INTEGER PRIMARY KEY);"
    "CREATE TABLE IF NOT EXISTS main.eindb_shard_leaving (worker_id INTEGER PRIMARY KEY, mark INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS main.eindb_settings (name TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;";

/// The last block of ShardNumbers whose numbers, and the first of the block after it, fit 63 bits.
constexpr std::int64_t kLastBlock = (std::int64_t{1} << 31U) - 2;

std::int64_t number(WorkerNumber worker) { return static_cast<std::int64_t>(worker); }

/// Reads a positive number of at most `most`.
std::int64_t setting(SqliteConnection& connection, std::string_view name, std::int64_t most) {
  auto select = connection.prepare("SELECT value FROM main.eindb_shard_settings WHERE name = ?");
  select.bind(1, name);
  if (select.step() && select.integer(0) > 0 && select.integer(0) <= most) return select.integer(0);
  throw Error(ErrorKind::Corrupt, connection.name() + ": eindb_shard_settings has no proper " + std::string(name),
              std::nullopt, "restore the database from a copy");
}

WorkerNumber worker_number(std::int64_t id) {
  if (id < 0 || id > UINT32_MAX) throw Error(ErrorKind::Corrupt, "eindb_workers has an improper number");
  return WorkerNumber{static_cast<std::uint32_t>(id)};
}

}  // namespace

bool ShardLog::exists() { return connection_.has_table("eindb_shard_lineage", {"first", "stamp"}); }

void ShardLog::create() {
  if (exists() && has_leaving()) return;
  SqliteTransaction transaction(connection_);
  connection_.execute(kCreateLogTables);
  connection_
      .prepare(
          "INSERT OR IGNORE INTO main.eindb_shard_settings VALUES ('identity', ?), ('blocks', 0),"
          " ('epoch', 0)")
      .bind(1, random_identity())
      .run();
  connection_.prepare("INSERT OR REPLACE INTO main.eindb_settings VALUES ('schema_version', ?)")
      .bind(1, kShardedSchemaVersion)
      .run();
  transaction.commit();
}

// Files of earlier versions have no such table until create().
bool ShardLog::has_leaving() { return connection_.has_table("eindb_shard_leaving", {"worker_id", "mark"}); }

std::int64_t ShardLog::database_identity() { return setting(connection_, "identity", INT64_MAX); }

std::vector<std::int64_t> ShardLog::former_identities() {
  std::vector<std::int64_t> out;
  auto select = connection_.prepare("SELECT identity FROM main.eindb_shard_former ORDER BY identity");
  while (select.step()) out.push_back(select.integer(0));
  return out;
}

std::string ShardLog::file_identity() {
  auto select = connection_.prepare("SELECT value FROM main.eindb_shard_settings WHERE name = 'file'");
  return select.step() ? select.text(0) : std::string();
}

void ShardLog::write_file_identity(const std::string& file) {
  connection_.prepare("INSERT OR REPLACE INTO main.eindb_shard_settings VALUES ('file', ?)").bind(1, file).run();
}

void ShardLog::renew_identity(Former former) {
  CHECK(connection_.in_transaction(), "a database gets its new identity as part of a transaction");
  connection_.execute(former == Former::Kept ? "INSERT OR IGNORE INTO main.eindb_shard_former"
                                               " SELECT value FROM main.eindb_shard_settings WHERE name = 'identity'"
                                             : "DELETE FROM main.eindb_shard_former");
  connection_.prepare("UPDATE main.eindb_shard_settings SET value = ? WHERE name = 'identity'")
      .bind(1, random_identity())
      .run();
}

bool ShardLog::has_workers() { return connection_.query_integer("SELECT COUNT(*) FROM main.eindb_workers") > 0; }

void ShardLog::advance(std::int64_t stamp) {
  CHECK(connection_.in_transaction(), "an epoch begins with the transaction that it counts");
  KeptStatement count(connection_, "UPDATE main.eindb_shard_settings SET value = value + 1 WHERE name = 'epoch'");
  count->step();
  KeptStatement begin(connection_,
                      "INSERT INTO main.eindb_shard_lineage SELECT value, ?1 FROM main.eindb_shard_settings"
                      " WHERE name = 'epoch' AND ?1 IS NOT"
                      " (SELECT stamp FROM main.eindb_shard_lineage ORDER BY first DESC LIMIT 1)");
  begin->bind(1, stamp).step();
}

ShardEpoch ShardLog::epoch() {
  auto select = connection_.prepare(
      "SELECT value, (SELECT stamp FROM main.eindb_shard_lineage ORDER BY first DESC LIMIT 1)"
      " FROM main.eindb_shard_settings WHERE name = 'epoch'");
  if (!select.step() || select.integer(0) == 0) return {};
  return {select.integer(0), select.integer(1)};
}

std::int64_t ShardLog::epoch_number() {
  KeptStatement select(connection_, "SELECT value FROM main.eindb_shard_settings WHERE name = 'epoch'");
  return select->step() ? select->integer(0) : 0;
}

bool ShardLog::knows(const ShardEpoch& epoch) {
  if (epoch.number == 0) return true;
  auto select = connection_.prepare(
      "SELECT stamp FROM main.eindb_shard_lineage WHERE first <= ?1 AND ?1 <="
      " (SELECT value FROM main.eindb_shard_settings WHERE name = 'epoch') ORDER BY first DESC LIMIT 1");
  return select.bind(1, epoch.number).step() && select.integer(0) == epoch.stamp;
}

void ShardLog::go_on_behind(std::int64_t epoch, std::int64_t block, std::int64_t stamp) {
  auto raise = connection_.prepare("UPDATE main.eindb_shard_settings SET value = MAX(value, ?2) WHERE name = ?1");
  raise.bind(1, "epoch").bind(2, epoch).run();
  raise.bind(1, "blocks").bind(2, block).run();
  advance(stamp);
}

std::int64_t ShardLog::take_block() {
  CHECK(!connection_.in_transaction(), "numbers are reserved outside transactions, which may be rolled back");
  SqliteTransaction transaction(connection_);
  connection_.execute("UPDATE main.eindb_shard_settings SET value = value + 1 WHERE name = 'blocks'");
  const auto block = setting(connection_, "blocks", kLastBlock);
  transaction.commit();
  return block;
}

WorkerNumber ShardLog::number_of(const ShardWorker& worker) {
  KeptStatement select(connection_, "SELECT worker_id, address FROM main.eindb_workers WHERE data_id = ?");
  select->bind(1, number(worker.data));
  if (select->step() && select->text(1) == worker.address) return worker_number(select->integer(0));
  CHECK(connection_.in_transaction(), "a worker is written down as part of a transaction");
  connection_
      .prepare(
          "INSERT INTO main.eindb_workers (data_id, address) VALUES (?, ?)"
          " ON CONFLICT (data_id) DO UPDATE SET address = excluded.address")
      .bind(1, number(worker.data))
      .bind(2, worker.address)
      .run();
  select->reset();
  CHECK(select->step(), "a row just written is there");
  return worker_number(select->integer(0));
}

ShardWorker ShardLog::worker(WorkerNumber worker) {
  KeptStatement select(connection_, "SELECT data_id, address FROM main.eindb_workers WHERE worker_id = ?");
  select->bind(1, number(worker));
  if (select->step()) return {DataId{select->integer(0)}, select->text(1)};
  throw Error(ErrorKind::Corrupt, connection_.name() + ": there is no worker number " + std::to_string(number(worker)),
              std::nullopt, "restore the database from a copy");
}

std::map<WorkerNumber, ShardWorker> ShardLog::workers() {
  std::map<WorkerNumber, ShardWorker> out;
  auto select = connection_.prepare("SELECT worker_id, data_id, address FROM main.eindb_workers");
  while (select.step()) out[worker_number(select.integer(0))] = {DataId{select.integer(1)}, select.text(2)};
  return out;
}

// A mark is the number of the epoch that follows the transaction's.
void ShardLog::set_leaving(const ShardWorker& worker, bool leaves) {
  const auto row = static_cast<std::int64_t>(number_of(worker));
  if (!leaves) {
    connection_.prepare("DELETE FROM main.eindb_shard_leaving WHERE worker_id = ?").bind(1, row).run();
    return;
  }
  connection_.prepare("INSERT OR IGNORE INTO main.eindb_shard_leaving VALUES (?, ?)")
      .bind(1, row)
      .bind(2, epoch_number() + 1)
      .run();
}

std::map<DataId, std::int64_t> ShardLog::leaving() {
  std::map<DataId, std::int64_t> out;
  if (!has_leaving()) return out;
  KeptStatement select(connection_,
                       "SELECT data_id, mark FROM main.eindb_shard_leaving JOIN main.eindb_workers USING (worker_id)");
  while (select->step()) out.emplace(DataId{select->integer(0)}, select->integer(1));
  return out;
}

void ShardLog::keep(ShardTransaction transaction, ContentRange contents, std::span<const WorkerNumber> workers) {
  CHECK(connection_.in_transaction(), "contents are kept by a transaction");
  CHECK(contents.first <= contents.last && !workers.empty(), "contents that are kept are some, and lie somewhere");
  KeptStatement extend(connection_,
                       "UPDATE main.eindb_shard_transactions SET last = ?3 WHERE txn = ?1 AND last = ?2 - 1");
  extend->bind(1, number(transaction)).bind(2, number(contents.first)).bind(3, number(contents.last)).step();
  if (connection_.changes() == 0) {
    KeptStatement begin(connection_, "INSERT INTO main.eindb_shard_transactions VALUES (?, ?, ?)");
    begin->bind(1, number(transaction)).bind(2, number(contents.first)).bind(3, number(contents.last)).step();
  }
  KeptStatement participate(connection_, "INSERT OR IGNORE INTO main.eindb_shard_participants VALUES (?, ?)");
  for (const auto worker : workers) {
    participate->bind(1, number(transaction)).bind(2, number(worker)).step();
    participate->reset();
  }
}

ShardDecision ShardLog::decision(ShardTransaction transaction) {
  CHECK(!connection_.in_transaction(), "what was decided is asked on a connection that decides nothing itself");
  // The record stays until the worker has acknowledged it, so reading it disturbs no user's transaction.
  if (auto known = kept(transaction); !known.empty()) return {.committed = true, .kept = std::move(known)};
  // A change to sharded tensors holds the file's only write lock from its first content to its commit.
  const SqliteTransaction nobody_else(connection_);
  ShardDecision decision{.committed = false, .kept = kept(transaction), .epoch = epoch()};
  decision.committed = !decision.kept.empty();
  return decision;
}

std::vector<ContentRange> ShardLog::kept(ShardTransaction transaction) {
  std::vector<ContentRange> out;
  auto select =
      connection_.prepare("SELECT first, last FROM main.eindb_shard_transactions WHERE txn = ? ORDER BY first");
  select.bind(1, number(transaction));
  while (select.step()) out.push_back({ContentId{select.integer(0)}, ContentId{select.integer(1)}});
  return out;
}

std::vector<UnsettledCommit> ShardLog::unsettled() {
  std::vector<UnsettledCommit> out;
  auto select = connection_.prepare(
      "SELECT txn, data_id, address FROM main.eindb_shard_participants JOIN main.eindb_workers USING (worker_id)");
  while (select.step())
    out.push_back({ShardTransaction{select.integer(0)}, {DataId{select.integer(1)}, select.text(2)}});
  return out;
}

void ShardLog::acknowledge(ShardTransaction transaction, const ShardWorker& worker) {
  CHECK(connection_.in_transaction(), "a worker's word and the end of its transaction are written together");
  connection_
      .prepare(
          "DELETE FROM main.eindb_shard_participants WHERE txn = ? AND worker_id ="
          " (SELECT worker_id FROM main.eindb_workers WHERE data_id = ?)")
      .bind(1, number(transaction))
      .bind(2, number(worker.data))
      .run();
  connection_
      .prepare(
          "DELETE FROM main.eindb_shard_transactions WHERE txn = ?1 AND NOT EXISTS"
          " (SELECT 1 FROM main.eindb_shard_participants WHERE txn = ?1)")
      .bind(1, number(transaction))
      .run();
}

void ShardLog::discard(const TileReference& reference) {
  for (const auto worker : reference.workers) discard(worker, reference.content);
}

void ShardLog::discard(WorkerNumber worker, ContentId content) {
  CHECK(connection_.in_transaction(), "garbage is written down where its last reference goes");
  KeptStatement insert(connection_, "INSERT OR IGNORE INTO main.eindb_shard_garbage VALUES (?, ?)");
  insert->bind(1, number(worker)).bind(2, number(content)).step();
}

bool ShardLog::is_garbage(WorkerNumber worker, ContentId content) {
  KeptStatement select(connection_, "SELECT 1 FROM main.eindb_shard_garbage WHERE worker_id = ? AND content_id = ?");
  return select->bind(1, number(worker)).bind(2, number(content)).step();
}

void ShardLog::discard_all(const std::string& table) {
  auto select = connection_.prepare("SELECT tile FROM main." + quote_identifier(table));
  while (select.step()) discard(decode_reference(select.blob(0), "a tile of " + table));
}

std::vector<ShardGarbage> ShardLog::garbage() {
  std::vector<ShardGarbage> out;
  auto select = connection_.prepare(
      "SELECT data_id, address, content_id, (SELECT value FROM main.eindb_shard_settings WHERE name = 'epoch')"
      " FROM main.eindb_shard_garbage JOIN main.eindb_workers USING (worker_id) ORDER BY worker_id, content_id");
  while (select.step()) {
    const DataId data{select.integer(0)};
    if (out.empty() || out.back().worker.data != data) out.push_back({{data, select.text(1)}, {}, select.integer(3)});
    const ContentId content{select.integer(2)};
    auto& ranges = out.back().contents;
    if (!ranges.empty() && number(ranges.back().last) + 1 == number(content)) ranges.back().last = content;
    else ranges.push_back({content, content});
  }
  return out;
}

std::vector<DataId> ShardLog::unsettled_workers() {
  std::vector<DataId> out;
  KeptStatement select(connection_,
                       "SELECT data_id FROM main.eindb_workers AS worker WHERE EXISTS"
                       " (SELECT 1 FROM main.eindb_shard_garbage AS garbage WHERE garbage.worker_id = worker.worker_id)"
                       " OR worker_id IN (SELECT worker_id FROM main.eindb_shard_participants)");
  while (select->step()) out.push_back(DataId{select->integer(0)});
  return out;
}

void ShardLog::forget(const ShardGarbage& dropped) {
  auto remove = connection_.prepare(
      "DELETE FROM main.eindb_shard_garbage WHERE content_id BETWEEN ? AND ? AND worker_id ="
      " (SELECT worker_id FROM main.eindb_workers WHERE data_id = ?)");
  for (const auto& range : dropped.contents)
    remove.bind(1, number(range.first)).bind(2, number(range.last)).bind(3, number(dropped.worker.data)).run();
}

}  // namespace eindb
