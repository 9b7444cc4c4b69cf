#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/shards/shard_access.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/shards/tile_reference.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "tensor/dtype.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A content with its workers resolved.
struct LocatedContent {
  TileReference reference;
  std::vector<ShardWorker> workers;  ///< in the order of the reference
};

/// The contents of sharded tensors for one connection to the coordinator's file. It reads the contents that rows refer
/// to; its writes are part of the connection's transactions, by two-phase commit:
///
///     announce()       rows, and the log of the transaction, in the coordinator's file
///     send()           contents to the workers, under the transaction's number
///     before_commit()  all workers prepare, or the commit becomes a rollback
///     (SQLite commits: that is the decision, for rows and log are there from now on)
///     settle()         workers are told and acknowledge, the log forgets; garbage is dropped
///
/// A rollback aborts the transaction at the workers. Rolling back a savepoint also undoes its rows and log; workers
/// drop contents missing from the log when they are told of the commit. A crash before the decision leaves contents
/// unknown to the coordinator, which are aborted; a crash after it leaves the log, from which settle() continues.
///
/// Garbage is a content that rows no longer refer to. It is recorded in the transaction that removed the reference, and
/// is dropped once no connection of any process reads an earlier state.
///
/// Waiting for workers ends with Error{Cancelled} when the connection's statement is cancelled
/// (SqliteConnection::watch). A decided outcome stands; workers are told later.
///
/// Threads: locate() and announce() like the connection, under its mutex if tasks share it; fetch() and send() from any
/// thread; the rest on the connection's thread.
class ShardedContents final : public CommitHooks {
 public:
  /// From now on the connection's sharded tensors are read through `access`, and writes to them are part of its
  /// transactions. The connection owns the result until it is closed.
  static ShardedContents& begin(SqliteConnection& connection, std::shared_ptr<ShardAccess> access);
  /// Null if begin() was not called.
  static ShardedContents* of(const SqliteConnection& connection);

  ShardedContents(SqliteConnection& connection, std::shared_ptr<ShardAccess> access);

  ShardAccess& access() { return *access_; }

  LocatedContent locate(TileReference reference);
  /// A tile to fetch; `tensor` and `tile` are for messages, like decode_tile's context.
  struct Wanted {
    DType type = DType::Float64;  ///< of the values; see load_tile
    Shape shape;
    std::string tensor;
    std::string tile;
    TileForm form = TileForm::Stored;
  };
  /// The tile, in the form that is wanted, from the first worker that has it undamaged. Otherwise throws
  /// Error{WorkerLost} that names tile and workers, or Error{Corrupt} if all workers' copies are damaged. Damaged
  /// copies found on the way are rewritten.
  TilePtr fetch(const LocatedContent& content, const Wanted& wanted);
  /// The same for several, which are asked for in one round trip per worker, of all workers at the same time. Meant for
  /// tiles that are small together.
  struct WantedTile {
    LocatedContent content;
    Wanted wanted;
  };
  std::vector<TilePtr> fetch_all(const std::vector<WantedTile>& tiles);
  /// Reads all copies, and rewrites damaged ones if another copy is intact.
  void mend(const LocatedContent& content, const Wanted& wanted);

  /// The workers that new contents go to: those of ShardAccess::workers() that do not leave, according to the state
  /// that the connection sees.
  std::vector<ShardWorker> placing_workers();
  /// Contents that others have already, which were put and prepared as copies at further workers under this number,
  /// become part of the open transaction, which must have no contents of its own. Its commit keeps those of
  /// keep_copy() and drops the others; a rollback drops all. Each participant counts all contents that it was sent.
  void adopt(ShardTransaction transaction, std::span<const ShardParticipant> participants);
  /// The open transaction makes a row refer to the copies of the content at these participants. Ascending.
  void keep_copy(ContentId content, std::span<const ShardWorker> workers);

  /// ShardLog::set_leaving() in the open transaction. Leaving is a change of where tiles may be, as an epoch counts it.
  void set_leaving(const ShardWorker& worker, bool leaves);

  /// The transaction of contents that belongs to the connection's open transaction.
  ShardTransaction transaction();
  /// Numbers for `count` contents of that transaction, which may be stored at these workers. Error{WorkerLost} if one
  /// of them leaves.
  ContentId announce(std::int64_t count, std::span<const ShardWorker> workers);
  /// Sends one copy to each of the workers.
  void send(const OutgoingContent& content, std::span<const ShardWorker> workers);
  /// Guards what a statement announces and sends: if keep() was not called, the destructor undoes it at the workers.
  /// Rows and log are undone by a savepoint. Nothing else may be announced while it exists.
  class Attempt;
  /// Records that the workers have put an announced content themselves.
  void count_sent(std::span<const ShardWorker> workers);
  /// The row numbers of these workers.
  std::vector<WorkerNumber> numbers_of(std::span<const ShardWorker> workers);
  /// Marks the content as garbage once the connection's transaction is committed.
  void discard(const TileReference& reference);
  void discard_all(const std::string& table);

  /// Makes everything written so far in the open transaction durable at the workers, and readable by statements.
  /// Error{WorkerLost} if a worker lacks some of it. A worker lost afterwards does not prevent the commit.
  void prepare();

  void before_commit() override { prepare(); }
  void after_commit() noexcept override;
  void after_rollback() noexcept override;

  /// Whether settle() has work, as far as this connection knows.
  bool is_unsettled() const { return unsettled_; }
  /// To be called between transactions: tells workers of commits, by any connection, and drops garbage that nobody can
  /// read. Throws nothing: work that is impossible now (a worker is away, someone writes or reads an old state) stays
  /// for later.
  void settle();

 private:
  struct Running {
    ShardTransaction id{};
    std::map<DataId, ShardParticipant> participants;
    std::vector<ContentRange> contents;  // announced, ascending
    bool prepared = false;
  };

  /// Commits to tell workers of, according to the log and to this connection's own commits.
  std::vector<UnsettledCommit> commits_to_tell();
  bool tell_and_drop();
  /// A tile, and the bytes that a worker keeps it in.
  struct Copy {
    TilePtr tile;
    std::unique_ptr<ByteSource> bytes;
  };
  Copy fetch_from(const ShardWorker& worker, const TileReference& reference, const Wanted& wanted);
  template <class Ask>
  Copy checked(const ShardWorker& worker, const TileReference& reference, const Wanted& wanted, const Ask& ask);
  void repair(const std::vector<ShardWorker>& workers, const TileReference& reference, const Wanted& wanted,
              const ByteSource& good);
  bool is_of_running(ContentId content);
  void require_staying(std::span<const ShardWorker> workers);
  void advance();

  std::map<DataId, std::int64_t> contents_of_participants();
  /// Has workers drop the contents and restores the counts `before`. Dropped contents cannot come back.
  void undo(const std::map<DataId, std::int64_t>& before, ContentId first, std::int64_t count) noexcept;

  SqliteConnection& connection_;
  std::shared_ptr<ShardAccess> access_;
  ShardLog log_;
  std::mutex mutex_;  // guards the next two members
  std::optional<Running> running_;
  /// Committed since settle(); a rolled-back savepoint may have left participants without an entry in the log.
  std::vector<Running> committed_;
  bool unsettled_ = false;
  std::optional<std::int64_t> advanced_to_;  // the number of the open transaction's epoch, if it has one
};

class ShardedContents::Attempt {
 public:
  /// Announces like ShardedContents::announce.
  Attempt(ShardedContents& contents, std::int64_t count, std::span<const ShardWorker> workers);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  ContentId first() const { return first_; }
  void keep() { kept_ = true; }

 private:
  ShardedContents& contents_;
  const std::map<DataId, std::int64_t> before_;  // contents of each participant before the attempt
  const ContentId first_;
  const std::int64_t count_;
  bool kept_ = false;
};

}  // namespace eindb
