#pragma once

#include <string>

#include "engine/plan_description.hpp"

namespace eindb {

/// EXPLAIN: what a query's plan is, and with a profile what its execution did. One description of every vertex and
/// operator (engine/plan_description); text, JSON and dot (graphviz) are three ways to write it.
std::string explain_text(const PlannedQuery& planned, const SessionUser& user, const Measured& measured);
std::string explain_dot(const PlannedQuery& planned, const SessionUser& user, const Measured& measured);
std::string explain_json(const PlannedQuery& planned, const SessionUser& user, const Measured& measured);

}  // namespace eindb
