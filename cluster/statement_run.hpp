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

/// A worker's part in a statement, in a thread of its own: from the bytes of the plan to the report.
///
///     decode --> validate --> share of memory --> Exchange --> run --> report
///
/// Thread-safe.
class StatementRun {
 public:
  /// Told once, by the statement's thread, at its end.
  using OnDone = std::function<void(control::Done)>;

  /// Begins. `node` outlives it. Error{WorkerLost} if the worker takes no statements.
  StatementRun(WorkerNode& node, control::Run run, OnDone on_done);
  /// Waits until it has ended; stop() makes that soon.
  ~StatementRun() { thread_.join(); }
  StatementRun(const StatementRun&) = delete;
  StatementRun& operator=(const StatementRun&) = delete;

  /// Ends it, at all ranks, with this error. Waits for nothing.
  void stop(const Error& why) noexcept;
  /// The way of what it stores, which stop() closes.
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
  std::optional<WorkerNode::Statement> statement_;  // until all has been said
  const control::Run run_;
  const OnDone on_done_;
  Cancellation cancellation_;
  std::vector<ContentId> damaged_;  // of the statement's thread
  const std::shared_ptr<PutGate> gate_;
  mutable std::mutex mutex_;      // guards the two that follow
  Exchange* exchange_ = nullptr;  // while it lives, to be aborted
  std::optional<Error> stopped_;
  std::thread thread_;  // last: begins when all else is there
};

}  // namespace eindb
