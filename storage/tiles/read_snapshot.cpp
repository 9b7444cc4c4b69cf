#include "storage/tiles/read_snapshot.hpp"

#include <utility>

#include "common/check.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

/// The number of retries if another program commits while the snapshot is taken.
constexpr int kAttempts = 100;

/// Opens a read transaction and fixes its state, and that of what is attached. BEGIN alone reads nothing yet.
void pin(SqliteConnection& connection) {
  connection.execute_kept("BEGIN");
  connection.query_integer("PRAGMA main.schema_version");
  if (connection.has_attached()) connection.schema_version();
  CHECK(connection.in_transaction(), "a state of the database is held by a transaction");
}

bool can_read_in_parallel(DatabaseFile& database) {
  auto& connection = database.connection();
  if (!database.has_parallel_readers()) return false;
  return !connection.is_active() || (connection.has_written() && connection.sees_committed_state());
}

}  // namespace

/// Borrows a reader for one read; returns it even if the read throws.
class ReadSnapshot::Lease {
 public:
  explicit Lease(ReadSnapshot& snapshot) : snapshot_(snapshot), reader_(snapshot.take()) {}
  ~Lease() { snapshot_.put(std::move(reader_)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  SqliteConnection& connection() { return reader_ != nullptr ? *reader_ : snapshot_.database_.connection(); }

 private:
  ReadSnapshot& snapshot_;
  std::unique_ptr<SqliteConnection> reader_;
};

ReadSnapshot::ReadSnapshot(DatabaseFile& database, std::size_t max_readers)
    : database_(database), parallel_(can_read_in_parallel(database)), max_readers_(max_readers) {
  CHECK(max_readers > 0, "a snapshot has a reader");
  if (!parallel_ && !database_.connection().has_attached()) return;
  try {
    if (parallel_) open();
    else begin_transaction();
  } catch (...) {
    release();
    throw;
  }
}

ReadSnapshot::~ReadSnapshot() { release(); }

void ReadSnapshot::release() noexcept {
  while (!idle_.empty()) {
    close(std::move(idle_.back()));
    idle_.pop_back();
  }
  if (watcher_ != nullptr) database_.give_back(std::move(watcher_));
  try {
    end_transaction();
  } catch (const std::exception&) {  // nothing was written, so nothing is lost
    SqliteTransaction::roll_back(database_.connection());
  }
}

void ReadSnapshot::begin_transaction() {
  if (database_.connection().in_transaction()) return;
  CHECK(!holds_transaction_, "a snapshot opens one transaction");
  holds_transaction_ = true;
  pin(database_.connection());
}

void ReadSnapshot::end_transaction() {
  if (std::exchange(holds_transaction_, false) && database_.connection().in_transaction())
    database_.connection().execute_kept("COMMIT");
}

void ReadSnapshot::open() {
  watcher_ = database_.borrow_reader();
  // If nothing was committed since the watcher looked last, which was before this transaction, one look suffices.
  if (const auto noted = database_.noted_commits(*watcher_)) {
    begin_transaction();
    commits_ = commits_seen();
    if (commits_ == noted) return;
    end_transaction();
  }
  // Inside a write transaction nobody else can commit, so the first attempt succeeds.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    commits_ = commits_seen();
    begin_transaction();
    if (commits_seen() == commits_) return database_.note_commits(*watcher_, commits_);
    end_transaction();
  }
  throw Error(ErrorKind::Busy, database_.path() + ": other connections commit all the time", std::nullopt, "try again");
}

std::int64_t ReadSnapshot::commits_seen() {
  CHECK(watcher_ != nullptr && !watcher_->in_transaction(), "commits of others are seen outside transactions");
  return watcher_->query_integer("PRAGMA data_version");
}

std::unique_ptr<SqliteConnection> ReadSnapshot::join() {
  auto reader = database_.borrow_reader();
  pin(*reader);
  if (commits_seen() == commits_) return reader;
  close(std::move(reader));
  return nullptr;
}

std::unique_ptr<SqliteConnection> ReadSnapshot::take() {
  std::unique_lock lock(mutex_);
  CHECK(idle_.size() <= reader_count_ && reader_count_ <= max_readers_, "idle readers are readers of the snapshot");
  if (idle_.empty() && reader_count_ < max_readers_) {
    idle_.reserve(reader_count_ + 1);
    if (auto reader = join()) {
      ++reader_count_;
      return reader;
    }
    max_readers_ = reader_count_;
  }
  if (max_readers_ == 0) return nullptr;
  returned_.wait(lock, [&] { return !idle_.empty(); });
  auto reader = std::move(idle_.back());
  idle_.pop_back();
  return reader;
}

void ReadSnapshot::put(std::unique_ptr<SqliteConnection> reader) noexcept {
  if (reader == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(reader));  // take() has made room
  }
  returned_.notify_one();
}

void ReadSnapshot::close(std::unique_ptr<SqliteConnection> reader) noexcept {
  try {
    reader->execute_kept("COMMIT");
    database_.give_back(std::move(reader));
  } catch (const std::exception&) {  // closing it ends its transaction as well
  }
}

TilePtr ReadSnapshot::read(const TileStore& store, std::int64_t tile_id) {
  if (!parallel_ || !store.is_in_file()) return store.read(database_.connection(), tile_id);
  Lease lease(*this);
  return store.read(lease.connection(), tile_id);
}

TilePtr ReadSnapshot::load(const TileStore& store, std::int64_t tile_id, DType type) {
  if (!parallel_ || !store.is_in_file()) return store.load(database_.connection(), tile_id, type);
  Lease lease(*this);
  return store.load(lease.connection(), tile_id, type);
}

void ReadSnapshot::read_with(const TileStore& store, const std::function<void(SqliteConnection&)>& work) {
  if (!parallel_ || !store.is_in_file()) return work(database_.connection());
  Lease lease(*this);
  work(lease.connection());
}

std::size_t ReadSnapshot::reader_count() {
  const std::lock_guard lock(mutex_);
  return reader_count_;
}

}  // namespace eindb
