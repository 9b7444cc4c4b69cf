#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cluster/tcp_cluster.hpp"
#include "cluster/worker.hpp"
#include "storage/worker_file/shard_file.hpp"
#include "tests/runner/script_cluster.hpp"

namespace eindb::runner {

/// Workers in this process that are reached by TCP, as those of other processes are, and a coordinator's cluster of
/// them. Workers keep what they have when the cluster is made again on the same folder.
class LocalCluster final : public ScriptCluster {
 public:
  /// By default heartbeats are rare: tests run beside each other, and nobody is lost because the machine is busy.
  LocalCluster(const std::filesystem::path& folder, std::size_t workers, NodeLog& log,
               std::chrono::milliseconds heartbeat = std::chrono::seconds(10));
  LocalCluster(const std::filesystem::path& folder, std::size_t workers)
      : LocalCluster(folder, workers, silent_log()) {}
  ~LocalCluster() override;
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  Cluster& cluster() override { return coordinator_->cluster(); }
  /// Of another process: for another database, or the same one.
  std::unique_ptr<TcpCluster> another_coordinator();
  /// What worker n stores, while it runs.
  ShardFile& shards(std::size_t n);
  /// Ends it, and waits until it is known to be lost.
  void stop(std::size_t n);
  /// Starts it again at its address and with its directory, and waits until it has joined.
  void start(std::size_t n);
  /// The same without waiting for cluster(), which has not begun.
  void stop_quietly(std::size_t n);
  void start_quietly(std::size_t n);

 private:
  struct Node;

  /// One for all: a member would be referred to before it is constructed.
  static NodeLog& silent_log();
  void start(std::size_t n, const std::string& address);
  void wait_until(std::size_t n, WorkerState state);

  NodeLog& log_;
  const std::filesystem::path folder_;
  const std::chrono::milliseconds heartbeat_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unique_ptr<TcpCluster> coordinator_;
};

}  // namespace eindb::runner
