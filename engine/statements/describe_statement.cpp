#include "engine/statements/describe_statement.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/plans/query_key.hpp"
#include "engine/query/query_columns.hpp"
#include "engine/query/sql_query.hpp"
#include "engine/session/statement_scopes.hpp"
#include "engine/statements/schema_statements.hpp"
#include "engine/statements/statements.hpp"
#include "parser/binder/binder.hpp"
#include "parser/parser.hpp"

namespace eindb {
namespace {

// The types of $1, $2, ...
using Parameters = std::vector<ColumnType>;

// Stand-ins for unknown values: the integer is valid as an index, an extent and a number.
constexpr std::int64_t kSomeInteger = 1;
constexpr double kSomeReal = 0.5;

BoundQuery bind(const ast::Query& query, OpenDatabase& database, std::vector<ParameterValue> parameters) {
  return bind_query(query, database.names(std::move(parameters)));
}

// Whether parameter `n` may be a real number, or must be an integer, as an index must.
bool takes_reals(const ast::Query& query, OpenDatabase& database, std::vector<ParameterValue> parameters,
                 std::size_t n) {
  CHECK(n < parameters.size(), "a parameter that is tried is one of the statement's");
  parameters[n] = kSomeReal;
  try {
    bind(query, database, std::move(parameters));
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Whether parameter `n` is what an index is called: then no index is called so by accident.
bool takes_names(const ast::Query& query, OpenDatabase& database, std::vector<ParameterValue> parameters,
                 std::size_t n) {
  parameters[n] = std::string();
  try {
    bind(query, database, std::move(parameters));
  } catch (const Error& error) {
    return error.kind() == ErrorKind::UnknownName;
  }
  return true;
}

// Sets the types of a query's parameters to numeric types, or to texts for names of indices, whatever the client
// states. Other parameters keep their types.
void describe_parameters(const ast::Query& query, OpenDatabase& database, Parameters& types) {
  const std::vector<ParameterValue> integers(types.size(), kSomeInteger);
  for (const auto& [number, use] : key_of(query).parameters)
    if (number >= 1 && number <= types.size())
      types[number - 1] = takes_names(query, database, integers, number - 1)   ? ColumnType::Text
                          : takes_reals(query, database, integers, number - 1) ? ColumnType::Float64
                                                                               : ColumnType::Integer;
}

StatementDescription describe(const ast::Query& query, SessionState& session, const Parameters& given) {
  StatementDescription description{.columns = {}, .parameters = given};
  const auto bound = bind(query, session.database, std::vector<ParameterValue>(given.size(), kSomeInteger));
  describe_parameters(query, session.database, description.parameters);
  description.gives_tensor = bound.results.size() == 1;
  description.columns = columns_of(bound);
  return description;
}

StatementDescription describe(const ast::Sql& sql, SessionState& session, const Parameters& given) {
  if (takes_several_statements(sql) || translated_definition(sql, session)) return {.columns = {}, .parameters = given};
  auto known = given;
  for (const auto& inside : sql.queries) describe_parameters(inside.query, session.database, known);
  const ParameterValues some(session.statement, std::vector<ParameterValue>(given.size(), kSomeInteger));
  auto description = prepare_sql(sql, session, SqlUse::Describe).describe(known);
  description.parameters.resize(given.size(), ColumnType::Any);
  return description;
}

StatementDescription describe(const ast::Execute& execute, SessionState& session, const Parameters& given) {
  const auto prepared = prepared_statement(execute.name, session.user);
  const PartOfStatement part(session.statement, prepared.types);
  auto description = describe_statement(prepared, {}, session);
  description.parameters = given;
  return description;
}

StatementDescription describe(const ast::Explain& explain, SessionState& session, const Parameters& given) {
  StatementDescription description{.columns = {{"plan", ColumnType::Text}}, .parameters = given};
  describe_parameters(explain.query, session.database, description.parameters);
  return description;
}

StatementDescription describe(const ast::ExplainRedistribution&, SessionState&, const Parameters& given) {
  return {.columns = {{"plan", ColumnType::Text}}, .parameters = given};
}

StatementDescription describe(const ast::CreateTensor& create, SessionState& session, const Parameters& given) {
  StatementDescription description{.columns = {}, .parameters = given};
  if (const auto* query = std::get_if<ast::Query>(&create.source))
    describe_parameters(*query, session.database, description.parameters);
  return description;
}

template <class Statement>
concept StoresQuery = std::is_same_v<Statement, ast::CreateTensors> || std::is_same_v<Statement, ast::UpdateTensor>;

StatementDescription describe(const StoresQuery auto& statement, SessionState& session, const Parameters& given) {
  StatementDescription description{.columns = {}, .parameters = given};
  describe_parameters(statement.query, session.database, description.parameters);
  return description;
}

StatementDescription describe(const ast::InsertInto& insert, SessionState& session, const Parameters& given) {
  if (insert.appended) {
    StatementDescription description{.columns = {}, .parameters = given};
    describe_parameters(*insert.appended, session.database, description.parameters);
    return description;
  }
  if (insert.query) return {.columns = {}, .parameters = given};
  return {.columns = {}, .parameters = std::vector(given.size(), ColumnType::Float64)};
}

template <class Statement>
concept TellsOfSession = std::is_same_v<Statement, ast::ShowWorkers> || std::is_same_v<Statement, ast::ShowTensors> ||
    std::is_same_v<Statement, ast::ShowMacros> || std::is_same_v<Statement, ast::Describe> ||
    std::is_same_v<Statement, ast::Show> || std::is_same_v<Statement, ast::ShowUsers>;

StatementDescription describe(const TellsOfSession auto& statement, SessionState& session, const Parameters& given) {
  return {.columns = execute_by_parts(statement, session).columns, .parameters = given};
}

// Without the file, which may come later.
StatementDescription describe(const ast::ShowFileTensors&, SessionState&, const Parameters& given) {
  return {.columns = columns_of_file_tensors(), .parameters = given};
}

// For statements without rows.
StatementDescription describe(const auto& /*statement*/, SessionState& /*session*/, const Parameters& given) {
  return {.columns = {}, .parameters = given};
}

}  // namespace

StatementDescription describe_statement(const PreparedStatement& statement, std::span<const ColumnType> parameters,
                                        SessionState& session) {
  CHECK(statement.statement != nullptr, "a statement that is described was parsed");
  Parameters given(parameters.begin(), parameters.end());
  given.resize(statement.parameter_count, ColumnType::Any);
  auto description =
      std::visit([&](const auto& node) { return describe(node, session, given); }, statement.statement->node);
  CHECK(description.parameters.size() == given.size(), "a description has a type for each parameter");
  return description;
}

}  // namespace eindb
