#include "common/error.hpp"
#include "engine/distributed_query.hpp"
#include "engine/explain.hpp"
#include "engine/pipeline.hpp"
#include "engine/rows.hpp"
#include "engine/statements.hpp"
#include "engine/tile_endpoints.hpp"

namespace eindb {
namespace {

Result explanation(const std::string& text, bool one_cell) {
  std::vector<Row> rows;
  std::size_t begin = 0;
  while (!one_cell && begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size());
    rows.push_back({text.substr(begin, end - begin)});
    begin = end + 1;
  }
  if (one_cell) rows.push_back({text});
  return listed_result({{"plan", ColumnType::Text}}, std::move(rows));
}

}  // namespace

Result execute_statement(const ast::Query& query, SessionState& session) {
  Result result;
  result.tensor = evaluate_query(query, session);
  result.columns = tensor_columns(result.tensor->labels, result.tensor->dtype);
  result.rows = tensor_rows(result.tensor);
  return result;
}

Result execute_statement(const ast::Explain& explain, SessionState& session) {
  ReadSnapshot snapshot(session.database, static_cast<std::size_t>(session.settings.threads()));
  const auto planned = plan_query(
      explain.query, session,
      {.compare_strategies = explain.compare, .for_workers = !explain.analyze && session.settings.workers() > 0});
  std::optional<QueryProfile> profile;
  if (explain.analyze) {
    DiscardingSink sink;
    profile = run_query(planned, session, snapshot, sink);
  }
  Measured measured;
  std::optional<ClusterProfile> steps;
  if (profile && profile->cluster != nullptr) measured.cluster = profile->cluster.get();
  else if (profile) measured.here = &profile->local;
  else if (session.settings.workers() > 0 && session.settings.workers() <= DistributedQuery::kMostExplained)
    measured.cluster = &steps.emplace(DistributedQuery(planned, session).explain());
  switch (explain.format) {
    case ast::ExplainFormat::Json: return explanation(explain_json(planned, session, measured), true);
    case ast::ExplainFormat::Dot: return explanation(explain_dot(planned, session, measured), false);
    case ast::ExplainFormat::Text: break;
  }
  return explanation(explain_text(planned, session, measured), false);
}

}  // namespace eindb
