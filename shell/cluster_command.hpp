#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cluster/move_options.hpp"
#include "cluster/tcp_cluster.hpp"
#include "server/monitoring/server_log.hpp"
#include "shell/node_trust.hpp"
#include "shell/server_node_log.hpp"

namespace eindb {

/// `--workers HOST:PORT,... --secret-file FILE --heartbeat TIME --cluster-tls-cert FILE ...`: the workers of a
/// database.
struct ClusterCommand {
  std::string workers;  ///< separated by commas; empty: none
  NodeTrust trust;
  std::chrono::milliseconds heartbeat = std::chrono::seconds(1);
  MoveOptions moves = {};
  std::string standbys;   ///< of the workers, those that keep a copy of the database's file; as `workers`
  bool tcp_only = false;  ///< no sockets of the host between nodes of one
};

/// The cluster of a program's sessions, with its log.
class CommandCluster {
 public:
  /// `command` must name workers. Throws Error.
  CommandCluster(const ClusterCommand& command, const LogOptions& log);

  /// For SessionOptions, which this must outlive.
  std::shared_ptr<Cluster> cluster() { return {std::shared_ptr<void>(), &tcp_.cluster()}; }

 private:
  ServerLog log_;
  ServerNodeLog node_log_;
  TcpCluster tcp_;
};

}  // namespace eindb
