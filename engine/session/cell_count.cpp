#include "engine/session/cell_count.hpp"

#include <array>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/session/open_database.hpp"
#include "parser/token_value.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {
namespace {

constexpr const char* kCellCount = "eindb_cell_count";

std::string doubled(std::string_view text, char quote) {
  std::string out;
  for (const char c : text) out += c == quote ? std::string(2, c) : std::string(1, c);
  return out;
}

// The name in "name", `name`, [name] or a bare word.
std::optional<std::string> name_at(const Token& token) {
  if (token.is(Token::Kind::Word)) return std::string(token.text);
  if (!token.is(Token::Kind::QuotedName)) return std::nullopt;
  return unquote(token);
}

SqliteValue count_cells(const std::string& name, OpenDatabase& database) {
  if (const auto tensor = database.find_tensor(name)) return tensor->grid.shape().element_count();
  throw Error(ErrorKind::Busy, "tensor " + name + " was dropped while the statement began", std::nullopt,
              "run it again");
}

}  // namespace

std::string CellCount::sql() const {
  return std::string("SELECT ") + kCellCount + "('" + doubled(table, '\'') + "') AS \"" + doubled(column, '"') + '"';
}

std::optional<CellCount> cell_count(std::string_view sql) {
  Tokenizer tokenizer(sql);
  if (!tokenizer.next().is_word("SELECT")) return std::nullopt;
  const auto count = tokenizer.next();
  if (!count.is_word("COUNT") || !tokenizer.next().is_symbol('(') || !tokenizer.next().is_symbol('*'))
    return std::nullopt;
  const auto close = tokenizer.next();
  if (!close.is_symbol(')')) return std::nullopt;
  CellCount out;
  out.column = sql.substr(count.span.begin, close.span.end - count.span.begin);
  auto token = tokenizer.next();
  if (token.is_word("AS")) {
    const auto alias = name_at(tokenizer.next());
    if (!alias) return std::nullopt;
    out.column = *alias;
    token = tokenizer.next();
  }
  if (!token.is_word("FROM")) return std::nullopt;
  const auto table = name_at(tokenizer.next());
  auto end = tokenizer.next();
  if (end.is_word("AS") && name_at(tokenizer.next())) end = tokenizer.next();
  if (end.is_symbol(';')) end = tokenizer.next();
  if (!table || !end.is(Token::Kind::End)) return std::nullopt;
  out.table = *table;
  return out;
}

void add_cell_count(OpenDatabase& database) {
  database.connection().add_function({.name = kCellCount,
                                      .arguments = 1,
                                      .body = [&database](std::span<const SqliteValue> arguments) -> SqliteValue {
                                        DCHECK(arguments.size() == 1, "a function gets the arguments that it takes");
                                        const auto* name = std::get_if<std::string>(&arguments[0]);
                                        if (name == nullptr) return std::monostate();
                                        return count_cells(*name, database);
                                      },
                                      .result = "INTEGER"});
}

}  // namespace eindb
