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
  /// Whether a line has this text in it.
  bool has(std::string_view text) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// A worker's disk that hangs as long as this lives: whoever asks it for something waits.
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
  /// That the first two have together, and each of the others for itself.
  static constexpr std::int64_t kMemory = std::int64_t{64} << 20U;

  /// `disk_timeout`: of workers; by default they wait for their disks, which no test of anything else lets hang.
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

  /// Without, nobody knows how transactions have ended.
  void decide_by(ShardDecider decider);
  /// How often the cluster made up for what a worker may have missed.
  int times_settled() const { return times_settled_; }
  /// With the data directory of that number.
  void start_worker(std::size_t n, std::size_t directory);
  /// As if the process was killed: nothing is said any more.
  void kill_worker(std::size_t n);
  /// Waits until the worker is so; false if that does not happen within seconds.
  bool comes_to_be(std::size_t n, WorkerState state);

  /// X[i,j] = 10 i + j, 4 x 4 in the two tiles of its halves, one at each of the first two workers.
  static constexpr std::size_t kTensorWorkers = 2;
  void store_tensor();
  /// Gives X cut the other way, stored at the workers, half at each: see stored().
  ClusterStatement transposing_statement();
  /// Gives X to the coordinator.
  ClusterStatement gathering_statement();
  /// What a worker has stored for the transposing statement.
  std::vector<double> stored(std::size_t worker);

 private:
  struct RunningWorker {
    std::unique_ptr<ShardFile> shards;
    std::unique_ptr<Worker> worker;
  };
  ClusterStatement statement(const PhysicalPlan& plan);

  const std::chrono::milliseconds disk_timeout_;
  std::filesystem::path folder_;
  std::mutex mutex_;  // guards decider_
  ShardDecider decider_;
  std::atomic<int> times_settled_{0};
  TestLog log_;
  MemoryNetwork network_;
  MemoryExchanges exchanges_;
  std::map<std::size_t, std::unique_ptr<RunningWorker>> workers_;
  std::unique_ptr<Cluster> cluster_;
  std::vector<TileHolders> holders_;
  std::vector<std::vector<ContentId>> contents_;
  PhysicalPlan transposing_;
  PhysicalPlan gathering_;
};

/// What the coordinator of a TestCluster does for the statement; tiles that come to it are added up.
ExecutionProfile run_own_part(const ClusterStatement& statement, Exchange& exchange, const Cancellation& cancellation,
                              double* sum = nullptr);

}  // namespace eindb
