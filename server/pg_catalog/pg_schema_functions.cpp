// Functions that read the texts of CREATE TABLE, for the tables of pg_catalog: constraints, which SQLite does not list
// by name, and modifiers of types.
#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/letter_case.hpp"
#include "engine/dialect/originals.hpp"
#include "engine/sql_functions/pg_values.hpp"
#include "engine/statement_text.hpp"
#include "server/pg_catalog/pg_functions.hpp"
#include "server/values/declared_type.hpp"

namespace eindb {
namespace {

/// Reads the constraints of a CREATE TABLE, in the order of its text, and names those without a name as PostgreSQL
/// does:
///
///     CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER CHECK (b > 0), CONSTRAINT both UNIQUE (a, b))
///     p t_pkey (a)    c t_b_check (b): b > 0    u both (a, b)
class ConstraintReader {
 public:
  ConstraintReader(std::string table, std::string_view sql)
      : table_(std::move(table)), sql_(sql), tokens_(tokens_of(sql, kSqliteRules)) {}

  nlohmann::json read() {
    Index i = 0;
    while (i + 1 < tokens_.size() && !tokens_[i].is_symbol('(')) ++i;
    while (i + 1 < tokens_.size()) {
      const auto begin = i + 1;
      i = end_of_item(begin);
      read_item(begin, i);
      if (!token(i).is_symbol(',')) break;
    }
    return std::move(out_);
  }

 private:
  using Index = std::size_t;

  const Token& token(Index i) const { return tokens_[std::min(i, tokens_.size() - 1)]; }
  static std::string name_of(const Token& token) {
    return token.is(Token::Kind::Word) ? std::string(token.text) : unquote(token);
  }

  Index closing(Index open) const {
    int depth = 0;
    for (auto i = open; i + 1 < tokens_.size(); ++i) {
      depth += tokens_[i].is_symbol('(') ? 1 : tokens_[i].is_symbol(')') ? -1 : 0;
      if (depth == 0) return i;
    }
    return tokens_.size() - 1;
  }
  /// The comma or parenthesis behind a column or a constraint.
  Index end_of_item(Index i) const {
    for (; i + 1 < tokens_.size() && !tokens_[i].is_symbol(',') && !tokens_[i].is_symbol(')'); ++i)
      if (tokens_[i].is_symbol('(')) i = closing(i);
    return i;
  }

  std::vector<std::string> names_in_parentheses(Index open) const {
    std::vector<std::string> names;
    if (!token(open).is_symbol('(')) return names;
    for (auto i = open + 1; i < closing(open); ++i)
      if (token(i).is_name() && (token(i - 1).is_symbol('(') || token(i - 1).is_symbol(',')))
        names.push_back(name_of(token(i)));
    return names;
  }

  void read_item(Index i, Index end) {
    constexpr std::array<std::string_view, 5> kBeginnings{"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"};
    const bool of_table = std::any_of(kBeginnings.begin(), kBeginnings.end(),
                                      [&](std::string_view word) { return token(i).is_word(word); });
    std::vector<std::string> own;
    if (!of_table) {
      own.push_back(name_of(token(i++)));
      columns_.push_back(to_lower(own.back()));
    }
    std::string name;
    for (; i < end; ++i) {
      const auto& word = token(i);
      const auto columns = [&](Index open) { return of_table ? names_in_parentheses(open) : own; };
      if (word.is_word("CONSTRAINT") && token(i + 1).is_name()) name = name_of(token(++i));
      else if (word.is_word("PRIMARY")) add('p', std::exchange(name, {}), columns(i + 2), "");
      else if (word.is_word("UNIQUE")) add('u', std::exchange(name, {}), columns(i + 1), "");
      else if (word.is_word("FOREIGN")) add('f', std::exchange(name, {}), columns(i + 2), "");
      else if (word.is_word("REFERENCES") && !of_table) add('f', std::exchange(name, {}), own, "");
      else if (word.is_word("CHECK") && token(i + 1).is_symbol('(')) add_check(i + 1, std::exchange(name, {}), own);
      else if (word.is_word("AS") && token(i + 1).is_symbol('(')) add_expression(i + 1, own);
      else if (word.is_word("NOT") || word.is_word("NULL") || word.is_word("DEFAULT")) name.clear();
      if (token(i).is_symbol('(')) i = closing(i);
    }
  }

  /// GENERATED ALWAYS AS (expression).
  void add_expression(Index open, const std::vector<std::string>& own) {
    const auto begin = token(open).span.end;
    add('g', "-", own, dialect::as_written(sql_.substr(begin, token(closing(open)).span.begin - begin)));
  }

  /// A condition on one column alone has that column's name, wherever it stands.
  void add_check(Index open, std::string name, std::vector<std::string> own) {
    const auto close = closing(open);
    if (own.empty()) {
      std::set<std::string> used;
      for (auto i = open + 1; i < close; ++i)
        if (token(i).is_name() && !token(i + 1).is_symbol('(')) used.insert(to_lower(name_of(token(i))));
      for (const auto& column : columns_)
        if (used.contains(column)) own.push_back(column);
    }
    const auto begin = token(open).span.end;
    add('c', std::move(name), own, dialect::as_written(sql_.substr(begin, token(close).span.begin - begin)));
  }

  void add(char type, std::string name, const std::vector<std::string>& columns, const std::string& text) {
    if (name.empty()) name = default_name(type, columns);
    names_.insert(name);
    auto lower = nlohmann::json::array();
    for (const auto& column : columns) lower.push_back(to_lower(column));
    out_.push_back({{"type", std::string(1, type)}, {"name", name}, {"columns", lower}, {"text", text}});
  }

  std::string default_name(char type, const std::vector<std::string>& columns) const {
    std::string name = table_;
    if (type != 'p' && (type != 'c' || columns.size() == 1))
      for (const auto& column : columns) name += "_" + column;
    name += type == 'p' ? "_pkey" : type == 'u' ? "_key" : type == 'f' ? "_fkey" : "_check";
    if (!names_.contains(name)) return name;
    for (int n = 1;; ++n)
      if (auto numbered = name + std::to_string(n); !names_.contains(numbered)) return numbered;
  }

  std::string table_;
  std::string_view sql_;
  std::vector<Token> tokens_;
  std::vector<std::string> columns_;  // in lower case
  std::set<std::string> names_;
  nlohmann::json out_ = nlohmann::json::array();
};

SqliteValue constraints(PgValues values) {
  const auto sql = text_of(values[1]);
  return ConstraintReader(text_of(values[0]), sql)
      .read()
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// varchar(20) has 24, numeric(10,2) has 10 * 65536 + 2 + 4, types without a modifier -1.
SqliteValue type_modifier(PgValues values) { return integer_value(declared_modifier(text_of(values[0]))); }

constexpr std::array kSchemaFunctions{
    PgFunction{"eindb_constraints", 2, "TEXT", &constraints},
    PgFunction{"eindb_type_modifier", 1, "INTEGER", &type_modifier},
};

}  // namespace

std::vector<SqlFunction> pg_schema_functions() { return sql_functions(kSchemaFunctions, true); }

}  // namespace eindb
