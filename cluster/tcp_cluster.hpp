#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.hpp"
#include "cluster/tcp_node.hpp"
#include "cluster/tcp_transport.hpp"

namespace eindb {

struct TcpClusterOptions {
  std::vector<std::string> workers;  ///< HOST:PORT of each, in the order of ranks
  std::string secret_file;           ///< empty: none, which does for workers on this machine alone
  std::optional<TlsOptions> tls;
  std::chrono::milliseconds heartbeat = std::chrono::seconds(1);
};

/// A coordinator's cluster over TCP: its node, which connects and is not connected to, and who uses it. Thread-safe.
class TcpCluster {
 public:
  /// `log` outlives it. Errors as of ClusterSecret, TcpNode and Cluster.
  TcpCluster(const TcpClusterOptions& options, NodeLog& log);

  Cluster& cluster() { return cluster_; }

 private:
  TcpNode node_;
  TcpTransport transport_;
  Cluster cluster_;
};

/// The secret in the file; none if it is empty. Errors as ClusterSecret::from_file.
ClusterSecret secret_of(const std::string& file);

}  // namespace eindb
