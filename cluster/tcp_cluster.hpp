#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.hpp"
#include "cluster/move_options.hpp"
#include "cluster/tcp_node.hpp"
#include "cluster/tcp_transport.hpp"

namespace eindb {

struct TcpClusterOptions {
  std::vector<std::string> workers;  ///< HOST:PORT of each, by rank
  std::string secret_file;           ///< empty: no secret, which is sufficient only for workers on this machine
  std::optional<TlsOptions> tls;
  std::chrono::milliseconds heartbeat = std::chrono::seconds(1);
  MoveOptions moves = {};
  bool local_sockets = true;               ///< as of TcpNodeOptions
  std::vector<std::string> standbys = {};  ///< as of ClusterOptions
};

/// A coordinator's cluster over TCP, with its node, which connects to workers and accepts no connections. Thread-safe.
class TcpCluster {
 public:
  /// `log` must outlive it. Throws the errors of ClusterSecret, TcpNode and Cluster.
  TcpCluster(const TcpClusterOptions& options, NodeLog& log);

  Cluster& cluster() { return cluster_; }

 private:
  TcpNode node_;
  TcpTransport transport_;
  Cluster cluster_;
};

/// The secret in the file; no secret if the name is empty. Throws the errors of ClusterSecret::from_file.
ClusterSecret secret_of(const std::string& file);

}  // namespace eindb
