#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/results/result.hpp"
#include "engine/statement_text.hpp"

namespace eindb {

/// EXPLAIN of a statement of SQL as clients of PostgreSQL write it: EXPLAIN SELECT, EXPLAIN ANALYZE SELECT,
/// EXPLAIN (ANALYZE, FORMAT JSON) SELECT. The server answers it from SQLite's plan; EXPLAIN of eindb's queries and
/// EXPLAIN QUERY PLAN are the engine's.
struct ExplainedQuery {
  std::size_t query = 0;  ///< where the explained statement begins
  StatementKind kind = StatementKind::Select;
  bool analyze = false;  ///< it is run, too, and its rows are counted
  bool json = false;
};

/// nullopt for other statements. Error{Syntax} for options that PostgreSQL does not have, Error{Unsupported} for those
/// that have no meaning here and for ANALYZE of a statement that writes.
std::optional<ExplainedQuery> parse_explained_query(std::string_view statement);

/// The only column of the answer.
std::vector<Column> plan_columns(const ExplainedQuery& explained);

/// A row of EXPLAIN QUERY PLAN.
struct SqlPlanStep {
  std::int64_t id = 0;
  std::int64_t parent = 0;  ///< 0: none
  std::string detail;
};
/// The rows that a statement gave, and how long that took.
struct SqlPlanRun {
  std::int64_t rows = 0;
  double milliseconds = 0;
};

/// The answer: a line for each step, below the one that it is a part of, or one text of JSON. `run` only if the
/// statement was run.
Result plan_result(const ExplainedQuery& explained, std::span<const SqlPlanStep> steps,
                   const std::optional<SqlPlanRun>& run);

}  // namespace eindb
