#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
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
#include "storage/worker_file/standby_copy.hpp"

namespace eindb {

struct WorkerOptions {
  std::string program;                                ///< program version for SHOW WORKERS
  std::uint32_t threads = 1;                          ///< most threads of a statement
  std::int64_t memory_limit = 0;                      ///< of all statements and messages together
  std::shared_ptr<MessageMemory> messages = nullptr;  ///< the part of it for messages, if it is limited
  /// Identifies the memory that memory_limit refers to, if it is all available memory: workers with the same name share
  /// it. Empty: the memory is this worker's alone.
  std::string memory_pool = {};
  std::string scratch_directory;  ///< empty: the system's default
  /// A disk that completes no request for this long counts as hanging, and the worker as Unwell.
  std::chrono::milliseconds disk_timeout{3000};
  std::int64_t scrub_rate = 0;  ///< bytes of contents that are verified in a second; 0: none
  std::string databases = {};   ///< folder of the directories of further databases (WorkerDatabases); empty: none
  std::int64_t most_bytes = 0;  ///< limit for the files of all databases together; 0: the disk's
};

/// The state shared by all sessions of a worker for one database. Thread-safe.
class WorkerNode {
 public:
  /// `memory` is shared with the nodes of other databases of the process; null: it is this node's alone.
  WorkerNode(WorkerOptions options, ShardFile& shards, ExchangeFactory& exchanges, NodeLog& log,
             std::shared_ptr<MemoryShares> memory = nullptr)
      : options(std::move(options)),
        shards(shards),
        exchanges(exchanges),
        log(log),
        standby(shards.directory() + "/" + kStandbyFolder),
        memory_(std::move(memory)) {
    if (memory_ == nullptr)
      memory_ = std::make_shared<MemoryShares>(this->options.memory_limit -
                                               (this->options.messages ? this->options.messages->whole() : 0));
  }

  const WorkerOptions options;
  ShardFile& shards;
  ExchangeFactory& exchanges;
  NodeLog& log;
  StandbyCopy standby;  ///< of the coordinator's file

  MemoryShares& memory() const { return *memory_; }
  std::shared_ptr<MemoryShares> shared_memory() const { return memory_; }

  /// Sets the memory to one of `processes` parts of its pool.
  void share_memory_among(std::uint32_t processes) {
    memory_->share_among(processes);
    if (options.messages) options.messages->share_among(processes);
  }

  /// Counts a running statement. Error{WorkerLost} if the worker takes no more statements.
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
  /// The time that the disk has not answered; 0: it answers.
  std::chrono::milliseconds disk_silence() const;
  /// Removes the contents of a transaction; with UnlessPrepared, keeps them if it was prepared meanwhile. If the disk
  /// fails, the next count_contents() tries again.
  enum class Abort : std::uint8_t { Always, UnlessPrepared };
  void abort(ShardTransaction transaction, Abort how) noexcept;
  /// Counts the contents of the data directory and the free space. It may wait for the disk.
  void count_contents();
  void note_change() { contents_changed_ = true; }
  /// Whether count_contents() should run and has not been requested yet. It runs periodically too, since other programs
  /// use the disk.
  bool wants_count() {
    const bool has_changed = contents_changed_ || Clock::now() - looked_.load() > kLookAgain;
    return has_changed && !count_wanted_.exchange(true);
  }
  /// Updates the free space only, which does not wait.
  void look_at_room();
  /// Records that a coordinator has left, possibly with prepared transactions. Other coordinators are told, until one
  /// asks for them.
  void note_coordinator_left() { coordinator_left_ = true; }
  void note_undecided_asked() { coordinator_left_ = false; }
  /// Contents that were found damaged without a reader.
  void note_damaged(ContentId content);
  void note_rewritten(ContentId content);
  std::vector<ContentId> damaged() const;
  /// Increases whenever there are new ones.
  std::uint64_t damage_changes() const { return damage_changes_; }
  void drain() noexcept;
  bool is_draining() const { return draining_; }
  /// Waits after drain() until no statement runs.
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

  std::shared_ptr<MemoryShares> memory_;
  mutable std::mutex mutex_;  // guards statements_, refused_aborts_ and damaged_
  std::condition_variable drained_;
  std::vector<const Statement*> statements_;
  std::vector<RefusedAbort> refused_aborts_;
  std::set<ContentId> damaged_;
  std::atomic<std::uint64_t> damage_changes_{0};
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
