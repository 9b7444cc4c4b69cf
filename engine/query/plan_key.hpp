#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "engine/plans/planned_query.hpp"
#include "engine/session/session_user.hpp"
#include "engine/session/statement_context.hpp"

namespace eindb {

/// What a plan depends on that is known without a look at the database; see PlanCache.
struct PlanKey {
  std::string text;                ///< bytes
  std::set<std::size_t> deferred;  ///< numbers of the parameters that have only their type in the key
};

/// The value as bytes, with its type: another value gives others.
void append_value(std::string& key, const ParameterValue& value);

PlanKey plan_key(const ast::Query& query, const SessionUser& user, const StatementContext& statement,
                 const ResultRequest& request);

}  // namespace eindb
