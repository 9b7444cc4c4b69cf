#include "server/statements/statement_maker.hpp"

#include <chrono>
#include <string>
#include <variant>

#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/source_span.hpp"
#include "server/copy/copy_out.hpp"
#include "server/copy/copy_statement.hpp"
#include "server/statements/client_command.hpp"
#include "server/statements/in_own_words.hpp"
#include "server/statements/storage_options.hpp"

namespace eindb {

std::shared_ptr<ClientStatement> StatementMaker::make(std::string_view text, const StatementOutline& outline,
                                                      std::span<const std::int32_t> stated) {
  auto statement = std::make_shared<ClientStatement>();
  statement->text = text;
  statement->outline = outline;
  statement->made = std::chrono::system_clock::now();
  statement->command = parse_client_command(text);
  if (statement->command || statement->outline.empty) return statement;
  statement->copy = parse_copy_statement(text);
  if (statement->copy) {
    const auto& copy = *statement->copy;
    if (const auto* file = std::get_if<CopyStatement::File>(&copy.format)) statement->copied = copied_file(text, *file);
    else if (copy.side == CopySide::ToClient) statement->copied = copied_rows(text, copy);
    return statement;
  }
  statement->cursor = parse_cursor_declaration(text);
  if (!statement->cursor) statement->explained = parse_explained_query(text);
  std::string query;
  if (statement->cursor || statement->explained) text = query = statement->query();
  if (outline.kind == StatementKind::Create) text = query = without_storage_options(text);
  statement->translation = client_.translate(text, stated);
  in_own_words(client_, *statement,
               [&] { statement->prepared = client_.session().prepare(statement->translation.text_of(text)); });
  return statement;
}

// The places of errors lie in the COPY statement.
std::shared_ptr<ClientStatement> StatementMaker::copied_rows(std::string_view text, const CopyStatement& copy) {
  const auto query = rows_of_copy(text, copy);
  // Nested COPY statements are refused here; parsing them would take time proportional to depth times length.
  if (parse_copy_statement(query)) throw Error(ErrorKind::Syntax, "a COPY has no rows to copy", copy.source);
  try {
    return make(query, outline_of(query));
  } catch (const Error& error) {
    auto place = copy.source;
    if (error.span() && copy.table.empty())
      place = {place.begin + error.span()->begin, place.begin + error.span()->end};
    throw_at(error, place, error.hint());
  }
}

// Text before the file's place is unchanged by the translation, so places there hold.
std::shared_ptr<ClientStatement> StatementMaker::copied_file(std::string_view text, const CopyStatement::File& file) {
  try {
    auto statement = std::make_shared<ClientStatement>();
    statement->text = copy_of_file(text, file, "file of the client");
    statement->outline = outline_of(statement->text);
    statement->prepared = client_.session().prepare(statement->text);
    return statement;
  } catch (const Error& error) {
    const bool before = error.span() && error.span()->end <= file.place.begin;
    throw_at(error, before ? error.span() : file.options, error.hint());
  }
}

}  // namespace eindb
