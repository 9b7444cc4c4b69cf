#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "engine/plans/planned_query.hpp"
#include "engine/session/session_user.hpp"
#include "engine/session/statement_context.hpp"

namespace eindb {

/// Everything that a plan depends on and that is known without reading the database; see PlanCache.
struct PlanKey {
  std::string text;                ///< bytes
  std::set<std::size_t> deferred;  ///< numbers of the parameters whose type alone is in the key
};

/// Appends the value as bytes, with its type. Distinct values give distinct bytes.
void append_value(std::string& key, const ParameterValue& value);

PlanKey plan_key(const ast::Query& query, const SessionUser& user, const StatementContext& statement,
                 const ResultRequest& request);

}  // namespace eindb
