#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "cluster/tcp_cluster.hpp"
#include "cluster/worker.hpp"
#include "storage/shard_file.hpp"
#include "tests/runner/script_cluster.hpp"

namespace eindb::runner {

/// Workers in this process that are reached by TCP, as those of other processes are, and a coordinator's cluster of
/// them. Workers keep what they have when the cluster is made again on the same folder.
class LocalCluster final : public ScriptCluster {
 public:
  LocalCluster(const std::filesystem::path& folder, std::size_t workers);
  ~LocalCluster() override;
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  Cluster& cluster() override { return coordinator_->cluster(); }

 private:
  struct Node;

  SilentLog log_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unique_ptr<TcpCluster> coordinator_;
};

}  // namespace eindb::runner
