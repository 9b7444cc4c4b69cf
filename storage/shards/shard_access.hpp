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
#include "storage/sqlite/sqlite_handle.hpp"

namespace eindb {

/// A worker as a holder of contents.
struct ShardWorker {
  DataId data{};
  std::string address;  ///< where it was last reached; for messages

  friend bool operator==(const ShardWorker&, const ShardWorker&) = default;
};

/// A content to be sent to a worker: an encoded tile in two pieces.
struct OutgoingContent {
  ContentId content{};
  std::string_view tensor;  ///< the tile's tensor, for readers of a worker's file
  std::span<const std::byte> header;
  std::span<const std::byte> values;
  /// Of a copy of a content that other workers have: the number of an epoch in which this worker has none of it, nor
  /// garbage of it. A drop that was decided before does not concern the copy. 0: a new content.
  std::int64_t since = 0;
};

/// A content to be fetched from a worker.
struct WantedContent {
  ShardWorker worker;
  ContentId content{};
};

/// A worker with the number of contents that it was sent in a transaction.
struct ShardParticipant {
  ShardWorker worker;
  std::int64_t contents = 0;
};

/// The coordinator's access to the contents of sharded tensors, over a network or in process. One object serves all
/// sessions of one database for the life of the process. Used by storage/shards/sharded_contents.hpp.
///
/// A transaction is put() at some workers, then prepare()d at all of them, then committed in the coordinator's file,
/// which is the decision, then commit()ted at the workers; abort() is possible any time before the decision. A worker
/// with an unresolved transaction asks the coordinator's file (ShardLog::decision); a transaction unknown there is
/// aborted.
///
/// Thread-safe. If a worker is lost or its disk does not respond, functions throw Error{WorkerLost} with its name.
/// Waiting functions poll for cancellation (poll_cancellation) and then throw Error{Cancelled}, or return false if they
/// are noexcept; the request still takes effect if the worker responds again.
class ShardAccess {
 public:
  virtual ~ShardAccess() = default;

  /// The workers that accept new contents, ordered by rank.
  virtual std::vector<ShardWorker> workers() = 0;
  /// Workers that only lack disk space for new contents.
  virtual std::vector<ShardWorker> full_workers() { return {}; }

  /// The whole content; null if the worker does not have it. Contents put before are found, also those of open
  /// transactions. The bytes are not verified.
  virtual std::unique_ptr<ByteSource> fetch(const ShardWorker& worker, ContentId content) = 0;

  /// Several contents at once, in as many round trips as there are workers at the most, and these at the same time.
  /// Null also where the worker cannot be asked or fails: fetch() then tells why. Meant for contents that are small
  /// together. Throws Error{Cancelled} alone.
  virtual std::vector<std::unique_ptr<ByteSource>> fetch_all(std::span<const WantedContent> wanted) = 0;

  /// The caller may reuse the bytes when this returns. A failure may be reported by a later call, at the latest by
  /// prepare().
  virtual void put(const ShardWorker& worker, ShardTransaction transaction, const OutgoingContent& content) = 0;

  /// On return each worker has the stated number of contents of the transaction, and keeps them through a crash of the
  /// machine until it learns the decision. May be called again after further contents.
  virtual void prepare(ShardTransaction transaction, std::span<const ShardParticipant> participants) = 0;

  /// Announces that later requests belong to this epoch of the database, which is durable in its file. The worker then
  /// refuses any file that does not know the epoch. May fail silently if later requests fail too.
  virtual void advance(const ShardWorker& worker, const ShardEpoch& epoch) noexcept = 0;

  /// The transaction is committed with the contents of these ranges, ascending; the worker drops its other contents.
  /// True once the worker has made that durable. May be repeated.
  virtual bool commit(const ShardWorker& worker, ShardTransaction transaction,
                      std::span<const ContentRange> kept) noexcept = 0;
  /// May fail silently: abort is presumed where nothing is known.
  virtual void abort(const ShardWorker& worker, ShardTransaction transaction) noexcept = 0;

  /// Drops the contents of these ranges, to which nothing referred at that worker in epoch `as_of`. True if they are
  /// gone for good; absent ones count as gone. Copies that were put there after that epoch stay
  /// (OutgoingContent::since): of two processes that drop the same garbage, one may be late.
  virtual bool drop(const ShardWorker& worker, std::span<const ContentRange> contents, std::int64_t as_of) noexcept = 0;

  /// Work was left for later, because someone reads an old state or writes. The coordinator then settles soon, even if
  /// nobody uses the database.
  virtual void note_unsettled() noexcept = 0;

  /// The worker's copy differs from what was written: `what` explains it to users. May be reported repeatedly.
  virtual void note_damage(const ShardWorker& worker, ContentId content, std::string_view what) noexcept = 0;
  /// Gives the worker an intact copy in place of its damaged or lost one. The caller must read a state of the database
  /// that refers to the content meanwhile, so that nobody drops it. True if the worker has it durably.
  virtual bool repair(const ShardWorker& worker, const OutgoingContent& content) noexcept = 0;

  /// What follows the transactions of the database's file; null: nothing does.
  virtual std::shared_ptr<LogFollower> log_follower() { return nullptr; }

  /// The source of the numbers of this process's contents and transactions.
  ShardNumbers& numbers() { return numbers_; }

 private:
  ShardNumbers numbers_;
};

}  // namespace eindb
