#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "cluster/worker_connection.hpp"
#include "storage/shards/shard_access.hpp"

namespace eindb {

/// Access to the contents at the workers of a cluster over their connections. Small contents are sent in batches; all
/// contents put to a worker are sent before any other request to it. Thread-safe.
class RemoteShards final : public ShardAccess {
 public:
  using Connections = std::vector<std::unique_ptr<WorkerConnection>>;

  /// The arguments must outlive it.
  RemoteShards(const Connections& connections, DamagedCopies& damaged, NodeLog& log)
      : connections_(connections), damaged_(damaged), log_(log) {}

  std::vector<ShardWorker> workers() override;
  std::vector<ShardWorker> full_workers() override;
  std::unique_ptr<ByteSource> fetch(const ShardWorker& worker, ContentId content) override;
  std::vector<std::unique_ptr<ByteSource>> fetch_all(std::span<const WantedContent> wanted) override;
  void put(const ShardWorker& worker, ShardTransaction transaction, const OutgoingContent& content) override;
  void prepare(ShardTransaction transaction, std::span<const ShardParticipant> participants) override;
  void advance(const ShardWorker& worker, const ShardEpoch& epoch) noexcept override;
  bool commit(const ShardWorker& worker, ShardTransaction transaction,
              std::span<const ContentRange> kept) noexcept override;
  void abort(const ShardWorker& worker, ShardTransaction transaction) noexcept override;
  bool drop(const ShardWorker& worker, std::span<const ContentRange> contents, std::int64_t as_of) noexcept override;
  void note_unsettled() noexcept override;
  void note_damage(const ShardWorker& worker, ContentId content, std::string_view what) noexcept override;
  bool repair(const ShardWorker& worker, const OutgoingContent& content) noexcept override;

  std::shared_ptr<LogFollower> log_follower() override { return follower_; }
  /// Call before it is used.
  void set_log_follower(std::shared_ptr<LogFollower> follower) { follower_ = std::move(follower); }

  /// Committed transactions that the worker has not acknowledged, even if its session continues. Some were never
  /// prepared there: an abandoned attempt of a statement may leave contents at a worker that the next attempt does not
  /// use.
  std::vector<ShardTransaction> missed_commits(DataId data) const;
  /// The connection to that data directory. Error{WorkerLost} if no worker with it has ever joined.
  WorkerConnection& connection_to(const ShardWorker& worker) const;

 private:
  struct Batch {
    std::vector<control::NewContent> contents;
    std::size_t bytes = 0;
  };
  using BatchKey = std::pair<DataId, ShardTransaction>;

  std::optional<WorkerConnection::Request> request_contents(std::span<const WantedContent> wanted,
                                                            const std::vector<std::size_t>& places);
  void flush(WorkerConnection& connection, DataId data);
  void note_missed(const ShardWorker& worker) const noexcept;
  void forget_batch(DataId data, ShardTransaction transaction);
  void note_end(DataId data, ShardTransaction transaction, bool is_told) noexcept;

  const Connections& connections_;
  DamagedCopies& damaged_;
  NodeLog& log_;
  std::shared_ptr<LogFollower> follower_;
  mutable std::mutex mutex_;  // guards the members below
  std::map<BatchKey, Batch> batches_;
  std::set<BatchKey> missed_commits_;
};

}  // namespace eindb
