#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/encoding/tile_codec.hpp"
#include "storage/shards/shard_numbers.hpp"

namespace eindb {

/// A worker as a place where contents lie.
struct ShardWorker {
  DataId data{};
  std::string address;  ///< for people: where it was reached last

  friend bool operator==(const ShardWorker&, const ShardWorker&) = default;
};

/// A content on its way to a worker: an encoded tile, in two pieces.
struct OutgoingContent {
  ContentId content{};
  std::string_view tensor;  ///< whose tile it is, for people who look at a worker's file
  std::span<const std::byte> header;
  std::span<const std::byte> values;
};

/// A worker that was sent contents in a transaction, and how many.
struct ShardParticipant {
  ShardWorker worker;
  std::int64_t contents = 0;
};

/// How a coordinator reaches the contents of sharded tensors: over a network, or in process. One object serves one
/// database for the life of the process, in all its sessions. storage/shards/sharded_contents.hpp uses it.
///
/// A transaction is put() at some workers, then prepare() at all of them, then the coordinator's own commit, which is
/// the decision, then commit(); or abort() at any time before. Whoever knows of a transaction without an end asks the
/// coordinator's file (ShardLog::decision): what it does not know as committed is aborted.
///
/// Threads: any function from any. A worker that is lost, or whose disk does not answer, is Error{WorkerLost} naming
/// it. All that waits looks for cancellation (poll_cancellation): then it is Error{Cancelled}, or false from what
/// throws nothing; what was asked for happens all the same if the worker answers again.
class ShardAccess {
 public:
  virtual ~ShardAccess() = default;

  /// The workers that take new contents, in the order of their ranks.
  virtual std::vector<ShardWorker> workers() = 0;
  /// Those that would if their disks had room.
  virtual std::vector<ShardWorker> full_workers() { return {}; }

  /// The content, all of it at hand; null if the worker does not have it. What was put before is there, in
  /// transactions without an end, too. The bytes are not verified.
  virtual std::unique_ptr<ByteSource> fetch(const ShardWorker& worker, ContentId content) = 0;

  /// The bytes are the caller's again when this returns; what became of them may show at a later call, at prepare() at
  /// the latest.
  virtual void put(const ShardWorker& worker, ShardTransaction transaction, const OutgoingContent& content) = 0;

  /// When it returns each of the workers has as many contents of the transaction as it says, and keeps them through a
  /// crash of the machine until it hears of the decision. May be called again after further contents.
  virtual void prepare(ShardTransaction transaction, std::span<const ShardParticipant> participants) = 0;

  /// What follows is of that epoch of the database, which its file has durably: the worker serves no file any more that
  /// does not know it. Need not arrive where what follows does not.
  virtual void advance(const ShardWorker& worker, const ShardEpoch& epoch) noexcept = 0;

  /// The transaction has been committed with the contents of these ranges, in ascending order; others that the worker
  /// has of it are to go. True if the worker has made that durable; it may hear of it more than once.
  virtual bool commit(const ShardWorker& worker, ShardTransaction transaction,
                      std::span<const ContentRange> kept) noexcept = 0;
  /// Need not arrive: presumed where nothing is known.
  virtual void abort(const ShardWorker& worker, ShardTransaction transaction) noexcept = 0;

  /// Nobody refers to these any more. True if they are gone for good; those that are not there count as gone.
  virtual bool drop(const ShardWorker& worker, std::span<const ContentId> contents) noexcept = 0;

  /// Something was left for later, as somebody reads an old state or writes: whoever watches over the workers has it
  /// settled soon, though nobody uses the database.
  virtual void note_unsettled() noexcept = 0;

  /// The worker's copy is not what was written: `what` says how, for people. It may be known already.
  virtual void note_damage(const ShardWorker& worker, ContentId content, std::string_view what) noexcept = 0;
  /// Gives the worker a copy in place of the one that it has damaged, or has lost. While this runs the caller reads a
  /// state of the database that refers to the content, so that nobody drops it. True if the worker has it durably.
  virtual bool repair(const ShardWorker& worker, const OutgoingContent& content) noexcept = 0;

  /// Where contents and transactions of this process get their numbers.
  ShardNumbers& numbers() { return numbers_; }

 private:
  ShardNumbers numbers_;
};

}  // namespace eindb
