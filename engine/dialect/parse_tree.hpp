#pragma once

#include <pg_query/pg_query.pb-c.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace eindb::dialect {

using PgNode = PgQuery__Node;

/// The syntax tree of one statement of PostgreSQL's SQL, by PostgreSQL's own parser (libpg_query). Locations in it are
/// positions in the text, in bytes.
class ParseTree {
 public:
  /// nullopt if the text is not one statement of PostgreSQL's grammar. Throws CodedError{54001} if it is nested so
  /// deeply that the parser's recursion might exhaust the stack, {54000} if it is too long, and if memory is exhausted.
  static std::optional<ParseTree> parse(std::string_view text);

  const PgNode& statement() const;

 private:
  struct Free {
    void operator()(PgQuery__ParseResult* tree) const noexcept;
  };
  explicit ParseTree(PgQuery__ParseResult* tree) : tree_(tree) {}

  std::unique_ptr<PgQuery__ParseResult, Free> tree_;
};

/// What PostgreSQL's grammar has against a text.
struct SyntaxError {
  std::string message;    ///< syntax error at or near "x"
  std::size_t place = 0;  ///< in the text, in bytes
};
/// nullopt for a statement that the grammar takes, and for what is too deep or too long for it.
std::optional<SyntaxError> syntax_error(std::string_view text);

/// A repeated field as a span: nodes(select.n_target_list, select.target_list).
inline std::span<PgNode* const> nodes(std::size_t count, PgNode** first) { return {first, count}; }

}  // namespace eindb::dialect
