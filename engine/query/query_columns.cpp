#include "engine/query/query_columns.hpp"

#include <algorithm>
#include <variant>

#include "common/check.hpp"
#include "engine/plans/query_key.hpp"
#include "engine/results/rows.hpp"
#include "parser/parser.hpp"

namespace eindb {

std::vector<Column> columns_of(const BoundQuery& query) {
  std::vector<DType> dtypes;
  for (const auto output : query.graph.outputs()) dtypes.push_back(query.graph.vertex(output).dtype);
  CHECK(!dtypes.empty() && dtypes.size() == query.results.size(), "every result of a query is an output of its graph");
  return dtypes.size() == 1
             ? tensor_columns(query.results.front().label_names, query.results.front().index_names, dtypes.front())
             : several_columns(dtypes);
}

std::vector<Column> columns_of_text(const std::string& query, SessionState& session) {
  const auto statement = parse_statement(query);
  const auto* const parsed = std::get_if<ast::Query>(&statement.node);
  if (parsed == nullptr) throw Error(ErrorKind::Syntax, "this is no query of eindb");
  std::size_t count = 0;
  for (const auto& [number, use] : key_of(*parsed).parameters) count = std::max<std::size_t>(count, number);
  constexpr std::int64_t kSomeInteger = 1;  // valid as an index, an extent and a number
  return columns_of(bind_query(*parsed, session.database.names(std::vector<ParameterValue>(count, kSomeInteger))));
}

}  // namespace eindb
