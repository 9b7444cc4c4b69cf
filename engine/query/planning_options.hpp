#pragma once

#include "engine/plans/planned_query.hpp"
#include "engine/session/session_user.hpp"
#include "engine/session/statement_context.hpp"
#include "optimizer/optimizer.hpp"

namespace eindb {

/// How partition vectors of a query are chosen: as it says itself by USING PARTITION, or as the session is set.
Strategy strategy_of(const BoundQuery& query, const Settings& settings);

/// The options for the optimizer, by the session's settings and the form in which results are wanted. They refer to
/// `statement`, to which the search for contraction orders reports.
OptimizerOptions planning_options(const BoundQuery& query, const SessionUser& user, const StatementContext& statement,
                                  const ResultRequest& request);

}  // namespace eindb
