#include "engine/statement_description.hpp"

#include <algorithm>

#include "common/error.hpp"
#include "engine/parameter_values.hpp"
#include "engine/rows.hpp"
#include "engine/sql_query.hpp"
#include "engine/statements.hpp"
#include "parser/parser.hpp"

namespace eindb {
namespace {

// In the place of values that are not known yet: an index and an extent as well as a number.
constexpr std::int64_t kSomeInteger = 1;
constexpr double kSomeReal = 0.5;

BoundQuery bind(const ast::Query& query, SessionState& session, std::vector<ParameterValue> parameters) {
  const ParameterValues scope(session, std::move(parameters));
  return bind_query(query, session.name_source());
}

// Whether parameter `n` may be a real number, or has to be an integer, as an index has.
bool takes_reals(const ast::Query& query, SessionState& session, std::vector<ParameterValue> parameters,
                 std::size_t n) {
  parameters[n] = kSomeReal;
  try {
    bind(query, session, std::move(parameters));
    return true;
  } catch (const Error&) {
    return false;
  }
}

StatementDescription describe(const ast::Query& query, SessionState& session, std::size_t parameter_count) {
  const std::vector<ParameterValue> integers(parameter_count, kSomeInteger);
  const auto bound = bind(query, session, integers);
  StatementDescription description;
  for (std::size_t n = 0; n < parameter_count; ++n)
    description.parameters.push_back(takes_reals(query, session, integers, n) ? ColumnType::Float64
                                                                              : ColumnType::Integer);
  description.columns = tensor_columns(bound.label_names, bound.graph.vertex(bound.graph.output()).dtype);
  description.gives_tensor = true;
  return description;
}

StatementDescription describe(const ast::Sql& sql, SessionState& session, std::size_t parameter_count) {
  const ParameterValues some(session, std::vector<ParameterValue>(parameter_count, kSomeInteger));
  auto prepared = prepare_sql(sql, session, SqlUse::Describe);
  return {.columns = prepared.columns(),
          .parameters = std::vector(parameter_count, ColumnType::Any),
          .reads_only = prepared.has_statement() && prepared.statement().is_read_only()};
}

StatementDescription describe(const ast::Execute& execute, SessionState& session, std::size_t /*parameter_count*/) {
  const auto prepared = prepared_statement(execute.name, session);
  auto description = describe_statement(prepared, session);
  description.parameters.clear();
  return description;
}

StatementDescription describe(const ast::Explain& /*explain*/, SessionState& /*session*/, std::size_t parameter_count) {
  return {.columns = {{"plan", ColumnType::Text}}, .parameters = std::vector(parameter_count, ColumnType::Float64)};
}

template <class Statement>
concept TellsOfSession = std::is_same_v<Statement, ast::ShowTensors> || std::is_same_v<Statement, ast::ShowMacros> ||
    std::is_same_v<Statement, ast::Describe> || std::is_same_v<Statement, ast::Show>;

StatementDescription describe(const TellsOfSession auto& statement, SessionState& session,
                              std::size_t /*parameter_count*/) {
  return {.columns = execute_statement(statement, session).columns, .parameters = {}};
}

// Statements without rows.
StatementDescription describe(const auto& /*statement*/, SessionState& /*session*/, std::size_t parameter_count) {
  return {.columns = {}, .parameters = std::vector(parameter_count, ColumnType::Any)};
}

}  // namespace

StatementDescription describe_statement(const PreparedStatement& statement, SessionState& session) {
  return std::visit([&](const auto& node) { return describe(node, session, statement.parameter_count); },
                    statement.statement->node);
}

}  // namespace eindb
