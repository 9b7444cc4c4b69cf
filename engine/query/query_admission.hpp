#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "engine/plans/planned_query.hpp"
#include "engine/session/session_state.hpp"
#include "engine/settings/admission.hpp"
#include "executor/memory_budget.hpp"
#include "tensor/tile_memory.hpp"

namespace eindb {

/// The predicted need of a query on this machine.
struct QueryNeed {
  double seconds = 0;
  double bytes = 0;  ///< of tiles, with room for those that kernels work on
};

/// The need of a query that this process runs by itself.
QueryNeed need_of(const PlannedQuery& planned, const Settings& settings);
/// The need of the coordinator's rank, which is the session's own, in a plan for several ranks.
QueryNeed need_of_coordinator(const PlannedQuery& planned, const PhysicalPlan& plan, const SessionUser& user);

/// A query's part of the memory that sessions share, from before it runs until its result is gone.
///
///     enter() --waits--> budget() --the query runs--> has_run() --the result is fetched--> ~QueryAdmission
///
/// Without a gate the part is the session's memory_limit, and enter() does not wait.
class QueryAdmission {
 public:
  /// `need` is asked for where there is a gate. Errors as AdmissionGate::admit.
  static std::shared_ptr<QueryAdmission> enter(const std::function<QueryNeed()>& need, const SessionState& session);

  /// The memory for the query's tiles and kernels. It includes the tiles that the session keeps, which were counted
  /// before. The budget keeps the admission alive.
  static std::shared_ptr<MemoryBudget> budget(std::shared_ptr<QueryAdmission> admission, SessionState& session);
  /// Releases the cores, and the memory that the result does not need.
  void has_run(const MemoryBudget& memory);

 private:
  QueryAdmission() = default;

  std::unique_ptr<Admission> admission_;  // null: there is no gate
  std::shared_ptr<const TileMemory::Limit> resident_;
};

}  // namespace eindb
