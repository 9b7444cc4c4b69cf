#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cluster/control_message.hpp"
#include "cluster/exchange_factory.hpp"
#include "cluster/memory_shares.hpp"
#include "cluster/node_log.hpp"
#include "executor/memory_budget.hpp"
#include "storage/shard_file.hpp"

namespace eindb {

struct WorkerOptions {
  std::string program;            ///< its version, for SHOW WORKERS
  std::uint32_t threads = 1;      ///< that a statement may use
  std::int64_t memory_limit = 0;  ///< of all statements together
  std::string scratch_directory;  ///< empty: the system's
};

/// What all sessions of a worker share. Thread-safe.
class WorkerNode {
 public:
  WorkerNode(WorkerOptions options, ShardFile& shards, ExchangeFactory& exchanges, NodeLog& log)
      : options(std::move(options)),
        shards(shards),
        exchanges(exchanges),
        log(log),
        memory(this->options.memory_limit) {}

  const WorkerOptions options;
  ShardFile& shards;
  ExchangeFactory& exchanges;
  NodeLog& log;
  MemoryShares memory;

  /// Counts a statement as long as it lives. Error{WorkerLost} if the worker takes none any more.
  class Statement {
   public:
    explicit Statement(WorkerNode& node);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    void count_memory_of(std::shared_ptr<const MemoryBudget> budget);
    void count_bytes_of(const ExchangeCounters& counters);

   private:
    WorkerNode& node_;
    std::shared_ptr<const MemoryBudget> budget_;  // guarded by the node's mutex
    friend class WorkerNode;
  };

  WorkerLoad load() const;
  /// Looks at the data directory again if anything was changed there: not in a thread that must not wait.
  void count_contents();
  void note_change() { contents_changed_ = true; }
  bool has_changed() const { return contents_changed_; }
  void drain() noexcept;
  bool is_draining() const { return draining_; }
  /// Waits until nothing runs after drain().
  void wait_until_drained();

 private:
  mutable std::mutex mutex_;  // guards statements_
  std::condition_variable drained_;
  std::vector<const Statement*> statements_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> contents_changed_{true};
  std::atomic<std::int64_t> contents_stored_{0};
  std::atomic<std::int64_t> bytes_stored_{0};
  std::atomic<std::int64_t> bytes_sent_{0};
  std::atomic<std::int64_t> bytes_received_{0};
};

}  // namespace eindb
