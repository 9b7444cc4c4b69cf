#pragma once

#include <filesystem>

#include "cluster/mpi_transport.hpp"
#include "tests/runner/script_cluster.hpp"

namespace eindb::runner {

/// The other ranks of a job as workers, which keep their data when the cluster is created again on the same folder. One
/// at a time.
class MpiScriptCluster final : public ScriptCluster {
 public:
  /// `transport` must be rank 0's.
  MpiScriptCluster(MpiTransport& transport, const std::filesystem::path& folder)
      : cluster_(transport.cluster_options(), transport, transport, log_) {
    transport.set_subject(folder.string());
  }

  Cluster& cluster() override { return cluster_; }

 private:
  SilentLog log_;
  Cluster cluster_;
};

}  // namespace eindb::runner
