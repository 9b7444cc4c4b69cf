#pragma once

#include <string>
#include <string_view>

namespace eindb::dialect {

/// The translation of a query or an expression that stays in the database's schema, behind a comment that keeps what
/// PostgreSQL's client wrote. The translation alone if it calls none of eindb's functions, so that PostgreSQL reads it
/// too, or if the original cannot stand in a comment.
std::string with_original(std::string_view translated, std::string_view original);

/// The text of a definition with the originals that with_original() kept in place of their translations. Each must be
/// the whole text or fill a pair of parentheses. A translation that has changed since, as when SQLite renames a table
/// in it, stays without its comment. Linear time.
std::string as_written(std::string_view definition);

/// The query of a CREATE VIEW, as it was written; empty if the text is no such statement.
std::string query_of_view(std::string_view create_view);

}  // namespace eindb::dialect
