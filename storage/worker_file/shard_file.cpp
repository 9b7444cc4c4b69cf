#include "storage/worker_file/shard_file.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "storage/sqlite/kept_statement.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/sqlite_blob.hpp"
#include "storage/worker_file/data_directory.hpp"

namespace eindb {
namespace {

/// The transaction number of repaired contents, whose own transaction has ended.
constexpr std::int64_t kNoTransaction = 0;

constexpr const char* kCreateShardTables =
    "CREATE TABLE IF NOT EXISTS main.eindb_contents (content_id INTEGER PRIMARY KEY, txn INTEGER NOT NULL,"
    " tensor TEXT NOT NULL, tile BLOB NOT NULL);"
    "CREATE TABLE IF NOT EXISTS main.eindb_moved (content_id INTEGER PRIMARY KEY, since INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS main.eindb_open_transactions (txn INTEGER PRIMARY KEY, prepared INTEGER NOT NULL,"
    " first INTEGER NOT NULL, last INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS main.eindb_superseded (database INTEGER PRIMARY KEY);"
    "CREATE TABLE IF NOT EXISTS main.eindb_shard (name TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;";

// Bytes of a content that count as progress of the disk.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
// SQLite instructions that count as progress.
constexpr int kProgressInstructions = 1000;

/// Reports progress to the operation while SQL runs on the connection, as long as this object exists.
class ProgressOfSql {
 public:
  ProgressOfSql(SqliteConnection& connection, StorageWatch::Operation& operation) : connection_(connection) {
    sqlite3_progress_handler(connection.handle(), kProgressInstructions, &note, &operation);
  }
  ~ProgressOfSql() { sqlite3_progress_handler(connection_.handle(), 0, nullptr, nullptr); }
  ProgressOfSql(const ProgressOfSql&) = delete;
  ProgressOfSql& operator=(const ProgressOfSql&) = delete;

 private:
  static int note(void* operation) noexcept {
    static_cast<StorageWatch::Operation*>(operation)->note_progress();
    return 0;
  }

  SqliteConnection& connection_;
};

void write(SqliteBlob& blob, std::size_t offset, std::span<const std::byte> bytes, StorageWatch::Operation& operation) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kPieceBytes));
    blob.write(offset, piece);
    operation.note_progress();
    offset += piece.size();
    bytes = bytes.subspan(piece.size());
  }
}
/// Size of the write-ahead log at which SQLite writes it back: a thousand pages.
constexpr std::int64_t kLogBytes = std::int64_t{64} << 20U;
constexpr std::int64_t kQuicklyRewritten = std::int64_t{64} << 20U;
/// Contents removed in one transaction, so that its part of the write-ahead log fits the reserve.
constexpr std::int64_t kDropBatch = 64;
/// The most pages that one step of give_back() moves: 16 MiB.
constexpr const char* kGiveBackStep = "PRAGMA incremental_vacuum(256)";
/// A file whose free pages exceed one part in this many is shrunk even if the disk has space.
constexpr std::int64_t kFreePart = 4;

/// Opening creates files beside the database.
std::unique_ptr<DatabaseFile> open_database(const std::string& path, DiskReserve& reserve) {
  const auto open = [&] {
    return std::make_unique<DatabaseFile>(path, DatabaseFile::Access::ReadWrite, DatabaseFile::FreePages::GivenBack);
  };
  try {
    return open();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Io || !reserve.is_held()) throw;
  }
  reserve.release();
  return open();
}

/// Contents up to this size, as they are stored, are read in one go.
constexpr std::int64_t kSmallBytes = 4096;

/// A reader connection that is given back.
class BorrowedReader {
 public:
  explicit BorrowedReader(DatabaseFile& file) : file_(file), connection_(file.borrow_reader()) {}
  ~BorrowedReader() { file_.give_back(std::move(connection_)); }
  BorrowedReader(const BorrowedReader&) = delete;
  BorrowedReader& operator=(const BorrowedReader&) = delete;
  SqliteConnection& connection() const { return *connection_; }

 private:
  DatabaseFile& file_;
  std::unique_ptr<SqliteConnection> connection_;
};

bool fit_one_batch(std::span<const ContentRange> ranges) {
  auto left = kDropBatch;
  return std::all_of(ranges.begin(), ranges.end(), [&](const ContentRange& range) {
    const auto distance = number(range.last) - number(range.first);
    if (distance < 0 || distance >= left) return false;
    left -= distance + 1;
    return true;
  });
}

std::size_t bytes_of(std::span<const OutgoingContent> contents) {
  std::size_t bytes = 0;
  for (const auto& content : contents) bytes += content.header.size() + content.values.size();
  return bytes;
}

}  // namespace

/// An open content, with the reader connection on which it was found.
class ShardFile::OpenContent final : public ByteSource {
 public:
  OpenContent(DatabaseFile& file, StorageWatch& watch, ContentId content) : file_(file), watch_(watch) {
    const Operation operation(watch_);
    reader_ = file.borrow_reader();
    if (auto blob =
            SqliteBlob::open(*reader_, "main", "eindb_contents", "tile", number(content), SqliteBlob::Access::Read))
      blob_.emplace(std::move(*blob));
  }
  ~OpenContent() override {
    blob_.reset();
    file_.give_back(std::move(reader_));
  }
  OpenContent(const OpenContent&) = delete;
  OpenContent& operator=(const OpenContent&) = delete;

  bool found() const { return blob_.has_value(); }
  std::size_t size() const override {
    CHECK(found(), "only a content that was found is read");
    return blob_->size();
  }
  void read(std::size_t offset, std::span<std::byte> target) const override {
    Operation operation(watch_);
    while (!target.empty()) {
      const auto piece = target.first(std::min(target.size(), kPieceBytes));
      blob_->read(offset, piece);
      operation.note_progress();
      offset += piece.size();
      target = target.subspan(piece.size());
    }
  }

 private:
  DatabaseFile& file_;
  StorageWatch& watch_;
  std::unique_ptr<SqliteConnection> reader_;
  std::optional<SqliteBlob> blob_;
};

ShardFile::ShardFile(const std::string& directory, std::int64_t most_bytes, std::string shared)
    : directory_(directory),
      most_bytes_(most_bytes),
      shared_(std::move(shared)),
      lock_(lock_data_directory(directory)),
      reserve_(directory + "/reserve", kReserve),
      file_(open_database(directory + "/shard.db", reserve_)) {
  make_tables();
  abort_all_unprepared();
  make_giving_back();
  reserve_.hold();
}

// Converts a file of an earlier version, if that does not take long.
void ShardFile::make_giving_back() {
  if (connection().query_integer("PRAGMA auto_vacuum") != 0) return;
  const auto bytes = connection().query_integer("PRAGMA page_count") * connection().query_integer("PRAGMA page_size");
  if (bytes > kQuicklyRewritten || free_bytes() < kLeastFree + 3 * bytes) return;
  connection().execute("PRAGMA auto_vacuum = INCREMENTAL; VACUUM");
}

void ShardFile::make_tables() {
  change(Durability::Full, [](SqliteConnection& connection, Operation&) {
    connection.execute(kCreateShardTables);
    connection.prepare("INSERT OR IGNORE INTO main.eindb_shard VALUES ('identity', ?)")
        .bind(1, random_identity())
        .run();
  });
  id_ = DataId{setting("identity")};
  database_ = setting("database");
}

// A database that takes another one's place has checked that all its references resolve, so the other's epochs are
// void.
void ShardFile::claim(std::int64_t database, std::span<const std::int64_t> former) {
  if (database_ == database) return;
  const bool is_free = database_ == 0 || std::find(former.begin(), former.end(), database_) != former.end();
  if (!is_free)
    throw Error(
        ErrorKind::Value, "the worker's data belongs to another database", std::nullopt,
        "give the worker a new directory, --data DIR; if a copy of this database's file has taken its place, use "
        "that one");
  change(Durability::Full, [&](SqliteConnection& connection, Operation&) {
    if (database_ != 0)
      connection.prepare("INSERT OR IGNORE INTO main.eindb_superseded VALUES (?)").bind(1, database_.load()).run();
    connection.prepare("DELETE FROM main.eindb_superseded WHERE database = ?").bind(1, database).run();
    connection.prepare("INSERT OR REPLACE INTO main.eindb_shard VALUES ('database', ?)").bind(1, database).run();
    connection.execute("DELETE FROM main.eindb_shard WHERE name IN ('epoch', 'stamp')");
  });
  database_ = database;
}

bool ShardFile::has_superseded(std::int64_t database) {
  const std::lock_guard lock(mutex_);
  const Operation operation(watch_);
  auto select = connection().prepare("SELECT 1 FROM main.eindb_superseded WHERE database = ?");
  return select.bind(1, database).step();
}

ShardEpoch ShardFile::epoch() {
  const std::lock_guard lock(mutex_);
  Operation operation(watch_);
  return {setting("epoch"), setting("stamp")};
}

void ShardFile::advance(const ShardEpoch& epoch) {
  if (epoch.number <= this->epoch().number) return;
  change(Durability::Lazy, [&](SqliteConnection& connection, Operation&) {
    connection.prepare("INSERT OR REPLACE INTO main.eindb_shard VALUES ('epoch', ?), ('stamp', ?)")
        .bind(1, epoch.number)
        .bind(2, epoch.stamp)
        .run();
  });
}

// Requires the mutex. 0: there is no such setting.
std::int64_t ShardFile::setting(std::string_view name) {
  auto select = connection().prepare("SELECT value FROM main.eindb_shard WHERE name = ?");
  return select.bind(1, name).step() ? select.integer(0) : 0;
}

void ShardFile::change(Durability durability, const Action& action) {
  const std::lock_guard lock(mutex_);
  try {
    return change_once(durability, action);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Io || !reserve_.is_held()) throw;
  }
  reserve_.release();  // room() acquires it again once there is space
  change_once(durability, action);
}

// A commit in WAL mode that does not wait for the disk is atomic too; the next one that waits makes all earlier ones
// durable.
void ShardFile::change_once(Durability durability, const Action& action) {
  Operation operation(watch_);
  auto& connection = this->connection();
  const ProgressOfSql progress(connection, operation);
  if (std::exchange(durability_, durability) != durability)
    connection.execute(durability == Durability::Full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  CHECK(!connection.in_transaction(), "each change is a transaction of its own");
  SqliteTransaction transaction(connection);
  changed_ = {};
  action(connection, operation);
  transaction.commit();
  if (!usage_) return;
  usage_->contents += changed_.contents;
  usage_->bytes += changed_.bytes;
}

// ---- Space ---------------------------------------------------------------------------------------------------------

// Bytes that the disk has free, or by which the files may still grow.
std::int64_t ShardFile::free_bytes() const {
  const auto of_disk = free_disk_bytes(directory_);
  if (most_bytes_ == 0) return of_disk;
  return std::min(of_disk, most_bytes_ - (shared_.empty() ? data_bytes(directory_) : shared_data_bytes(shared_)));
}

std::int64_t ShardFile::free_page_bytes() {
  return connection().query_integer("PRAGMA freelist_count") * connection().query_integer("PRAGMA page_size");
}

// Requires the mutex. Contents go through the write-ahead log to free pages or to the end of the file.
void ShardFile::require_room(std::span<const OutgoingContent> contents) {
  const auto bytes = static_cast<std::int64_t>(bytes_of(contents));
  const auto room = free_bytes() - kLeastFree - (reserve_.is_held() ? 0 : kReserve);
  if (room >= bytes && room + free_page_bytes() >= 2 * bytes) return;
  throw Error(ErrorKind::Io,
              "the disk of the worker's data directory is full: " + std::to_string(std::max<std::int64_t>(room, 0)) +
                  " bytes are left for tiles",
              std::nullopt, "drop tensors, make room on that disk, or add workers; SHOW WORKERS tells who has room");
}

std::int64_t ShardFile::room() {
  const std::lock_guard lock(mutex_);
  Operation operation(watch_);
  const ProgressOfSql progress(connection(), operation);
  const bool held = reserve_.hold();
  // The log first grows to its full size.
  const auto log = std::max<std::int64_t>(0, kLogBytes - file_bytes(directory_ + "/shard.db-wal"));
  const auto bytes = free_bytes() - kLeastFree - (held ? 0 : kReserve) - log;
  return bytes <= 0 ? 0 : bytes + free_page_bytes();
}

bool ShardFile::give_back() {
  const std::lock_guard lock(mutex_);
  Operation operation(watch_);
  const ProgressOfSql progress(connection(), operation);
  CHECK(!connection().in_transaction(), "a file is made smaller between changes");
  const auto free_pages = connection().query_integer("PRAGMA freelist_count");
  if (free_pages == 0 || connection().query_integer("PRAGMA auto_vacuum") == 0) return false;
  const bool is_short = free_bytes() < 4 * (kLeastFree + kReserve) + free_page_bytes();
  if (!is_short && free_pages * kFreePart < connection().query_integer("PRAGMA page_count")) return false;
  connection().execute(kGiveBackStep);
  const bool is_done = connection().query_integer("PRAGMA freelist_count") == 0;
  connection().execute(is_done ? "PRAGMA wal_checkpoint(TRUNCATE)" : "PRAGMA wal_checkpoint(PASSIVE)");
  return !is_done;
}

// ---- Contents ------------------------------------------------------------------------------------------------------

void ShardFile::put(ShardTransaction transaction, std::span<const OutgoingContent> contents) {
  const std::lock_guard lock(mutex_);
  require_room(contents);
  change_once(Durability::Lazy, [&](SqliteConnection& connection, Operation& operation) {
    auto open = connection.prepare(
        "INSERT INTO main.eindb_open_transactions VALUES (?1, 0, ?2, ?2)"
        " ON CONFLICT (txn) DO UPDATE SET prepared = 0, first = MIN(first, ?2), last = MAX(last, ?2)");
    for (const auto& content : contents) {
      open.bind(1, number(transaction)).bind(2, number(content.content)).run();
      insert(connection, number(transaction), content, operation);
      if (content.since > 0) {
        connection.kept("INSERT OR REPLACE INTO main.eindb_moved VALUES (?, ?)")
            .bind(1, number(content.content))
            .bind(2, content.since)
            .run();
      }
    }
  });
}

void ShardFile::insert(SqliteConnection& connection, std::int64_t transaction, const OutgoingContent& content,
                       Operation& operation) {
  CHECK(connection.in_transaction(), "a content is written by a change");
  const auto id = number(content.content);
  auto& insert = connection.kept("INSERT OR IGNORE INTO main.eindb_contents VALUES (?, ?, ?, zeroblob(?))");
  insert.bind(1, id).bind(2, transaction).bind(3, content.tensor);
  insert.bind(4, content.header.size() + content.values.size()).run();
  if (connection.changes() == 0)
    throw Error(ErrorKind::Corrupt, "content " + std::to_string(id) + " is at this worker already");
  auto blob = SqliteBlob::open(connection, "main", "eindb_contents", "tile", id, SqliteBlob::Access::Write);
  CHECK(blob.has_value(), "a row just written can be opened");
  CHECK(blob->size() == content.header.size() + content.values.size(), "a row just written has room for its content");
  ++changed_.contents;
  changed_.bytes += static_cast<std::int64_t>(blob->size());
  write(*blob, 0, content.header, operation);
  write(*blob, content.header.size(), content.values, operation);
}

void ShardFile::prepare(ShardTransaction transaction, std::int64_t contents) {
  change(Durability::Full, [&](SqliteConnection& connection, Operation&) {
    auto count = connection.prepare(
        "SELECT COUNT(*) FROM main.eindb_open_transactions AS open JOIN main.eindb_contents AS content"
        " ON content_id BETWEEN first AND last AND content.txn = open.txn WHERE open.txn = ?");
    count.bind(1, number(transaction));
    CHECK(count.step(), "an aggregate gives one row");
    if (count.integer(0) < contents) {
      throw Error(ErrorKind::WorkerLost,
                  "the worker has " + std::to_string(count.integer(0)) + " of the " + std::to_string(contents) +
                      " tiles that were written: it was started anew meanwhile",
                  std::nullopt, "run the statement again");
    }
    connection.prepare("UPDATE main.eindb_open_transactions SET prepared = 1 WHERE txn = ?")
        .bind(1, number(transaction))
        .run();
  });
}

void ShardFile::commit(ShardTransaction transaction, std::span<const ContentRange> kept) {
  change(Durability::Full, [&](SqliteConnection& connection, Operation&) { remove(connection, transaction, kept); });
}

void ShardFile::abort(ShardTransaction transaction) {
  change(Durability::Lazy, [&](SqliteConnection& connection, Operation&) { remove(connection, transaction, {}); });
}

void ShardFile::remove(SqliteConnection& connection, ShardTransaction transaction, std::span<const ContentRange> kept) {
  CHECK(connection.in_transaction(), "contents go together with the transaction that they came with");
  auto open = connection.prepare("SELECT first, last FROM main.eindb_open_transactions WHERE txn = ?");
  open.bind(1, number(transaction));
  if (!open.step()) return;
  auto next = open.integer(0);
  const auto last = open.integer(1);
  for (const auto& range : kept) {
    remove_of(connection, transaction, next, number(range.first) - 1);
    next = number(range.last) + 1;
  }
  remove_of(connection, transaction, next, last);
  open.reset();
  connection.prepare("DELETE FROM main.eindb_open_transactions WHERE txn = ?").bind(1, number(transaction)).run();
}

// Contents of others may lie among those of a transaction.
void ShardFile::remove_of(SqliteConnection& connection, ShardTransaction transaction, std::int64_t first,
                          std::int64_t last) {
  if (first > last) return;
  KeptStatement remove(
      connection,
      "DELETE FROM main.eindb_contents WHERE content_id BETWEEN ? AND ? AND txn = ? RETURNING LENGTH(tile)");
  remove->bind(1, first).bind(2, last).bind(3, number(transaction));
  count_removed(*remove);
  forget_moved(connection, first, last);
}

// Runs a statement that returns the bytes of each content that it removes.
void ShardFile::count_removed(SqliteStatement& remove) {
  while (remove.step()) {
    --changed_.contents;
    changed_.bytes -= remove.integer(0);
  }
}

// Rows whose content is gone.
void ShardFile::forget_moved(SqliteConnection& connection, std::int64_t first, std::int64_t last) {
  connection
      .kept(
          "DELETE FROM main.eindb_moved WHERE content_id BETWEEN ? AND ? AND NOT EXISTS"
          " (SELECT 1 FROM main.eindb_contents AS content WHERE content.content_id = eindb_moved.content_id)")
      .bind(1, first)
      .bind(2, last)
      .run();
}

void ShardFile::abort_unprepared(std::span<const ShardTransaction> transactions) {
  change(Durability::Lazy, [&](SqliteConnection& connection, Operation&) {
    auto select = connection.prepare("SELECT 1 FROM main.eindb_open_transactions WHERE txn = ? AND NOT prepared");
    for (const auto transaction : transactions) {
      const bool is_unprepared = select.bind(1, number(transaction)).step();
      select.reset();
      if (is_unprepared) remove(connection, transaction, {});
    }
  });
}

void ShardFile::abort_all_unprepared() {
  change(Durability::Lazy, [&](SqliteConnection& connection, Operation&) {
    std::vector<ShardTransaction> unprepared;
    auto select = connection.prepare("SELECT txn FROM main.eindb_open_transactions WHERE NOT prepared");
    while (select.step()) unprepared.push_back(ShardTransaction{select.integer(0)});
    for (const auto transaction : unprepared) remove(connection, transaction, {});
  });
}

std::vector<ShardTransaction> ShardFile::undecided() {
  const std::lock_guard lock(mutex_);
  const Operation operation(watch_);
  std::vector<ShardTransaction> out;
  auto select = connection().prepare("SELECT txn FROM main.eindb_open_transactions WHERE prepared");
  while (select.step()) out.push_back(ShardTransaction{select.integer(0)});
  return out;
}

void ShardFile::drop(std::span<const ContentRange> contents, std::int64_t as_of) {
  bool is_durable = false;
  while (!contents.empty()) {
    std::size_t done = 0;
    is_durable = fit_one_batch(contents);
    change(is_durable ? Durability::Full : Durability::Lazy, [&](SqliteConnection& connection, Operation&) {
      done = 0;
      for (auto left = kDropBatch; done < contents.size(); ++done) {
        left -= remove_some(connection, contents[done], left, as_of);
        if (left == 0) break;  // the range may have more
      }
    });
    contents = contents.subspan(done);
  }
  // Only the last change waits for the disk; it makes the earlier ones durable.
  if (!is_durable)
    change(Durability::Full, [](SqliteConnection& connection, Operation&) {
      connection.execute("UPDATE main.eindb_shard SET value = value WHERE name = 'identity'");
    });
}

// At most so many contents of the range, the first ones, without copies that came after the epoch. Returns their
// number.
std::int64_t ShardFile::remove_some(SqliteConnection& connection, const ContentRange& range, std::int64_t most,
                                    std::int64_t as_of) {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t last = 0;
  {
    KeptStatement select(connection,
                         "SELECT COUNT(*), COALESCE(SUM(bytes), 0), COALESCE(MAX(content_id), 0)"
                         " FROM (SELECT content_id, LENGTH(tile) AS bytes FROM main.eindb_contents"
                         " WHERE content_id BETWEEN ? AND ? AND content_id NOT IN"
                         " (SELECT content_id FROM main.eindb_moved WHERE since > ?)"
                         " ORDER BY content_id LIMIT ?)");
    select->bind(1, number(range.first)).bind(2, number(range.last)).bind(3, as_of).bind(4, most);
    CHECK(select->step(), "an aggregate gives one row");
    count = select->integer(0);
    bytes = select->integer(1);
    last = select->integer(2);
  }
  if (count == 0) return 0;
  auto& remove = connection.kept(
      "DELETE FROM main.eindb_contents WHERE content_id BETWEEN ? AND ? AND content_id NOT IN"
      " (SELECT content_id FROM main.eindb_moved WHERE since > ?)");
  remove.bind(1, number(range.first)).bind(2, last).bind(3, as_of).run();
  forget_moved(connection, number(range.first), last);
  changed_.contents -= count;
  changed_.bytes -= bytes;
  return count;
}

void ShardFile::repair(const OutgoingContent& content) {
  change(Durability::Full, [&](SqliteConnection& connection, Operation& operation) {
    const auto id = number(content.content);
    auto open = connection.prepare("SELECT 1 FROM main.eindb_open_transactions WHERE ? BETWEEN first AND last");
    if (open.bind(1, id).step())
      throw Error(ErrorKind::Conflict, "content " + std::to_string(id) + " belongs to a transaction that goes on");
    {
      KeptStatement remove(connection, "DELETE FROM main.eindb_contents WHERE content_id = ? RETURNING LENGTH(tile)");
      remove->bind(1, id);
      count_removed(*remove);
    }
    insert(connection, kNoTransaction, content, operation);
  });
}

std::unique_ptr<ByteSource> ShardFile::open(ContentId content) {
  auto found = std::make_unique<OpenContent>(*file_, watch_, content);
  if (!found->found()) return nullptr;
  return found;
}

std::optional<ShardFile::ContentSize> ShardFile::next_content(std::optional<ContentId> last) {
  const Operation operation(watch_);
  const BorrowedReader reader(*file_);
  KeptStatement select(reader.connection(),
                       "SELECT content_id, LENGTH(tile) FROM main.eindb_contents WHERE content_id > ?"
                       " ORDER BY content_id LIMIT 1");
  if (!select->bind(1, last ? number(*last) : INT64_MIN).step()) return std::nullopt;
  return ContentSize{ContentId{select->integer(0)}, select->integer(1)};
}

bool ShardFile::is_intact(ContentId content) {
  try {
    const auto source = open(content);
    return source == nullptr || eindb::is_intact(*source);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Io && error.kind() != ErrorKind::Corrupt) throw;
    return false;
  }
}

std::vector<ContentId> ShardFile::contents() {
  const std::lock_guard lock(mutex_);
  Operation operation(watch_);
  const ProgressOfSql progress(connection(), operation);
  std::vector<ContentId> out;
  auto select = connection().prepare("SELECT content_id FROM main.eindb_contents ORDER BY content_id");
  while (select.step()) out.push_back(ContentId{select.integer(0)});
  return out;
}

// To open a content takes SQLite longer than to read a small one. A large tile of few cells is small as it is stored.
TilePtr ShardFile::read(ContentId content, DType dtype, const Shape& shape, std::string_view tile, TileForm form) {
  const auto element_bytes = static_cast<std::int64_t>(size_of(dtype));
  if (form == TileForm::Cells || shape.element_count() <= kSmallBytes / element_bytes) {
    if (auto small = read_small(content, dtype, shape, tile, form)) return small;
  }
  const auto source = open(content);
  if (source == nullptr) return nullptr;
  return std::make_shared<const Tile>(load_tile(*source, dtype, shape, tile, form));
}

// Null if there is none, or it is not small as it is stored.
TilePtr ShardFile::read_small(ContentId content, DType dtype, const Shape& shape, std::string_view tile,
                              TileForm form) {
  const Operation operation(watch_);
  const BorrowedReader reader(*file_);
  KeptStatement select(reader.connection(),
                       "SELECT tile FROM main.eindb_contents WHERE content_id = ? AND LENGTH(tile) <= ?"
                       " AND typeof(tile) = 'blob'");
  if (!select->bind(1, number(content)).bind(2, kSmallBytes).step()) return nullptr;
  return std::make_shared<const Tile>(load_tile(MemorySource(select->blob(0)), dtype, shape, tile, form));
}

ShardFile::Usage ShardFile::usage() {
  const std::lock_guard lock(mutex_);
  if (usage_) return *usage_;
  Operation operation(watch_);
  const ProgressOfSql progress(connection(), operation);
  auto select = connection().prepare("SELECT COUNT(*), COALESCE(SUM(LENGTH(tile)), 0) FROM main.eindb_contents");
  CHECK(select.step(), "an aggregate gives one row");
  return usage_.emplace(Usage{.contents = select.integer(0), .bytes = select.integer(1)});
}

}  // namespace eindb
