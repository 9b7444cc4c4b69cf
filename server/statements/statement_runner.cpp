#include "server/statements/statement_runner.hpp"

#include <chrono>
#include <string_view>
#include <utility>
#include <variant>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/results/rows.hpp"
#include "server/copy/copy_file.hpp"
#include "server/copy/copy_file_stream.hpp"
#include "server/copy/copy_row_stream.hpp"
#include "server/statements/client_command.hpp"
#include "server/statements/in_own_words.hpp"
#include "server/statements/result_rows.hpp"

namespace eindb {
namespace {

// Whether a transaction that the statement opens must wait for other writers.
bool writes(const ClientStatement& statement) {
  return statement.copy ? statement.copy->side == CopySide::FromClient : statement.outline.writes;
}

// Whether the statement may change what cursors and portals read; words do not tell it of EXECUTE and the like.
bool may_change_rows(const ClientStatement& statement) {
  return writes(statement) || (!statement.copy && !statement.cursor && statement.outline.kind == StatementKind::Other);
}

}  // namespace

std::unique_ptr<CopyIn> StatementRunner::begin(Portal& portal, MessageWriter& out) {
  DCHECK(portal.statement != nullptr && !portal.result, "a portal runs its statement once");
  check_transaction(*portal.statement);
  if (portal.statement->copy) return begin_copy(portal, out);
  begin_rows(portal, out);
  return nullptr;
}

std::string StatementRunner::finish(CopyIn& copy, MessageWriter& out) {
  const auto progress = tell_progress(out);
  return copy.finish();
}

void StatementRunner::check_transaction(const ClientStatement& statement) const {
  if (statement.command && (std::holds_alternative<command::Commit>(*statement.command) ||
                            std::holds_alternative<command::Rollback>(*statement.command) ||
                            std::holds_alternative<command::RollbackTo>(*statement.command)))
    return;
  client_.check_not_failed();
}

void StatementRunner::begin_rows(Portal& portal, MessageWriter& out) {
  const auto& statement = *portal.statement;
  if (statement.command) {
    // A command that ends a transaction may end portals, even this one. Such commands have no rows.
    portal.result = commands_.run(*statement.command, out);
  } else if (statement.cursor) {
    portal.result = declare_cursor(portal, out);
  } else if (statement.explained) {
    portal.result = explain(portal, out);
  } else {
    client_.enter_transaction(writes(statement));
    if (may_change_rows(statement)) client_.keep_rows();
    portal.result = execute(statement, portal.inputs, out);
    client_.look_at_transaction();
  }
  CHECK(portal.result.has_value(), "a statement that has run has a result");
  if (portal.result->rows == nullptr) return;
  if (portal.columns.empty()) portal.format = client_.parameters.result_format();
  portal.stream = open_rows(portal, client_.session());
}

// A cursor gives rows, whatever form tensors have otherwise.
Result StatementRunner::declare_cursor(const Portal& portal, MessageWriter& out) {
  const auto& statement = *portal.statement;
  client_.check_declaration(*statement.cursor);
  if (statement.cursor->query_outline.kind == StatementKind::Einsum &&
      client_.parameters.result_format() != ResultFormat::Rows)
    throw Error(ErrorKind::Unsupported, "a cursor gives a tensor element by element, and result_format is another",
                std::nullopt, "SET result_format = 'rows'");
  client_.enter_transaction(false);
  auto result = execute(statement, portal.inputs, out);
  if (result.rows == nullptr) throw Error(ErrorKind::Value, "the query of a cursor gives no rows");
  client_.open_cursor(*statement.cursor, statement.text, std::move(result));
  return status_result("DECLARE CURSOR");
}

Result StatementRunner::explain(const Portal& portal, MessageWriter& out) {
  const auto& statement = *portal.statement;
  client_.enter_transaction(false);
  const auto steps = plan_of(statement, portal.inputs);
  std::optional<SqlPlanRun> run;
  if (statement.explained->analyze) {
    const auto begin = std::chrono::steady_clock::now();
    const auto result = execute(statement, portal.inputs, out);
    run.emplace();
    Row row;
    while (result.rows != nullptr && result.rows->next(row)) ++run->rows;
    run->milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  return plan_result(*statement.explained, steps, run);
}

// SQLite's rows are (id, parent, unused, detail).
std::vector<SqlPlanStep> StatementRunner::plan_of(const ClientStatement& statement, const StatementInputs& inputs) {
  constexpr std::size_t kDetail = 3;
  return in_own_words(client_, statement, [&] {
    const auto query = statement.query();
    auto& session = client_.session();
    const auto plan = session.prepare("EXPLAIN QUERY PLAN " + std::string(statement.translation.text_of(query)));
    const auto result = session.execute(*plan, inputs);
    std::vector<SqlPlanStep> steps;
    Row row;
    while (result.rows != nullptr && result.rows->next(row)) {
      CHECK(row.size() > kDetail, "SQLite's plans have four columns");
      steps.push_back({.id = std::get<std::int64_t>(row[0]),
                       .parent = std::get<std::int64_t>(row[1]),
                       .detail = std::get<std::string>(row[kDetail])});
    }
    return steps;
  });
}

std::unique_ptr<CopyIn> StatementRunner::begin_copy(Portal& portal, MessageWriter& out) {
  const auto& statement = *portal.statement;
  client_.enter_transaction(writes(statement));
  if (may_change_rows(statement)) client_.keep_rows();
  if (statement.copy->side == CopySide::FromClient) return copy_from_client(statement);
  CHECK(statement.copied != nullptr, "what a COPY sends is what a statement gives");
  if (std::holds_alternative<CopyStatement::File>(statement.copy->format)) copy_file_out(portal, out);
  else copy_rows_out(portal, out);
  return nullptr;
}

std::unique_ptr<CopyIn> StatementRunner::copy_from_client(const ClientStatement& statement) {
  auto& session = client_.session();
  if (statement.copied == nullptr) return copy_rows_in(*statement.copy, session);
  return copy_file_in(statement.copied->prepared, transfers_.make(), session);
}

void StatementRunner::copy_file_out(Portal& portal, MessageWriter& out) {
  CHECK(portal.statement->copied->prepared != nullptr, "the engine writes the file that a COPY sends");
  const auto progress = tell_progress(out);
  auto file = transfers_.make();
  run_file_copy(*portal.statement->copied->prepared, *file, client_.session());
  portal.result = status_result("COPY");
  portal.stream = std::make_unique<CopyFileStream>(std::move(file), out);
}

void StatementRunner::copy_rows_out(Portal& portal, MessageWriter& out) {
  const auto& copy = *portal.statement->copy;
  const auto& copied = *portal.statement->copied;
  if (copied.prepared != nullptr) portal.result = execute(copied, {}, out);
  if (!portal.result || portal.result->rows == nullptr)
    throw Error(ErrorKind::Value, "what is to be copied gives no rows", copy.source, "COPY (SELECT ...) TO STDOUT");
  portal.stream = std::make_unique<CopyRowStream>(*portal.result, std::get<CopyFormatOptions>(copy.format), out);
}

Result StatementRunner::execute(const ClientStatement& statement, const StatementInputs& inputs, MessageWriter& out) {
  CHECK(statement.prepared != nullptr, "what runs was prepared");
  return in_own_words(client_, statement, [&] {
    const auto progress = tell_progress(out);
    const auto notices = tell_notices(out);
    auto result = client_.session().execute(*statement.prepared, inputs);
    name_types(result.columns, statement.translation);
    return result;
  });
}

// Sends the progress of a long statement while the returned object lives; null if the client does not want it.
std::unique_ptr<ProgressNotices> StatementRunner::tell_progress(MessageWriter& out) {
  if (interim_ == nullptr || !client_.parameters.progress_notices()) return nullptr;
  return std::make_unique<ProgressNotices>(client_.session(), *interim_, out);
}

// Sends the notices of a statement while the returned object lives; null if the client wants only warnings or worse.
std::unique_ptr<StatementNotices> StatementRunner::tell_notices(MessageWriter& out) {
  const auto least = to_lower(client_.parameters.show("client_min_messages"));
  if (least == "warning" || least == "error" || least == "fatal" || least == "panic") return nullptr;
  return std::make_unique<StatementNotices>(client_.session(), interim_, out);
}

}  // namespace eindb
