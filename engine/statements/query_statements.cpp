#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/explain/explain.hpp"
#include "engine/query/distributed_query.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/explanation.hpp"
#include "engine/statements/statements.hpp"
#include "engine/statements/update_statement.hpp"
#include "engine/tensors/tile_endpoints.hpp"

namespace eindb {
namespace {

// The results of an update have the partitions of its tensors.
ResultRequest request_of(const ast::Query& query, OpenDatabase& database) {
  const auto* updates = std::get_if<ast::Updates>(&query.body);
  return updates == nullptr ? ResultRequest{} : update_request(*updates, updated_tensors(*updates, database));
}

}  // namespace

Result execute_statement(const ast::Query& query, SessionState& session) {
  Result result;
  auto tensors = evaluate_results(query, session);
  CHECK(!tensors.empty(), "a query has a result");
  if (tensors.size() > 1) {
    std::vector<DType> dtypes;
    for (const auto& tensor : tensors) dtypes.push_back(tensor->dtype);
    result.columns = several_columns(dtypes);
    result.rows = several_rows(std::move(tensors));
    return result;
  }
  result.tensor = std::move(tensors.front());
  CHECK(result.tensor != nullptr && result.tensor->labels.size() == result.tensor->grid.rank(),
        "a result has a label for each dimension");
  result.columns = tensor_columns(result.tensor->labels, result.tensor->names, result.tensor->dtype);
  result.rows = tensor_rows(result.tensor);
  return result;
}

Result execute_statement(const ast::Explain& explain, SessionState& session) {
  ReadSnapshot snapshot(session.database.file, static_cast<std::size_t>(session.user.settings.threads()));
  auto request = request_of(explain.query, session.database);
  request.compare_strategies = explain.compare;
  request.for_workers = !explain.analyze && session.user.settings.workers() > 0;
  const auto planned = plan_query(explain.query, session, std::move(request));
  std::optional<QueryProfile> profile;
  if (explain.analyze) {
    DiscardingSink sink;
    const std::vector<TileSink*> sinks(planned.result_count(), &sink);
    profile = run_query(planned, session, snapshot, sinks);
  }
  Measured measured;
  std::optional<ClusterProfile> steps;
  if (profile && profile->cluster != nullptr) measured.cluster = profile->cluster.get();
  else if (profile) measured.here = &profile->local, measured.again = profile->again.get();
  else if (!planned.plan.is_lowered() && session.user.settings.workers() > 0 &&
           session.user.settings.workers() <= DistributedQuery::kMostExplained)
    measured.cluster = &steps.emplace(DistributedQuery(planned, session).explain());
  std::vector<StrategyCosts> strategies;
  if (explain.compare && measured.cluster != nullptr && !planned.plan.is_lowered()) {
    const auto& profile_of_ranks = *measured.cluster;
    strategies =
        compare_for_cluster(*planned.shared, profile_of_ranks.made->terms, profile_of_ranks.locations->holders);
    measured.strategies = &strategies;
  }
  const auto plan = describe_plan(planned, session.user, measured);
  switch (explain.format) {
    case ast::ExplainFormat::Json: return explanation(explain_json(plan), true);
    case ast::ExplainFormat::Dot: return explanation(explain_dot(plan), false);
    case ast::ExplainFormat::Html: return explanation(explain_html(plan), true);
    case ast::ExplainFormat::Text: break;
  }
  return explanation(explain_text(plan), false);
}

}  // namespace eindb
