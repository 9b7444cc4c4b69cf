#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cluster/control_message.hpp"
#include "cluster/plan_codec.hpp"
#include "cluster/worker_node.hpp"
#include "cluster/worker_tiles.hpp"
#include "common/cancellation.hpp"
#include "common/error.hpp"
#include "executor/exchange.hpp"
#include "executor/execution_context.hpp"

namespace eindb {

/// A worker's part in a statement, in a thread of its own, from the bytes of the plan to the report.
///
///     decode --> validate --> share of memory --> Exchange --> run --> report
///
/// Thread-safe.
class StatementRun {
 public:
  /// Called once, by the statement's thread, at its end.
  using OnDone = std::function<void(control::Done)>;

  /// Starts at once. `node` must outlive it. Error{WorkerLost} if the worker takes no statements.
  StatementRun(WorkerNode& node, control::Run run, OnDone on_done);
  /// Waits until the statement has ended; call stop() to end it soon.
  ~StatementRun() { thread_.join(); }
  StatementRun(const StatementRun&) = delete;
  StatementRun& operator=(const StatementRun&) = delete;

  /// Ends the statement at all ranks with this error. Does not wait.
  void stop(const Error& why) noexcept;
  /// The gate for contents that the statement stores; stop() closes it.
  std::shared_ptr<PutGate> gate() const { return gate_; }

 private:
  void run() noexcept;
  PlacedPlan decode() const;
  RankReport execute();
  RankReport execute(const PlacedPlan& placed, Exchange& exchange);
  RankReport execute(const PlacedPlan& placed, Exchange& exchange, ExecutionContext& context);
  RemoteError reason_of(const std::exception_ptr& error) const;
  void use(Exchange* exchange) noexcept;

  WorkerNode& node_;
  std::optional<WorkerNode::Statement> statement_;  // until everything is reported
  const control::Run run_;
  const OnDone on_done_;
  Cancellation cancellation_;
  std::vector<ContentId> damaged_;  // used by the statement's thread
  const std::shared_ptr<PutGate> gate_;
  mutable std::mutex mutex_;      // guards the next two members
  Exchange* exchange_ = nullptr;  // the current exchange, to be aborted
  std::optional<Error> stopped_;
  std::thread thread_;  // last, since it uses the other members
};

}  // namespace eindb
