#include "server/statements/portal.hpp"

#include <cstddef>
#include <string_view>
#include <variant>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "engine/statement_text.hpp"
#include "server/protocol/protocol_error.hpp"
#include "server/values/client_text.hpp"
#include "server/values/data_type.hpp"
#include "server/values/value_format.hpp"

namespace eindb {
namespace {

// A value that cannot be read fails the statement; the connection continues.
ParameterInput read_parameter(std::string_view value, DataType type, frontend::Format format) {
  try {
    if (format == frontend::Format::Text) check_client_text(value);
    return read_value(value, type, format);
  } catch (const ProtocolError& error) {
    throw CodedError(error.sqlstate(), ErrorKind::Value, error.what());
  }
}

/// Whether the statement is CREATE TABLE ... AS with a query.
bool makes_table_of_query(std::string_view statement) {
  Tokenizer tokenizer(statement, kPostgresRules);
  if (!tokenizer.next().is_word("CREATE")) return false;
  bool is_table = false;
  int depth = 0;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       token = tokenizer.next()) {
    depth += token.is_symbol('(') ? 1 : token.is_symbol(')') ? -1 : 0;
    if (depth == 0 && is_table && token.is_word("AS")) return true;
    is_table = is_table || token.is_word("TABLE");
    if (!is_table && (token.is_word("VIEW") || token.is_word("TRIGGER") || token.is_word("INDEX"))) return false;
  }
  return false;
}

}  // namespace

std::shared_ptr<Portal> bind_portal(const std::shared_ptr<ClientStatement>& statement, const frontend::Bind& bind,
                                    ClientQuota& quota) {
  const auto needed = statement->prepared == nullptr ? 0 : statement->prepared->parameter_count;
  if (bind.values.size() != needed)
    throw CodedError("08P01", ErrorKind::Value,
                     "the statement takes " + std::to_string(needed) + " parameters, but " +
                         std::to_string(bind.values.size()) + " are given");
  CHECK(statement->parameter_types.size() >= needed, "each parameter has a type when it is bound");
  auto portal = std::make_shared<Portal>();
  portal->statement = statement;
  if (statement->columns) portal->columns = *statement->columns;
  portal->format = statement->format;
  portal->formats = bind.result_formats;
  check_result_formats(*portal);
  std::size_t bytes = 0;
  for (const auto& value : bind.values) bytes += value ? value->size() : 0;
  portal->share = quota.take(bytes);
  for (std::size_t n = 0; n < needed; ++n) {
    const auto& value = bind.values[n];
    portal->inputs.parameters.push_back(
        value ? read_parameter(*value, statement->parameter_types[n], format_of(bind.parameter_formats, n))
              : ParameterInput());
  }
  CHECK(portal->inputs.parameters.size() == needed, "each parameter has a value");
  return portal;
}

void check_result_formats(const Portal& portal) {
  const auto formats = portal.formats.size();
  const auto columns = portal.columns.size();
  if (formats > 1 && columns > 0 && formats != columns)
    throw CodedError("08P01", ErrorKind::Value,
                     "Bind has " + std::to_string(formats) + " formats for " + std::to_string(columns) + " columns");
}

std::string command_tag(const Portal& portal) {
  const auto& result = *portal.result;
  const auto& outline = portal.statement->outline;
  const auto& own = portal.statement->command;
  if (const auto* fetch = own ? std::get_if<command::Fetch>(&*own) : nullptr)
    return fetch->moves ? result.status : "FETCH " + std::to_string(portal.rows);
  if (portal.statement->copy) return "COPY " + std::to_string(portal.rows);
  if (outline.explains) return "EXPLAIN";
  // SQLite counts the rows of a RETURNING only after the last one was read; they are as many as were sent.
  const auto changed = portal.columns.empty() ? result.rows_changed : portal.rows;
  if (outline.kind == StatementKind::Insert && result.tensor == nullptr && result.status != "INSERT")
    return "INSERT 0 " + std::to_string(changed);
  // Clients expect a number after these words; for UPDATE TENSOR it is the number of cells.
  if (outline.kind == StatementKind::Update || outline.kind == StatementKind::Delete)
    return outline.tag + " " + std::to_string(changed);
  if (outline.kind == StatementKind::Create && makes_table_of_query(portal.statement->text))
    return "SELECT " + std::to_string(changed);
  if (!portal.columns.empty()) return "SELECT " + std::to_string(portal.rows);
  return result.status != "OK" ? result.status : outline.tag;
}

}  // namespace eindb
