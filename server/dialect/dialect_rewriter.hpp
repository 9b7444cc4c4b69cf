#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.hpp"
#include "engine/statement_text.hpp"
#include "server/dialect/dialect.hpp"

namespace eindb {

/// Whether PgCatalog has a function of this name, given in lower case.
bool is_catalog_function(std::string_view name);

/// Rewrites the tokens of one SQL statement from left to right and keeps the text between them.
///
/// The first pass handles table functions and other sources in FROM, since their names are used both before it (in the
/// list of SELECT) and after it:
///
///     SELECT s.r FROM generate_series(1, 3) AS s(r)  ->  SELECT s.value FROM json_each(pg_series(1, 3)) AS s
///
/// The second pass has a rule for each word and operator that SQLite lacks. Casts follow their operand, so the pass
/// remembers where the last operand began:
///
///     a.b(c)[1]::int8    [ is met: operand at a    ]: again    :: is met: "CAST(" goes before a
///
/// Used once, for one statement.
class DialectRewriter {
 public:
  DialectRewriter(std::string_view statement, std::vector<Token> tokens);
  Translation run();

 private:
  using Index = std::size_t;  // of a token
  static constexpr Index kNone = static_cast<Index>(-1);

  /// The change of a token.
  struct Edit {
    std::optional<std::string> replacement;
    int first_prefix = -1;  // index into prefixes_ of the text before it
  };
  struct Prefix {
    std::string_view text;
    int next;
  };
  /// An open parenthesis or bracket in the second pass.
  struct Frame {
    enum class Kind : std::uint8_t { Plain, Cast, Substring, Aggregate };
    Kind kind = Kind::Plain;
    Index operand = kNone;  // begin of the operand that it ends
    Index end = kNone;      // the closing token
    std::size_t cases = 0;  // number of CASE open before it
    bool has_limit = false;
    std::string_view key_columns = {};  // an array whose elements are still to be joined to this SELECT
  };
  using Rule = Index (DialectRewriter::*)(Index);
  struct WordRule {
    std::string_view word;
    Rule rule;
  };
  static const WordRule* find_rule(std::string_view word);

  const Token& token(Index i) const { return tokens_[i < tokens_.size() ? i : tokens_.size() - 1]; }
  const Token& before(Index i, Index count = 1) const;
  std::string_view source(Index begin, Index end) const;
  void replace(Index i, std::string text) {
    CHECK(i < edits_.size(), "what is replaced is a token of the statement");
    edits_[i].replacement = std::move(text);
  }
  void drop(Index begin, Index end);
  void put_before(Index i, std::string_view text);
  void match_parentheses();
  bool is_matched() const;

  // First pass.
  void rewrite_tables();
  Index table_begin(Index name) const;
  void rewrite_table_function(Index name);
  void rewrite_lateral(Index lateral);
  void rewrite_column_list(Index open);
  /// Reads [AS] alias [(column, ...)] at `i`.
  struct Alias {
    Index name = kNone;
    std::vector<Index> columns;
    Index list = kNone;  // its parentheses
    Index end = 0;
  };
  Alias read_alias(Index i) const;
  void name_elements(const Alias& alias);
  void mark_alias(const Alias& alias);
  void rename_elements();

  // Second pass.
  void rewrite_expressions();
  Index step(Index i);
  Index step_word(Index i);
  Index step_symbol(Index i);
  Index step_operator(Index i);
  void compare_flag(Index i);
  Index take_operand(Index i);
  void open(Index i);
  void close(Index i);
  Index cast(Index i);
  void note_parameter(Index operand, Index cast, DataType type);
  Index match_regex(Index i, std::string_view rewritten);
  Index subscript(Index i);
  Index field(Index i);
  Index key_column(Index i);
  void join_key_columns(Index i);
  Index any_of(Index i, bool negated);

  // Rules for words (dialect_rules.cpp). Each is called at its word and returns the next token to handle.
  Index on_array(Index i);
  Index on_array_agg(Index i);
  Index on_as(Index i);
  Index on_case(Index i);
  Index on_cast(Index i);
  Index on_collate(Index i);
  Index on_end(Index i);
  Index on_fetch(Index i);
  Index on_for(Index i);
  Index on_from(Index i);
  Index on_greatest(Index i);
  Index on_ilike(Index i);
  Index on_information_schema(Index i);
  Index on_json_build_object(Index i);
  Index on_least(Index i);
  Index on_left(Index i);
  Index on_like(Index i);
  Index on_limit(Index i);
  Index on_offset(Index i);
  Index on_operator(Index i);
  Index on_order(Index i);
  Index on_pg_catalog(Index i);
  Index on_pg_get_keywords(Index i);
  Index on_public(Index i);
  Index on_right(Index i);
  Index on_session_name(Index i);
  Index on_set_function(Index i);
  Index on_string_agg(Index i);
  Index on_substring(Index i);
  Index on_trim(Index i);
  Index on_user(Index i);
  Index on_where(Index i);
  Index call_renamed(Index i, std::string_view name);
  Index keyword(Index i);

  Translation assemble() const;

  std::string_view statement_;
  std::vector<Token> tokens_;  // followed by End
  std::vector<Edit> edits_;    // by token
  std::vector<Prefix> prefixes_;
  std::deque<std::string> texts_;                             // storage for the texts of prefixes
  std::vector<Index> match_;                                  // by token, the matching parenthesis or bracket
  std::map<std::string, std::string, std::less<>> elements_;  // "s", "s.r" -> "s.value"
  std::vector<bool> is_alias_;                   // by token, whether it defines a name rather than using one
  std::vector<Frame> frames_;                    // the first is the statement
  std::vector<Index> cases_;                     // position of each open CASE
  Frame::Kind next_frame_ = Frame::Kind::Plain;  // of the next parenthesis
  Index operand_ = kNone;                        // begin of the operand that ended with the last token
  bool uses_catalog_ = false;
  std::vector<Translation::ParameterType> parameter_types_;
};

}  // namespace eindb
