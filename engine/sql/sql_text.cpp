#include "engine/sql/sql_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <variant>

#include "common/check.hpp"
#include "parser/bracket_indices.hpp"
#include "parser/query_results.hpp"
#include "parser/table_position.hpp"
#include "parser/token_value.hpp"
#include "parser/tokenizer.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {
namespace {

bool is_one_of(const Token& token, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return token.is_word(word); });
}

/// Words that may follow a table; any other word is its alias.
constexpr std::array<std::string_view, 21> kNoTableAlias{
    "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "NATURAL",  "LEFT",
    "RIGHT", "FULL",  "INNER",  "CROSS",  "OUTER", "JOIN",  "ON",    "USING",     "NOT",    "RETURNING"};

/// The name in brackets that begins with the token, for SQLite also over several lines; empty if there is none.
std::string_view bracket_at(const Token& token, std::string_view sql) {
  if (token.is_quoted() && token.text.front() == '[') return token.text;
  const auto close = token.is_symbol('[') ? sql.find(']', token.span.begin) : std::string_view::npos;
  return close == std::string_view::npos ? "" : sql.substr(token.span.begin, close + 1 - token.span.begin);
}

/// Whether a name in brackets holds what only a subscript would: [1,j], [0:2], [-1], [$1], [].
bool holds_indices(std::string_view bracketed) {
  const auto inner = bracketed.substr(1, bracketed.size() - 2);
  const auto first = inner.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || inner.find_first_of(",:") != std::string_view::npos ||
         std::string_view("0123456789-$").find(inner[first]) != std::string_view::npos;
}

bool has_alias(Tokenizer after) {
  const auto next = after.next();
  if (next.is_quoted()) return true;
  return next.is(Token::Kind::Word) && !is_one_of(next, kNoTableAlias);
}

/// sales for data/sales.csv.
std::string stem_of(std::string_view path) {
  const auto slash = path.rfind('/');
  const auto file = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return std::string(file.substr(0, file.rfind('.')));
}

/// A part of the SQL that gives way to a table.
struct Replaced {
  SourceSpan place;  ///< in the statement
  std::string table;
  std::string alias;      ///< unless the user gives one; empty: none
  bool is_result = true;  ///< the table holds the result of a query or file, which may stand for an expression
};

/// The SQL that replaces the part, in a list of tables or elsewhere.
std::string replacement_for(const Replaced& part, bool takes_table, const Tokenizer& after) {
  if (!takes_table && part.is_result) return "(SELECT * FROM " + part.table + ")";
  if (!takes_table || part.alias.empty() || has_alias(after)) return part.table;
  return part.table + " AS " + quote_identifier(part.alias);
}

std::vector<Replaced> replaced_parts(const ast::Sql& sql, const std::vector<std::string>& tables,
                                     const std::vector<FileInSql>& files, const std::vector<NameForSqlite>& names) {
  CHECK(tables.size() == sql.queries.size() + files.size(), "every query and file gives way to a table");
  std::vector<Replaced> parts;
  const auto in_statement = [&](SourceSpan span) {
    return SourceSpan{span.begin + sql.span.begin, span.end + sql.span.begin};
  };
  for (const auto& name : names) parts.push_back({in_statement(name.span), name.text, name.alias, false});
  for (std::size_t n = 0; n < sql.queries.size(); ++n)
    parts.push_back({sql.queries[n].span, tables[n], result_names(sql.queries[n].query).front()});
  for (std::size_t n = 0; n < files.size(); ++n)
    parts.push_back({in_statement(files[n].span), tables[sql.queries.size() + n], stem_of(files[n].path)});
  std::sort(parts.begin(), parts.end(),
            [](const Replaced& a, const Replaced& b) { return a.place.begin < b.place.begin; });
  return parts;
}

/// A name as "name", [name], `name`, 'name' or a bare word.
struct Name {
  std::string text;
  SourceSpan span;
  std::string schema = {};  ///< before it
};

std::optional<Name> name_in(const Token& token) {
  if (token.is(Token::Kind::Word)) return Name{std::string(token.text), token.span};
  if (token.is_quoted()) return Name{unquote(token), token.span};
  return std::nullopt;
}

/// Reads the name at the start of `tokenizer`, with a schema before it; nullopt if there is none.
std::optional<Name> take_name(Tokenizer& tokenizer) {
  auto name = name_in(tokenizer.next());
  auto ahead = tokenizer;
  if (!name || !ahead.next().is_symbol('.')) return name;
  tokenizer = ahead;
  auto behind = name_in(tokenizer.next());
  if (behind) behind->schema = std::move(name->text);
  return behind;
}

void skip_words(Tokenizer& tokenizer, std::span<const std::string_view> words) {
  for (auto ahead = tokenizer; is_one_of(ahead.next(), words); ahead = tokenizer) tokenizer = ahead;
}

/// Moves past the next occurrence of the word; false if there is none.
bool skip_past(Tokenizer& tokenizer, std::string_view word) {
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next())
    if (token.is_word(word)) return true;
  return false;
}

constexpr std::array<std::string_view, 3> kExplain{"EXPLAIN", "QUERY", "PLAN"};
constexpr std::array<std::string_view, 4> kBeforeKind{"TEMP", "TEMPORARY", "VIRTUAL", "UNIQUE"};
constexpr std::array<std::string_view, 3> kIfExists{"IF", "NOT", "EXISTS"};

/// The SQL after EXPLAIN QUERY PLAN, if it begins with that.
Tokenizer behind_explain(std::string_view sql) {
  Tokenizer tokenizer(sql);
  skip_words(tokenizer, kExplain);
  return tokenizer;
}

void add_target(std::vector<SchemaTarget>& targets, SchemaTarget::Use use, Tokenizer& tokenizer) {
  if (auto name = take_name(tokenizer))
    targets.push_back({use, std::move(name->schema), std::move(name->text), name->span});
}

void add_created(std::vector<SchemaTarget>& targets, Tokenizer& tokenizer) {
  skip_words(tokenizer, kBeforeKind);
  const auto kind = tokenizer.next();
  skip_words(tokenizer, kIfExists);
  if (kind.is_word("TABLE") || kind.is_word("VIEW")) add_target(targets, SchemaTarget::Use::Create, tokenizer);
  if (!kind.is_word("INDEX") && !kind.is_word("TRIGGER")) return;
  const auto use = kind.is_word("INDEX") ? SchemaTarget::Use::Index : SchemaTarget::Use::Trigger;
  if (take_name(tokenizer) && skip_past(tokenizer, "ON")) add_target(targets, use, tokenizer);
}

void add_altered(std::vector<SchemaTarget>& targets, Tokenizer& tokenizer) {
  if (!tokenizer.next().is_word("TABLE")) return;
  add_target(targets, SchemaTarget::Use::Alter, tokenizer);
  if (tokenizer.next().is_word("RENAME") && tokenizer.next().is_word("TO"))
    add_target(targets, SchemaTarget::Use::Create, tokenizer);
}

}  // namespace

SourceSpan RewrittenSql::in_statement(SourceSpan in_text) const {
  std::size_t text_end = 0;
  std::size_t statement_end = offset;
  for (const auto& piece : pieces) {
    if (piece.in_text.begin > in_text.begin) break;
    if (in_text.begin < piece.in_text.end) return piece.in_statement;
    text_end = piece.in_text.end;
    statement_end = piece.in_statement.end;
  }
  return {in_text.begin - text_end + statement_end, in_text.end - text_end + statement_end};
}

std::string RewrittenSql::restored(std::string fragment) const {
  for (const auto& [in_text, place] : pieces) {
    DCHECK(in_text.begin <= in_text.end && in_text.end <= text.size() && place.begin >= offset,
           "what was replaced lies in the text, and in the statement");
    const auto replaced = text.substr(in_text.begin, in_text.end - in_text.begin);
    const auto written = original.substr(place.begin - offset, place.end - place.begin);
    if (const auto at = fragment.find(replaced); at != std::string::npos)
      fragment.replace(at, replaced.size(), written);
  }
  return fragment;
}

std::vector<FileInSql> files_in(const ast::Sql& sql) {
  std::vector<FileInSql> files;
  if (sql.text.find('\'') == std::string::npos) return files;
  TablePosition position;
  Tokenizer tokenizer(sql.text);
  std::size_t query = 0;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    if (query < sql.queries.size() && token.span.begin == sql.queries[query].span.begin - sql.span.begin) {
      tokenizer.skip_to(sql.queries[query].span.end - sql.span.begin);
      ++query;
      position.see({Token::Kind::QuotedName, "\"\"", token.span});
      continue;
    }
    if (token.is(Token::Kind::String) && position.takes_table()) {
      auto path = unquote(token);
      if (has_file_extension(path)) files.push_back({std::move(path), token.span});
    }
    position.see(token);
  }
  return files;
}

RewrittenSql rewrite_queries(const ast::Sql& sql, const std::vector<std::string>& tables,
                             const std::vector<FileInSql>& files, const std::vector<NameForSqlite>& names) {
  RewrittenSql out{.text = {}, .pieces = {}, .offset = sql.span.begin, .original = sql.text};
  const auto replaced = replaced_parts(sql, tables, files, names);
  TablePosition position;
  Tokenizer tokenizer(sql.text);
  std::size_t copied = 0;
  for (std::size_t n = 0; n < replaced.size();) {
    const auto token = tokenizer.next();
    CHECK(!token.is(Token::Kind::End), "queries stand in the SQL where the parser found them");
    const auto place = replaced[n].place;
    CHECK(place.begin >= out.offset + copied, "queries in SQL come one after the other");
    if (token.span.begin != place.begin - out.offset) {
      position.see(token);
      continue;
    }
    out.text.append(sql.text, copied, token.span.begin - copied);
    copied = place.end - out.offset;
    tokenizer.skip_to(copied);
    const auto replacement = replacement_for(replaced[n], position.takes_table(), tokenizer);
    out.pieces.push_back({{out.text.size(), out.text.size() + replacement.size()}, place});
    out.text += replacement;
    position.see({Token::Kind::QuotedName, "\"\"", token.span});
    ++n;
  }
  out.text.append(sql.text, copied);
  return out;
}

std::vector<BracketAfterName> brackets_after_names(std::string_view sql) {
  std::vector<BracketAfterName> found;
  if (sql.find('[') == std::string_view::npos) return found;
  TablePosition position;
  Tokenizer tokenizer(sql);
  Token last;
  bool is_table = false;  // whether `last` is a table, or the schema or the point before one
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    const auto bracket = bracket_at(token, sql);
    const bool named = last.is(Token::Kind::Word) || last.is_quoted();
    if (!bracket.empty() && (named || last.is_symbol(')'))) {
      const bool close = last.span.end == token.span.begin;
      const bool indices = holds_indices(bracket);
      if ((is_table && named) || (close && indices)) {
        const auto name = name_in(last);
        const SourceSpan span{token.span.begin, token.span.begin + bracket.size()};
        found.push_back({name ? name->text : "", span, close || indices});
      }
    }
    const bool continues = is_table && (token.is_symbol('.') || last.is_symbol('.'));
    is_table = continues || (position.takes_table() && !TablePosition::ends_tables(token));
    position.see(token);
    last = token;
  }
  return found;
}

std::vector<TensorPart> tensor_parts_in(const ast::Sql& sql) {
  std::vector<TensorPart> parts;
  if (sql.text.find('[') == std::string::npos) return parts;
  TablePosition position;
  Tokenizer tokenizer(sql.text);
  Token last;
  bool is_table = false;  // whether `last` stands where SQL takes a table
  std::size_t query = 0;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    if (query < sql.queries.size() && token.span.begin == sql.queries[query].span.begin - sql.span.begin) {
      tokenizer.skip_to(sql.queries[query].span.end - sql.span.begin);
      ++query;
      token = {Token::Kind::QuotedName, "\"\"", token.span};
    }
    const auto bracket = bracket_at(token, sql.text);
    const auto name = name_in(last);
    if (!bracket.empty() && is_table && name && last.span.end == token.span.begin)
      parts.push_back({name->text, bracket_indices(bracket), {last.span.begin, token.span.begin + bracket.size()}});
    is_table = position.takes_table() && !TablePosition::ends_tables(token) && !last.is_symbol('.');
    position.see(token);
    last = token;
  }
  return parts;
}

bool joins_rows(std::string_view sql) {
  constexpr std::array<std::string_view, 3> kJoins{"UNION", "INTERSECT", "EXCEPT"};
  Tokenizer tokenizer(sql);
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next())
    if (is_one_of(token, kJoins)) return true;
  return false;
}

std::vector<SchemaTarget> schema_targets(std::string_view sql) {
  std::vector<SchemaTarget> targets;
  auto tokenizer = behind_explain(sql);
  const auto verb = tokenizer.next();
  if (verb.is_word("CREATE")) add_created(targets, tokenizer);
  if (verb.is_word("ALTER")) add_altered(targets, tokenizer);
  if (verb.is_word("DROP")) {
    const auto kind = tokenizer.next();
    skip_words(tokenizer, kIfExists);
    if (kind.is_word("TABLE") || kind.is_word("VIEW")) add_target(targets, SchemaTarget::Use::Drop, tokenizer);
  }
  return targets;
}

std::optional<SourceSpan> find_name(std::string_view sql, std::string_view name) {
  Tokenizer tokenizer(sql);
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    const auto found = name_in(token);
    if (found && equal_ignoring_case(found->text, name)) return found->span;
  }
  return std::nullopt;
}

std::vector<std::string> names_in(std::string_view sql, std::size_t limit) {
  std::vector<std::string> names;
  Tokenizer tokenizer(sql);
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End) && names.size() < limit; token = tokenizer.next())
    if (auto name = name_in(token)) names.push_back(std::move(name->text));
  return names;
}

}  // namespace eindb
