#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "engine/dialect/sql_text.hpp"
#include "parser/tokenizer.hpp"

namespace eindb::dialect {

/// Thrown for what the translation does not know; the statement is then left as it is.
struct NotTranslated {};

/// A part of the statement and what stands in its place.
struct TextEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  SqlText text = {};
};

/// The token that begins at `place`.
Token token_at(std::string_view statement, std::size_t place);

/// Whether SQLite reserves the word, which PostgreSQL takes as a name of tables and columns.
bool is_reserved_by_sqlite(const Token& token);
/// Whether `place` is in one of the parts.
bool is_edited(std::size_t place, std::span<const TextEdit> edits);

/// Quotes the names from `place` on that SQLite reserves.
void quote_names(std::string_view statement, std::size_t place, std::vector<TextEdit>& edits);
/// Removes public, the schema of all tables, before their names.
void drop_schema(std::string_view statement, std::vector<TextEdit>& edits);

/// The statement with its parts replaced. The parts must not overlap. Throws NotTranslated if there are none.
SqlText edited(std::string_view statement, std::vector<TextEdit> edits);

}  // namespace eindb::dialect
