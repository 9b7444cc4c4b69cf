#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "cluster/channel.hpp"
#include "cluster/coordinator_session.hpp"
#include "cluster/worker_databases.hpp"

namespace eindb {

/// A worker: the tiles in its data directories, one for each database, and the execution of statements on them. Any
/// number of coordinators may be connected; their statements run concurrently and share threads and memory.
/// Thread-safe.
///
///     serve()* --> drain() or a coordinator's Drain --> what runs ends --> wait_until_left() returns
class Worker {
 public:
  /// The referenced objects must outlive the worker.
  Worker(WorkerOptions options, ShardFile& shards, ExchangeFactory& exchanges, NodeLog& log);
  /// Ends running statements with an error.
  ~Worker() = default;

  /// Takes a coordinator's authenticated control channel; returns at once.
  void serve(std::unique_ptr<Channel> channel);
  /// Takes no more statements: see wait_until_left().
  void drain() noexcept { databases_.drain(); }
  /// Ends the channels to all coordinators, and so all statements.
  void end_statements() noexcept;
  /// Waits until the worker is drained, its statements have ended, and all coordinators have closed their channels. A
  /// coordinator closes its channel once the worker's statements have ended at all ranks.
  void wait_until_left();
  WorkerLoad load() const { return databases_.load(); }
  /// Throws if the data directory of a database cannot be read.
  void check() const { databases_.check(); }
  std::int64_t memory_limit() const { return databases_.first().memory().limit(); }

 private:
  WorkerDatabases databases_;
  std::mutex mutex_;  // guards sessions_
  std::vector<std::shared_ptr<CoordinatorSession>> sessions_;
};

}  // namespace eindb
