#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cluster/call_line.hpp"
#include "cluster/cluster.hpp"
#include "cluster/connector.hpp"
#include "cluster/exchange_factory.hpp"
#include "cluster/mpi_plugin.hpp"

namespace eindb {

/// Control channels and exchanges of a process started by mpirun. The coordinator is MPI's rank 0, which has the
/// standard input; the others, "rank 1" to "rank N-1", are workers. A plan's ranks are the workers in this order, then
/// the coordinator, and all take part in every statement. Thread-safe.
class MpiTransport final : public Connector, public ExchangeFactory {
 public:
  /// `world` must outlive it. Once per process.
  explicit MpiTransport(MpiWorld& world);
  /// For the coordinator: afterwards the workers' next_coordinator() returns nullopt.
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  const MpiWorld& world() const { return world_; }
  bool is_coordinator() const { return world_.rank() == 0; }
  /// The options for the coordinator's Cluster, of which there is one at a time.
  ClusterOptions cluster_options() const;
  /// For the coordinator: sets the subject of later channels, which the workers receive.
  void set_subject(std::string subject);
  /// For a worker: waits until the coordinator opens a channel; nullopt when the coordinator has left.
  std::optional<CallLine::Call> next_coordinator();

  std::unique_ptr<Channel> connect(const std::string& address, std::chrono::milliseconds timeout) override;
  std::string address() const override { return {}; }
  /// Waits until the previous exchange is destroyed. Error{Unsupported} unless the ranks are all ranks of MPI.
  std::unique_ptr<Exchange> open(const ExchangeRequest& request, const Cancellation& cancellation) override;
  bool is_exclusive() const override { return true; }
  Transport transport() const override { return Transport::Mpi; }

 private:
  class ExchangeInTurn;

  MpiWorld& world_;
  std::map<std::string, CallLine> lines_;  // by address of the peer
  std::mutex mutex_;                       // guards subject_
  std::string subject_;
  std::timed_mutex turn_;  // of the current exchange
};

}  // namespace eindb
