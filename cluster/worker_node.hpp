#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "cluster/control_message.hpp"
#include "cluster/exchange_factory.hpp"
#include "cluster/memory_shares.hpp"
#include "cluster/message_memory.hpp"
#include "cluster/node_log.hpp"
#include "executor/memory_budget.hpp"
#include "storage/worker_file/shard_file.hpp"

namespace eindb {

struct WorkerOptions {
  std::string program;                                ///< its version, for SHOW WORKERS
  std::uint32_t threads = 1;                          ///< that a statement may use
  std::int64_t memory_limit = 0;                      ///< of all statements together, and messages
  std::shared_ptr<MessageMemory> messages = nullptr;  ///< the part of it that messages may have, if any
  /// Names the memory that memory_limit is of, where that is all that is to be had: workers that name the same one
  /// share it. Empty: nobody else is to have that memory.
  std::string memory_pool = {};
  std::string scratch_directory;  ///< empty: the system's
  /// A disk that does not get on with what it is asked for so long hangs: the worker is unwell.
  std::chrono::milliseconds disk_timeout{3000};
};

/// The state that all sessions of a worker share. Thread-safe.
class WorkerNode {
 public:
  WorkerNode(WorkerOptions options, ShardFile& shards, ExchangeFactory& exchanges, NodeLog& log)
      : options(std::move(options)),
        shards(shards),
        exchanges(exchanges),
        log(log),
        memory(this->options.memory_limit - (this->options.messages ? this->options.messages->whole() : 0)) {}

  const WorkerOptions options;
  ShardFile& shards;
  ExchangeFactory& exchanges;
  NodeLog& log;
  MemoryShares memory;

  /// The memory is one of `processes` parts of its pool.
  void share_memory_among(std::uint32_t processes) {
    memory.share_among(processes);
    if (options.messages) options.messages->share_among(processes);
  }

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
  /// For how long the disk has hung; 0: it answers.
  std::chrono::milliseconds disk_silence() const;
  /// Removes the contents of a transaction, or leaves them if it was prepared meanwhile. Where the disk refuses, the
  /// next count_contents() tries again.
  enum class Abort : std::uint8_t { Always, UnlessPrepared };
  void abort(ShardTransaction transaction, Abort how) noexcept;
  /// Looks at the data directory and its disk again: not in a thread that must not wait.
  void count_contents();
  void note_change() { contents_changed_ = true; }
  /// Whether count_contents() has something to do that was not asked for before. Others fill the disk, too, and make
  /// room.
  bool wants_count() {
    const bool has_changed = contents_changed_ || Clock::now() - looked_.load() > kLookAgain;
    return has_changed && !count_wanted_.exchange(true);
  }
  /// At the disk alone, which takes no time.
  void look_at_room();
  /// A coordinator has gone, and may have left transactions prepared: the others are told, until one asks for those.
  void note_coordinator_left() { coordinator_left_ = true; }
  void note_undecided_asked() { coordinator_left_ = false; }
  void drain() noexcept;
  bool is_draining() const { return draining_; }
  /// Waits until nothing runs after drain().
  void wait_until_drained();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLookAgain{5};

  std::atomic<Clock::time_point> looked_{Clock::time_point()};
  struct RefusedAbort {
    ShardTransaction transaction;
    Abort how;
  };
  void abort_now(const RefusedAbort& abort);
  void abort_what_was_refused() noexcept;

  mutable std::mutex mutex_;  // guards statements_ and refused_aborts_
  std::condition_variable drained_;
  std::vector<const Statement*> statements_;
  std::vector<RefusedAbort> refused_aborts_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> coordinator_left_{false};
  std::atomic<bool> contents_changed_{true};
  std::atomic<bool> count_wanted_{false};
  std::atomic<std::int64_t> contents_stored_{0};
  std::atomic<std::int64_t> bytes_stored_{0};
  std::atomic<std::int64_t> bytes_free_{0};
  std::atomic<bool> was_full_{false};
  std::atomic<std::int64_t> bytes_sent_{0};
  std::atomic<std::int64_t> bytes_received_{0};
};

}  // namespace eindb
