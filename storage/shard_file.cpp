#include "storage/shard_file.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "common/check.hpp"
#include "storage/sqlite_blob.hpp"
#include "storage/sqlite_transaction.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCreateTables =
    "CREATE TABLE IF NOT EXISTS main.eindb_contents (content_id INTEGER PRIMARY KEY, txn INTEGER NOT NULL,"
    " tensor TEXT NOT NULL, tile BLOB NOT NULL);"
    "CREATE TABLE IF NOT EXISTS main.eindb_open_transactions (txn INTEGER PRIMARY KEY, prepared INTEGER NOT NULL,"
    " first INTEGER NOT NULL, last INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS main.eindb_shard (name TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;";

/// Makes the directory and locks it; the lock ends with the process at the latest.
FileDescriptor lock_directory(const std::string& directory) {
  std::error_code error;
  fs::create_directory(directory, error);
  if (!fs::is_directory(directory)) {
    throw Error(ErrorKind::Io, "cannot use " + directory + " for data: " + error.message(), std::nullopt,
                "give a directory, or a new one inside a directory that is there");
  }
  const auto path = directory + "/lock";
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) throw Error(ErrorKind::Io, "cannot open " + path + ": " + std::strerror(errno));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error(ErrorKind::Busy, directory + " belongs to another worker that runs", std::nullopt,
                "each worker has a data directory of its own");
  return file;
}

}  // namespace

/// A content in the file, and the reader that it was found with.
class ShardFile::OpenContent final : public ByteSource {
 public:
  OpenContent(DatabaseFile& file, ContentId content) : file_(file), reader_(file.borrow_reader()) {
    if (auto blob = SqliteBlob::open(*reader_, "eindb_contents", "tile", number(content), SqliteBlob::Access::Read))
      blob_.emplace(std::move(*blob));
  }
  ~OpenContent() override {
    blob_.reset();
    file_.give_back(std::move(reader_));
  }
  OpenContent(const OpenContent&) = delete;
  OpenContent& operator=(const OpenContent&) = delete;

  bool found() const { return blob_.has_value(); }
  std::size_t size() const override { return blob_->size(); }
  void read(std::size_t offset, std::span<std::byte> target) const override { blob_->read(offset, target); }

 private:
  DatabaseFile& file_;
  std::unique_ptr<SqliteConnection> reader_;
  std::optional<SqliteBlob> blob_;
};

ShardFile::ShardFile(const std::string& directory) : lock_(lock_directory(directory)), file_(directory + "/shard.db") {
  make_tables();
  abort_all_unprepared();
}

void ShardFile::make_tables() {
  change(Durability::Full, [](SqliteConnection& connection) {
    connection.execute(kCreateTables);
    connection.prepare("INSERT OR IGNORE INTO main.eindb_shard VALUES ('identity', ?)")
        .bind(1, random_identity())
        .run();
  });
  id_ = DataId{file_.connection().query_integer("SELECT value FROM main.eindb_shard WHERE name = 'identity'")};
}

void ShardFile::claim(std::int64_t database) {
  std::int64_t owner = 0;
  change(Durability::Full, [&](SqliteConnection& connection) {
    connection.prepare("INSERT OR IGNORE INTO main.eindb_shard VALUES ('database', ?)").bind(1, database).run();
    owner = connection.query_integer("SELECT value FROM main.eindb_shard WHERE name = 'database'");
  });
  if (owner == database) return;
  throw Error(ErrorKind::Value, "the worker's data belongs to another database", std::nullopt,
              "give the worker a new directory: --data DIR");
}

// A commit in WAL mode that does not wait for the disk is atomic, too; the next one that waits makes all before
// durable.
void ShardFile::change(Durability durability, const std::function<void(SqliteConnection&)>& action) {
  const std::lock_guard lock(mutex_);
  auto& connection = file_.connection();
  if (std::exchange(durability_, durability) != durability)
    connection.execute(durability == Durability::Full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  SqliteTransaction transaction(connection);
  action(connection);
  transaction.commit();
}

void ShardFile::put(ShardTransaction transaction, std::span<const OutgoingContent> contents) {
  change(Durability::Lazy, [&](SqliteConnection& connection) {
    auto open = connection.prepare(
        "INSERT INTO main.eindb_open_transactions VALUES (?1, 0, ?2, ?2)"
        " ON CONFLICT (txn) DO UPDATE SET prepared = 0, first = MIN(first, ?2), last = MAX(last, ?2)");
    auto insert = connection.prepare("INSERT OR IGNORE INTO main.eindb_contents VALUES (?, ?, ?, zeroblob(?))");
    for (const auto& content : contents) {
      const auto id = number(content.content);
      open.bind(1, number(transaction)).bind(2, id).run();
      insert.bind(1, id).bind(2, number(transaction)).bind(3, content.tensor);
      insert.bind(4, content.header.size() + content.values.size()).run();
      if (connection.changes() == 0)
        throw Error(ErrorKind::Corrupt, "content " + std::to_string(id) + " is at this worker already");
      auto blob = SqliteBlob::open(connection, "eindb_contents", "tile", id, SqliteBlob::Access::Write);
      CHECK(blob.has_value(), "a row just written can be opened");
      blob->write(0, content.header);
      blob->write(content.header.size(), content.values);
    }
  });
}

void ShardFile::prepare(ShardTransaction transaction, std::int64_t contents) {
  change(Durability::Full, [&](SqliteConnection& connection) {
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
  change(Durability::Full, [&](SqliteConnection& connection) { remove(connection, transaction, kept); });
}

void ShardFile::abort(ShardTransaction transaction) {
  change(Durability::Lazy, [&](SqliteConnection& connection) { remove(connection, transaction, {}); });
}

void ShardFile::remove(SqliteConnection& connection, ShardTransaction transaction, std::span<const ContentRange> kept) {
  auto open = connection.prepare("SELECT first, last FROM main.eindb_open_transactions WHERE txn = ?");
  open.bind(1, number(transaction));
  if (!open.step()) return;
  auto next = open.integer(0);
  const auto last = open.integer(1);
  auto remove = connection.prepare("DELETE FROM main.eindb_contents WHERE content_id BETWEEN ? AND ? AND txn = ?");
  for (const auto& range : kept) {
    remove.bind(1, next).bind(2, number(range.first) - 1).bind(3, number(transaction)).run();
    next = number(range.last) + 1;
  }
  remove.bind(1, next).bind(2, last).bind(3, number(transaction)).run();
  open.reset();
  connection.prepare("DELETE FROM main.eindb_open_transactions WHERE txn = ?").bind(1, number(transaction)).run();
}

void ShardFile::abort_unprepared(std::span<const ShardTransaction> transactions) {
  change(Durability::Lazy, [&](SqliteConnection& connection) {
    auto select = connection.prepare("SELECT 1 FROM main.eindb_open_transactions WHERE txn = ? AND NOT prepared");
    for (const auto transaction : transactions) {
      const bool is_unprepared = select.bind(1, number(transaction)).step();
      select.reset();
      if (is_unprepared) remove(connection, transaction, {});
    }
  });
}

void ShardFile::abort_all_unprepared() {
  change(Durability::Lazy, [&](SqliteConnection& connection) {
    std::vector<ShardTransaction> unprepared;
    auto select = connection.prepare("SELECT txn FROM main.eindb_open_transactions WHERE NOT prepared");
    while (select.step()) unprepared.push_back(ShardTransaction{select.integer(0)});
    for (const auto transaction : unprepared) remove(connection, transaction, {});
  });
}

std::vector<ShardTransaction> ShardFile::undecided() {
  const std::lock_guard lock(mutex_);
  std::vector<ShardTransaction> out;
  auto select = file_.connection().prepare("SELECT txn FROM main.eindb_open_transactions WHERE prepared");
  while (select.step()) out.push_back(ShardTransaction{select.integer(0)});
  return out;
}

void ShardFile::drop(std::span<const ContentId> contents) {
  change(Durability::Full, [&](SqliteConnection& connection) {
    auto remove = connection.prepare("DELETE FROM main.eindb_contents WHERE content_id = ?");
    for (const auto content : contents) remove.bind(1, number(content)).run();
  });
}

std::unique_ptr<ByteSource> ShardFile::open(ContentId content) {
  auto found = std::make_unique<OpenContent>(file_, content);
  if (!found->found()) return nullptr;
  return found;
}

TilePtr ShardFile::read(ContentId content, DType dtype, const Shape& shape, std::string_view tile) {
  const auto source = open(content);
  if (source == nullptr) return nullptr;
  return std::make_shared<const Tile>(decode_tile(*source, dtype, shape, tile));
}

ShardFile::Usage ShardFile::usage() {
  const std::lock_guard lock(mutex_);
  auto select = file_.connection().prepare("SELECT COUNT(*), COALESCE(SUM(LENGTH(tile)), 0) FROM main.eindb_contents");
  CHECK(select.step(), "an aggregate gives one row");
  return {.contents = select.integer(0), .bytes = select.integer(1)};
}

}  // namespace eindb
