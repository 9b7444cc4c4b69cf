#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/connection_task.hpp"
#include "cluster/data_tasks.hpp"
#include "cluster/peer_lost.hpp"
#include "common/check.hpp"

namespace eindb {

/// Collects the connections of one statement at one node. Thread-safe.
class StatementConnections {
 public:
  StatementConnections(std::size_t ranks, Rank self) : connections_(ranks), missing_(ranks - 1), self_(self) {
    CHECK(self_ < connections_.size(), "a node is one of the ranks that it waits for");
  }

  /// Once for each rank; unexpected or repeated connections are closed.
  void arrive(Rank from, std::unique_ptr<Connection> connection);
  void fail(const PeerLost& error);
  /// Waits until all connections have arrived, and polls for cancellation. Throws the error given to fail(), or a
  /// PeerLost that names a rank whose connection has not arrived in time.
  void wait(std::chrono::milliseconds time, const std::vector<std::string>& addresses);
  /// The connections that have arrived, by rank. Later ones are closed.
  std::vector<std::unique_ptr<Connection>> take();

 private:
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::size_t missing_;
  std::optional<PeerLost> error_;
  const Rank self_;
};

/// A node's data connections outside statements: those that this node may bind to a statement, those that other nodes
/// may bind, and those bound to a statement that this node has not begun yet. Used by the node's thread.
class DataPool {
 public:
  explicit DataPool(NodeTasks& tasks) : tasks_(tasks) {}

  /// Adds a connection that this node has made to `address`.
  void put_own(std::unique_ptr<Connection> connection, const std::string& address,
               std::optional<std::uint64_t> released);
  /// A free connection to `address`; null if there is none.
  std::unique_ptr<Connection> take_own(const std::string& address);
  /// Adds a connection that another node has made to this one.
  void put_foreign(std::unique_ptr<Connection> connection, std::optional<std::uint64_t> released);

  /// Later connections for that rank of that statement go to `connections`.
  void expect(std::uint64_t statement, Rank rank, std::shared_ptr<StatementConnections> connections);
  void forget(std::uint64_t statement, Rank rank) { expected_.erase({statement, rank}); }
  /// Call if the statement fails here before it begins: its connections are then closed.
  void refuse(std::uint64_t statement, Rank rank);

  std::size_t idle_count() const;

 private:
  using Clock = std::chrono::steady_clock;
  using Place = std::pair<std::uint64_t, Rank>;
  struct Early {
    std::unique_ptr<Connection> connection;
    Rank from = 0;
    Clock::time_point until;
  };

  void bound(std::unique_ptr<Connection> connection, const DataBinding& binding);
  void forget_late();

  NodeTasks& tasks_;
  std::map<std::string, std::deque<std::shared_ptr<IdleTask>>> own_;  // by address; the most recent last
  std::map<Place, std::shared_ptr<StatementConnections>> expected_;
  std::multimap<Place, Early> early_;
  std::deque<Place> refused_;
  std::vector<std::weak_ptr<IdleTask>> foreign_;
};

}  // namespace eindb
