#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cluster/tcp_cluster.hpp"
#include "cluster/tcp_node.hpp"
#include "cluster/tcp_transport.hpp"
#include "cluster/worker.hpp"
#include "engine/session.hpp"
#include "storage/worker_file/shard_file.hpp"
#include "tests/simulation/virtual_network.hpp"

namespace eindb::simulation {

/// The log of all nodes, with their place and the time; part of the trace.
class TracedLog final : public NodeLog {
 public:
  void write(Level level, std::string_view event, std::string_view node, std::string_view detail) noexcept override;
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

/// A coordinator with a session on "my.db", and workers, each as the process that it would be: a crash leaves only its
/// files as they are at that moment. They use TCP over the virtual network. One thread at a time runs at the
/// coordinator, and one at a worker.
class SimulatedCluster {
 public:
  /// Starts the workers.
  SimulatedCluster(std::filesystem::path folder, std::size_t workers);
  ~SimulatedCluster();
  SimulatedCluster(const SimulatedCluster&) = delete;
  SimulatedCluster& operator=(const SimulatedCluster&) = delete;

  static constexpr int kCoordinator = 0;
  static int place_of_worker(std::size_t n) { return static_cast<int>(n) + 1; }

  std::size_t workers() const { return workers_.size(); }
  bool has_worker(std::size_t n) const { return workers_[n] != nullptr; }
  void start_worker(std::size_t n);
  void crash_worker(std::size_t n, bool is_silent);

  void start_coordinator();
  /// Makes the coordinator disappear for all others; its session's statement ends soon. Thread-safe.
  void crash_coordinator(bool is_silent);
  /// Cancels the session's statement, as its user may.
  void cancel();
  bool has_coordinator_crashed() const { return has_crashed_; }
  /// Call in the session's thread after a crash: leaves nothing of the process but its files as they were.
  void bury_coordinator();
  void stop_coordinator();
  /// Stops workers as their user would.
  void stop_workers();

  Session& session() { return *session_; }
  Cluster& cluster() { return cluster_->cluster(); }
  TracedLog& log() { return log_; }
  std::string path_of_worker(std::size_t n) const;
  std::string path_of_database() const { return (folder_ / "database" / "my.db").string(); }

 private:
  struct WorkerProcess;

  Host& new_host(int place);

  const std::filesystem::path folder_;
  TracedLog log_;
  std::vector<std::unique_ptr<Host>> hosts_;  // all hosts, including former ones
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
  Host* coordinator_ = nullptr;
  std::unique_ptr<TcpCluster> cluster_;
  std::unique_ptr<Session> session_;
  std::mutex crash_mutex_;  // guards has_crashed_ and the life of session_
  bool has_crashed_ = false;
};

}  // namespace eindb::simulation
