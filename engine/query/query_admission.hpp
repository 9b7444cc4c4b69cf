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

/// What a query is predicted to take of this machine.
struct QueryNeed {
  double seconds = 0;
  double bytes = 0;  ///< of tiles, with room for those that kernels work on
};

/// Of a query that this process runs by itself.
QueryNeed need_of(const PlannedQuery& planned, const Settings& settings);
/// Of the part of the session's own rank, the coordinator's, in a plan for ranks.
QueryNeed need_of_coordinator(const PlannedQuery& planned, const DistributedPlan& plan, const SessionUser& user);

/// A query's part of the memory that sessions share, from before it runs until its result is gone.
///
///     enter() --waits--> budget() --the query runs--> has_run() --the result is fetched--> ~QueryAdmission
///
/// Where nobody is asked it is the session's memory_limit, at once.
class QueryAdmission {
 public:
  /// `need` is asked for where there is a gate. Errors as AdmissionGate::admit.
  static std::shared_ptr<QueryAdmission> enter(const std::function<QueryNeed()>& need, const SessionState& session);

  /// What the query's tiles and kernels may take, with the tiles that the session keeps: they were counted before. It
  /// keeps the admission as long as anything of it is held.
  static std::shared_ptr<MemoryBudget> budget(std::shared_ptr<QueryAdmission> admission, SessionState& session);
  /// Leaves the cores to others, and the memory that the result does not take.
  void has_run(const MemoryBudget& memory);

 private:
  QueryAdmission() = default;

  std::unique_ptr<Admission> admission_;  // null: nobody was asked
  std::shared_ptr<const TileMemory::Limit> resident_;
};

}  // namespace eindb
