#include "cluster/tcp_cluster.hpp"

#include <algorithm>

namespace eindb {
namespace {

// The minimum time for connecting to a worker.
constexpr std::chrono::milliseconds kShortestConnectTime{2000};

TcpNodeOptions node_options(const TcpClusterOptions& options, NodeLog& log) {
  TcpNodeOptions node;
  node.name = "coordinator";
  node.secret = secret_of(options.secret_file);
  node.tls = options.tls;
  node.local_sockets = options.local_sockets;
  node.log = [&log](std::string_view line) { log.write(NodeLog::Level::Warning, "connection", "", line); };
  node.connect_time = std::max(kShortestConnectTime, kMissedHeartbeats * options.heartbeat);
  return node;
}

}  // namespace

ClusterSecret secret_of(const std::string& file) {
  return file.empty() ? ClusterSecret() : ClusterSecret::from_file(file);
}

TcpCluster::TcpCluster(const TcpClusterOptions& options, NodeLog& log)
    : node_(node_options(options, log)),
      transport_(node_),
      cluster_({.workers = options.workers,
                .heartbeat = options.heartbeat,
                .standbys = options.standbys,
                .moves = options.moves},
               transport_, transport_, log) {}

}  // namespace eindb
