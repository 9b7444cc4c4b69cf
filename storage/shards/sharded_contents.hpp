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

/// Where a content lies, by name.
struct LocatedContent {
  TileReference reference;
  std::vector<ShardWorker> workers;  ///< in the order of the reference
};

/// The contents of sharded tensors for one connection to the coordinator's file: it reads what rows refer to, and what
/// it writes is part of the connection's transactions, by two-phase commit:
///
///     announce()       rows, and the log of the transaction, in the coordinator's file
///     send()           contents to the workers, under the transaction's number
///     before_commit()  all workers prepare, or the commit becomes a rollback
///     (SQLite commits: that is the decision, for rows and log are there from now on)
///     settle()         workers are told and acknowledge, the log forgets; garbage is dropped
///
/// A rollback aborts it at the workers. A savepoint that is rolled back takes rows and log with it; workers drop what
/// is not in the log when they are told of the commit. A crash before the decision leaves contents that the coordinator
/// knows nothing of, which means abort; one after it leaves the log, with which settle() goes on.
///
/// Garbage is what rows referred to; it was written down in the transaction that took the reference away, and is
/// dropped once no connection, of whatever process, reads a state before that.
///
/// What waits for workers ends with Error{Cancelled} when the connection's statement is to (SqliteConnection::watch);
/// an end that has been decided stays so, and what is left to be told is told later.
///
/// Threads: locate() and announce() as the connection, under its mutex if tasks share it; fetch() and send() from any;
/// the rest from the connection's thread.
class ShardedContents final : public CommitHooks {
 public:
  /// From now on the connection's sharded tensors are read by way of `access`, and what is written to them is part of
  /// its transactions. The contents are the connection's, as long as it is open.
  static ShardedContents& begin(SqliteConnection& connection, std::shared_ptr<ShardAccess> access);
  /// Null: begin() was not called.
  static ShardedContents* of(const SqliteConnection& connection);

  ShardedContents(SqliteConnection& connection, std::shared_ptr<ShardAccess> access);

  ShardAccess& access() { return *access_; }

  LocatedContent locate(TileReference reference);
  /// The tile of a tensor that is wanted, for messages as decode_tile's context.
  struct Wanted {
    DType dtype = DType::Float64;
    Shape shape;
    std::string tensor;
    std::string tile;
  };
  /// The tile, from the first worker that has it undamaged. Else Error{WorkerLost} names tile and workers, or
  /// Error{Corrupt} if all of them have damaged it. Copies found damaged on the way are written anew.
  TilePtr fetch(const LocatedContent& content, const Wanted& wanted);
  /// Reads all copies, and writes anew those that are damaged, as far as another is not.
  void mend(const LocatedContent& content, const Wanted& wanted);

  /// The transaction of contents that goes with the connection's open one.
  ShardTransaction transaction();
  /// Numbers for `count` contents of that transaction which may come to lie at these workers.
  ContentId announce(std::int64_t count, std::span<const ShardWorker> workers);
  /// One copy at each of the workers.
  void send(const OutgoingContent& content, std::span<const ShardWorker> workers);
  /// What a statement announces and has workers put, if it does not succeed: undone in the destructor unless keep()
  /// was called. Rows and log are a savepoint's to undo. While it lives nothing else is announced.
  class Attempt;
  /// The workers have put an announced content themselves.
  void count_sent(std::span<const ShardWorker> workers);
  /// The rows of these workers.
  std::vector<WorkerNumber> numbers_of(std::span<const ShardWorker> workers);
  /// Nothing refers to the content any more, once the connection's transaction is committed.
  void discard(const TileReference& reference);
  void discard_all(const std::string& table);

  /// Workers have what the open transaction has written so far, durably: statements find it there. Error{WorkerLost}
  /// if one has not. No worker that is lost afterwards keeps the transaction from being committed.
  void prepare();

  void before_commit() override { prepare(); }
  void after_commit() noexcept override;
  void after_rollback() noexcept override;

  /// Whether settle() has something to do, as far as this connection knows.
  bool is_unsettled() const { return unsettled_; }
  /// Between transactions: tells workers what was committed, by whomever, and drops garbage that nobody can read.
  /// Throws nothing: what cannot be done now (a worker is away, somebody writes or reads an old state) stays for later.
  void settle();

 private:
  struct Running {
    ShardTransaction id{};
    std::map<DataId, ShardParticipant> participants;
    std::vector<ContentRange> contents;  // announced, ascending
    bool prepared = false;
  };

  /// What workers are to be told of, by the log and by what this connection has committed.
  std::vector<UnsettledCommit> commits_to_tell();
  bool tell_and_drop();
  TilePtr fetch_from(const ShardWorker& worker, const TileReference& reference, const Wanted& wanted);
  void repair(const std::vector<ShardWorker>& workers, const TileReference& reference, const Wanted& wanted,
              const Tile& tile);
  bool is_of_running(ContentId content);

  std::map<DataId, std::int64_t> contents_of_participants();
  /// Workers drop the contents, and count as having so many as before. What they drop cannot come back.
  void undo(const std::map<DataId, std::int64_t>& before, ContentId first, std::int64_t count) noexcept;

  SqliteConnection& connection_;
  std::shared_ptr<ShardAccess> access_;
  ShardLog log_;
  std::mutex mutex_;  // guards the next two
  std::optional<Running> running_;
  /// Committed since settle(), with participants of which a savepoint's rollback may have left nothing in the log.
  std::vector<Running> committed_;
  bool unsettled_ = false;
};

class ShardedContents::Attempt {
 public:
  /// Announces, as ShardedContents::announce.
  Attempt(ShardedContents& contents, std::int64_t count, std::span<const ShardWorker> workers);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  ContentId first() const { return first_; }
  void keep() { kept_ = true; }

 private:
  ShardedContents& contents_;
  const std::map<DataId, std::int64_t> before_;  // contents that participants had
  const ContentId first_;
  const std::int64_t count_;
  bool kept_ = false;
};

}  // namespace eindb
