#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "engine/plans/query_key.hpp"
#include "engine/results/rows.hpp"
#include "engine/session/statement_scopes.hpp"
#include "engine/statements/constant_value.hpp"
#include "engine/statements/retold_error.hpp"
#include "engine/statements/statements.hpp"
#include "parser/parser.hpp"

namespace eindb {
namespace {

auto find_prepared(const ast::Identifier& name, SessionUser& user) {
  const auto found = user.prepared.find(to_lower(name.text));
  if (found != user.prepared.end()) return found;
  std::vector<std::string> names;
  for (const auto& [key, statement] : user.prepared) names.push_back(key);
  const auto nearest = nearest_name(name.text, names);
  throw CodedError("26000", ErrorKind::UnknownName, "there is no prepared statement " + name.text,
                   nearest ? "did you mean " + *nearest + "?" : "PREPARE " + name.text + " AS ... makes it", name.span);
}

ParameterValue argument_value(const std::variant<ast::Expression, ast::Literal, ast::Null>& argument,
                              const NameSource& names) {
  if (std::holds_alternative<ast::Null>(argument)) return std::monostate();
  if (const auto* expression = std::get_if<ast::Expression>(&argument)) return constant_value(*expression, names);
  return std::visit([](const auto& value) -> ParameterValue { return value; }, std::get<ast::Literal>(argument).value);
}

std::shared_ptr<const QueryKey> key_of_statement(const ast::Statement& statement) {
  const auto* query = std::get_if<ast::Query>(&statement.node);
  return query == nullptr ? nullptr : std::make_shared<const QueryKey>(key_of(*query));
}

// Rethrows an error of a prepared statement. Its places lie in the prepared text, which the message quotes.
[[noreturn]] void fail_in(const std::string& name, const std::string& body, const Error& error, SourceSpan place) {
  std::string at;
  if (error.span() && error.span()->end <= body.size() && error.span()->begin < error.span()->end)
    at = ", at '" + body.substr(error.span()->begin, error.span()->end - error.span()->begin) + "'";
  retell(error, "prepared statement " + name + at + ": " + error.message(), place, error.hint());
}

}  // namespace

PreparedStatement prepare_statement(std::string_view text) {
  auto statement = std::make_shared<const ast::Statement>(parse_statement(text));
  const auto parameter_count = count_parameters(*statement, text);
  return {.name = "",
          .text = std::string(text),
          .parameter_count = parameter_count,
          .types = {},
          .statement = statement,
          .key = key_of_statement(*statement)};
}

PreparedStatement parsed_statement(std::string_view text) {
  auto statement = std::make_shared<const ast::Statement>(parse_statement(text));
  const bool may_have_parameters = text.find('$') != std::string_view::npos;
  auto key = may_have_parameters ? nullptr : key_of_statement(*statement);
  return {.name = "", .text = "", .statement = std::move(statement), .key = std::move(key)};
}

PreparedStatement prepared_statement(const ast::Identifier& name, SessionUser& user) {
  return find_prepared(name, user)->second;
}

Result execute_statement(const ast::Prepare& prepare, SessionUser& user) {
  CHECK(prepare.statement != nullptr, "what is prepared was parsed");
  PreparedStatement prepared{.name = prepare.name.text,
                             .text = prepare.body,
                             .parameter_count = std::max(prepare.parameter_count, prepare.types.size()),
                             .types = prepare.types,
                             .statement = prepare.statement,
                             .key = key_of_statement(*prepare.statement)};
  if (!user.prepared.emplace(to_lower(prepare.name.text), std::move(prepared)).second) {
    throw CodedError("42P05", ErrorKind::DuplicateName, "prepared statement " + prepare.name.text + " exists already",
                     "DEALLOCATE it first", prepare.name.span);
  }
  return status_result("PREPARE");
}

Result execute_statement(const ast::Execute& execute, SessionState& session) {
  const auto prepared = prepared_statement(execute.name, session.user);
  if (execute.arguments.size() != prepared.parameter_count) {
    throw Error(ErrorKind::Value,
                "prepared statement " + prepared.name + " takes " + std::to_string(prepared.parameter_count) +
                    (prepared.parameter_count == 1 ? " argument, but " : " arguments, but ") +
                    std::to_string(execute.arguments.size()) + (execute.arguments.size() == 1 ? " is" : " are") +
                    " given",
                execute.name.span);
  }
  std::vector<ParameterValue> values;
  const auto names = session.names();
  for (const auto& argument : execute.arguments) values.push_back(argument_value(argument, names));
  CHECK(prepared.statement != nullptr, "a prepared statement has its tree");
  const ParameterValues scope(session.statement, std::move(values));
  const PartOfStatement part(session.statement, prepared.types);
  const KnownKey key(session.statement, prepared);
  try {
    return run_statement(*prepared.statement, session);
  } catch (const Error& error) {
    fail_in(prepared.name, prepared.text, error, execute.name.span);
  }
}

Result execute_statement(const ast::Deallocate& deallocate, SessionUser& user) {
  if (deallocate.name) user.prepared.erase(find_prepared(*deallocate.name, user));
  else user.prepared.clear();
  return status_result("DEALLOCATE");
}

}  // namespace eindb
