#pragma once

#include <cstdint>
#include <memory>

#include "engine/plans/planned_query.hpp"
#include "engine/session/session_state.hpp"
#include "engine/settings/admission.hpp"
#include "executor/memory_budget.hpp"
#include "tensor/tile_memory.hpp"

namespace eindb {

/// A query's part of the memory that sessions share, from before it runs until its result is gone.
///
///     enter() --waits--> budget() --the query runs--> has_run() --the result is fetched--> ~QueryAdmission
///
/// Where nobody is asked it is the session's memory_limit, at once.
class QueryAdmission {
 public:
  /// Errors as AdmissionGate::admit.
  static std::shared_ptr<QueryAdmission> enter(const PlannedQuery& planned, const SessionState& session);

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
