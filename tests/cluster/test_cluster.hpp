#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "cluster/worker.hpp"
#include "storage/worker_file/shard_file.hpp"
#include "tests/cluster/memory_network.hpp"

namespace eindb {

class TestLog final : public NodeLog {
 public:
  void write(Level, std::string_view event, std::string_view node, std::string_view detail) noexcept override;
  /// Whether a line contains this text.
  bool has(std::string_view text) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// Makes a worker's disk hang while it lives: requests to it wait.
class HungDisk {
 public:
  explicit HungDisk(ShardFile& shards);
  ~HungDisk();
  HungDisk(const HungDisk&) = delete;
  HungDisk& operator=(const HungDisk&) = delete;

 private:
  struct State;
  ShardFile& shards_;
  const std::shared_ptr<State> state_;
};

/// Workers "w0", "w1", ... and a coordinator in one process, over channels and exchanges in memory.
class TestCluster {
 public:
  /// The memory that the first two workers share, and that each other worker has.
  static constexpr std::int64_t kMemory = std::int64_t{64} << 20U;

  /// `disk_timeout` is for the workers. By default they wait for their disks, which only tests of hanging disks make
  /// hang.
  explicit TestCluster(std::size_t workers, std::chrono::milliseconds heartbeat = std::chrono::milliseconds(100),
                       std::chrono::milliseconds disk_timeout = std::chrono::hours(1));
  ~TestCluster();

  static std::string address(std::size_t n) { return "w" + std::to_string(n); }
  Cluster& cluster() { return *cluster_; }
  Worker& worker(std::size_t n) { return *workers_.at(n)->worker; }
  ShardFile& shards(std::size_t n) { return *workers_.at(n)->shards; }
  MemoryNetwork& network() { return network_; }
  MemoryExchanges& exchanges() { return exchanges_; }
  TestLog& log() { return log_; }

  /// Without a decider, the outcome of transactions is unknown.
  void decide_by(ShardDecider decider);
  /// By default nothing is to be settled.
  void settle_by(ShardSettler settler);
  /// The number of times that the cluster has settled with a worker, or begun to.
  int times_settled() const { return times_settled_; }
  /// Starts a worker with the data directory of that number.
  void start_worker(std::size_t n, std::size_t directory);
  /// Stops a worker without a message, as if its process were killed.
  void kill_worker(std::size_t n);
  /// Waits for the worker's state; false if it is not reached within minutes.
  bool comes_to_be(std::size_t n, WorkerState state);

  /// X[i,j] = 10 i + j, 4 x 4 in the two tiles of its halves, one at each of the first two workers.
  static constexpr std::size_t kTensorWorkers = 2;
  void store_tensor();
  /// Transposes the partition of X; the result is stored at the workers, half at each: see stored().
  ClusterStatement transposing_statement();
  /// Gathers X at the coordinator.
  ClusterStatement gathering_statement();
  /// The values that a worker has stored for the transposing statement.
  std::vector<double> stored(std::size_t worker);

 private:
  struct RunningWorker {
    std::unique_ptr<ShardFile> shards;
    std::unique_ptr<Worker> worker;
  };
  ClusterStatement statement(const PhysicalPlan& plan);

  const std::chrono::milliseconds disk_timeout_;
  std::filesystem::path folder_;
  std::mutex mutex_;  // guards decider_ and settler_
  ShardDecider decider_;
  ShardSettler settler_;
  std::atomic<int> times_settled_{0};
  TestLog log_;
  MemoryNetwork network_;
  MemoryExchanges exchanges_;
  std::map<std::size_t, std::unique_ptr<RunningWorker>> workers_;
  std::unique_ptr<Cluster> cluster_;
  std::vector<TileHolders> holders_;
  std::vector<ContentRuns> contents_;
  PhysicalPlan transposing_;
  PhysicalPlan gathering_;
};

/// Runs the coordinator's part of a TestCluster; tiles that come to it are added up.
ExecutionProfile run_own_part(const ClusterStatement& statement, Exchange& exchange, const Cancellation& cancellation,
                              double* sum = nullptr);

}  // namespace eindb
