#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/cluster_statement.hpp"
#include "cluster/exchange_factory.hpp"
#include "cluster/statement_watch.hpp"
#include "cluster/worker_connection.hpp"

namespace eindb {

/// One statement at all of its ranks, run in the caller's thread; see Cluster::run. Used once, by one thread.
class StatementAtRanks {
 public:
  /// `connections` are by rank, null for the coordinator's; they and the statement must outlive the object.
  StatementAtRanks(ExchangeFactory& exchanges, std::chrono::milliseconds heartbeat, const ClusterStatement& statement,
                   std::vector<WorkerConnection*> connections, const Cancellation& cancellation);
  ~StatementAtRanks();
  StatementAtRanks(const StatementAtRanks&) = delete;
  StatementAtRanks& operator=(const StatementAtRanks&) = delete;

  std::vector<RankReport> run(const OwnPart& own_part) &&;

  const StatementWatch& watch() const { return watch_; }
  /// By rank; null: this process.
  const std::vector<WorkerConnection*>& connections() const { return connections_; }

 private:
  class Aborted;

  std::vector<RankReport> checked(std::vector<RankReport> reports) const;
  void start();
  void take_part(const OwnPart& own_part);
  std::vector<std::string> addresses() const;
  void start_at(Rank rank, const std::vector<std::byte>& plan, const std::vector<std::string>& addresses);
  void stop(const RemoteError& why);

  ExchangeFactory& exchanges_;
  const std::chrono::milliseconds heartbeat_;
  const ClusterStatement& statement_;
  const std::uint64_t number_;
  const Rank own_rank_;
  StatementWatch watch_;
  const std::vector<WorkerConnection*> connections_;
};

}  // namespace eindb
