#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "cluster/tcp_cluster.hpp"
#include "cluster/worker.hpp"
#include "storage/shard_file.hpp"

namespace eindb::runner {

/// Workers in this process that are reached by TCP, as those of other processes are, and a coordinator's cluster of
/// them. Workers keep what they have when the cluster is made again on the same folder.
class LocalCluster {
 public:
  LocalCluster(const std::filesystem::path& folder, std::size_t workers);
  ~LocalCluster();
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  Cluster& cluster() { return coordinator_->cluster(); }
  /// Waits until all workers have joined, after a session has begun.
  void wait_for_workers();

 private:
  class Log final : public NodeLog {
   public:
    void write(Level, std::string_view, std::string_view, std::string_view) noexcept override {}
  };
  struct Node;

  Log log_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unique_ptr<TcpCluster> coordinator_;
};

}  // namespace eindb::runner
