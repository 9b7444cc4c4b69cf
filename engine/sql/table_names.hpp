#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/letter_case.hpp"
#include "parser/ast.hpp"
#include "parser/token.hpp"
#include "parser/token_value.hpp"

namespace eindb {

/// The name of a table in SQL: other.X.
struct TableName {
  std::string schema;  ///< empty: none is written
  std::string name;
  SourceSpan span;        ///< of both, within the SQL
  bool is_listed = true;  ///< in a list of tables, where it may have an alias; else behind IN, or before a column
};

/// The names of tables in a statement, in the order of the text, except those in its EINSUM queries. Refers to the
/// text.
class TableNames {
 public:
  explicit TableNames(const ast::Sql& sql);

  /// Those in lists of tables and behind IN: FROM other.X, JOIN X, i IN other.X.
  const std::vector<TableName>& tables() const { return tables_; }
  /// Those with a schema before columns: the other.X of other.X.val.
  const std::vector<TableName>& of_columns() const { return of_columns_; }
  /// Whether a WITH of the statement defines a table of this name.
  bool is_common(const std::string& name) const { return common_.contains(to_lower(name)); }
  /// The table that an INSERT, UPDATE or DELETE writes.
  std::optional<TableName> written() const;

 private:
  /// A token of SQL, and whether a table stands there. A query in parentheses is one token, which is no name.
  struct PlacedToken {
    Token token;
    bool takes_table = false;
  };

  static std::vector<PlacedToken> placed_tokens(const ast::Sql& sql);
  bool is_symbol(std::size_t n, std::string_view symbol) const {
    return n < tokens_.size() && tokens_[n].token.is_symbol(symbol);
  }
  bool is_word(std::size_t n, std::string_view word) const {
    return n < tokens_.size() && tokens_[n].token.is_word(word);
  }
  /// Empty if there is no name.
  std::string name_at(std::size_t n) const {
    if (n >= tokens_.size()) return {};
    const auto& token = tokens_[n].token;
    if (token.is(Token::Kind::Word)) return std::string(token.text);
    return token.is_quoted() ? unquote(token) : std::string();
  }
  bool begins_query(std::size_t n) const { return is_word(n, "SELECT") || is_word(n, "VALUES") || is_word(n, "WITH"); }

  void read(std::size_t n);
  bool begins_common(std::size_t n) const;
  std::size_t behind_parenthesis(std::size_t n) const;
  TableName table_at(std::size_t n) const;

  std::vector<PlacedToken> tokens_;
  std::vector<TableName> tables_;
  std::vector<TableName> of_columns_;
  std::set<std::string> common_;  // in lower case
};

}  // namespace eindb
