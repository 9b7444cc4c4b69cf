#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "cluster/channel.hpp"
#include "cluster/coordinator_session.hpp"
#include "cluster/worker_node.hpp"

namespace eindb {

/// A worker: the tiles of its data directory, and whoever runs statements over them. Any number of coordinators may be
/// connected; their statements run beside each other and share threads and memory. Thread-safe.
///
///     serve()* --> drain() or a coordinator's Drain --> what runs ends --> wait_until_left() returns
class Worker {
 public:
  /// All references outlive the worker.
  Worker(WorkerOptions options, ShardFile& shards, ExchangeFactory& exchanges, NodeLog& log);
  /// Ends statements that still run, which fail.
  ~Worker() = default;

  /// Takes a coordinator's control channel, which was authenticated; returns at once.
  void serve(std::unique_ptr<Channel> channel);
  /// Takes no more statements: see wait_until_left().
  void drain() noexcept { node_.drain(); }
  /// Ends the channels to all coordinators, and with them all that runs.
  void end_statements() noexcept;
  /// Waits for somebody to drain the worker, and then until nothing runs here and all coordinators have let it go,
  /// which they do when the statements that it had a part in have ended everywhere.
  void wait_until_left();
  WorkerLoad load() const { return node_.load(); }
  std::int64_t memory_limit() const { return node_.memory.limit(); }

 private:
  WorkerNode node_;
  std::mutex mutex_;  // guards sessions_
  std::vector<std::shared_ptr<CoordinatorSession>> sessions_;
};

}  // namespace eindb
