#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/control_message.hpp"
#include "cluster/scrubber.hpp"
#include "cluster/worker_node.hpp"

namespace eindb {

/// The databases that a worker's process serves. Each has a data directory of its own, with what is stored, counted and
/// verified there; memory and threads are those of the process. Thread-safe.
class WorkerDatabases {
 public:
  /// `first` is the directory of the process, which belongs to one database, or to none yet. Further databases get
  /// directories inside of `options.databases`; if that is empty, they are refused. The referenced objects must outlive
  /// it. Throws the errors of ShardFile for directories that are there.
  WorkerDatabases(WorkerOptions options, ShardFile& first, ExchangeFactory& exchanges, NodeLog& log);
  ~WorkerDatabases();
  WorkerDatabases(const WorkerDatabases&) = delete;
  WorkerDatabases& operator=(const WorkerDatabases&) = delete;

  WorkerNode& first() const { return first_->node; }
  /// The node for the coordinator's database, whose directory is made if it is not there. Error{Value} if there is none
  /// for it, or if another file has taken its place; errors of ShardFile.
  WorkerNode& node_for(const control::Hello& hello);

  void drain() noexcept;
  /// Waits after drain() until no statement runs.
  void wait_until_drained();
  /// Of all databases together.
  WorkerLoad load() const;
  /// Throws the errors of the directories if one of them cannot be read.
  void check() const;

 private:
  struct Database {
    Database(const WorkerOptions& options, ShardFile& shards, std::unique_ptr<ShardFile> owned,
             ExchangeFactory& exchanges, NodeLog& log, std::shared_ptr<MemoryShares> memory)
        : owned(std::move(owned)), node(options, shards, exchanges, log, std::move(memory)) {}

    const std::unique_ptr<ShardFile> owned;  // null for the process's directory
    WorkerNode node;
    Scrubber scrubber{node};
  };

  std::vector<Database*> all() const;
  void open(const std::string& directory);
  Database* find(std::int64_t database, std::span<const std::int64_t> former) const;

  const WorkerOptions options_;
  ExchangeFactory& exchanges_;
  NodeLog& log_;
  const std::unique_ptr<Database> first_;
  mutable std::mutex mutex_;                       // guards the members below
  std::vector<std::unique_ptr<Database>> others_;  // never removed
  bool is_draining_ = false;
};

}  // namespace eindb
