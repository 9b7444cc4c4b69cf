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

/// Control channels and exchanges of a process that mpirun has started. The coordinator is MPI's rank 0, which has the
/// standard input; workers are the others, "rank 1" to "rank N-1". A plan's ranks are the workers in this order, and
/// then the coordinator, and all of them take part in every statement. Thread-safe.
class MpiTransport final : public Connector, public ExchangeFactory {
 public:
  /// `world` outlives it. Once in a process.
  explicit MpiTransport(MpiWorld& world);
  /// The coordinator's: workers' next_coordinator() gives nullopt.
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  const MpiWorld& world() const { return world_; }
  bool is_coordinator() const { return world_.rank() == 0; }
  /// For a Cluster of the coordinator, of which there is one at a time.
  ClusterOptions cluster_options() const;
  /// Of the coordinator: what the channels that are made from now on are about, which workers get to know.
  void set_subject(std::string subject);
  /// Of a worker: waits until the coordinator makes a channel; nullopt when it has left.
  std::optional<CallLine::Call> next_coordinator();

  std::unique_ptr<Channel> connect(const std::string& address, std::chrono::milliseconds timeout) override;
  std::string address() const override { return {}; }
  /// Waits for the exchange before it to be destroyed. Error{Unsupported} for ranks that are not all of MPI's.
  std::unique_ptr<Exchange> open(const ExchangeRequest& request, const Cancellation& cancellation) override;
  bool is_exclusive() const override { return true; }

 private:
  class ExchangeInTurn;

  MpiWorld& world_;
  std::map<std::string, CallLine> lines_;  // by address of the peer
  std::mutex mutex_;                       // guards subject_
  std::string subject_;
  std::timed_mutex turn_;  // of the exchange that there is
};

}  // namespace eindb
