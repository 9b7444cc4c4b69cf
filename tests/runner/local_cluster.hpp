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

/// Workers in this process, reached by TCP like those of other processes, and a coordinator's cluster with them.
/// Workers keep their data when the cluster is created again on the same folder.
class LocalCluster final : public ScriptCluster {
 public:
  /// Heartbeats are rare by default: tests run concurrently, and a busy machine must not lose workers.
  LocalCluster(const std::filesystem::path& folder, std::size_t workers, NodeLog& log,
               std::chrono::milliseconds heartbeat = std::chrono::seconds(10));
  LocalCluster(const std::filesystem::path& folder, std::size_t workers)
      : LocalCluster(folder, workers, silent_log()) {}
  ~LocalCluster() override;
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  Cluster& cluster() override { return coordinator_->cluster(); }
  /// The cluster of another process, for another database or the same one.
  std::unique_ptr<TcpCluster> another_coordinator();
  /// The contents of worker n, while it runs.
  ShardFile& shards(std::size_t n);
  /// Stops a worker, and waits until it is known as lost.
  void stop(std::size_t n);
  /// Starts it again at its address with its directory, and waits until it has joined.
  void start(std::size_t n);
  /// The same without waiting for cluster(), which has not begun.
  void stop_quietly(std::size_t n);
  void start_quietly(std::size_t n);

 private:
  struct Node;

  /// Shared by all, since a member would be referred to before its construction.
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
