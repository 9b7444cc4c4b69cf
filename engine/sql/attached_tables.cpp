#include "engine/sql/attached_tables.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "common/letter_case.hpp"
#include "parser/statement_outline.hpp"
#include "parser/table_position.hpp"
#include "parser/token_value.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {
namespace {

/// The most levels of views in views of an attached database.
constexpr int kDeepestAttachedView = 20;

// ---- Names in the text

/// A token of SQL, and whether a table stands there. A query in parentheses is one token, which is no name.
struct PlacedToken {
  Token token;
  bool takes_table = false;
};

std::vector<PlacedToken> placed_tokens(const ast::Sql& sql) {
  std::vector<PlacedToken> tokens;
  TablePosition position;
  Tokenizer tokenizer(sql.text);
  std::size_t query = 0;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       token = tokenizer.next()) {
    if (query < sql.queries.size() && token.span.begin == sql.queries[query].span.begin - sql.span.begin) {
      tokenizer.skip_to(sql.queries[query].span.end - sql.span.begin);
      ++query;
      token = {Token::Kind::QuotedName, "\"\"", token.span};
    }
    tokens.push_back({token, position.takes_table()});
    position.see(token);
  }
  return tokens;
}

/// What SQL says of tables: other.X in a list of tables or behind IN, and the other.X of other.X.val.
struct TableName {
  std::string schema;  ///< empty: none is written
  std::string name;
  SourceSpan span;  ///< of both
  bool is_listed = true;
};

class TableNames {
 public:
  explicit TableNames(const ast::Sql& sql) : tokens_(placed_tokens(sql)) {
    for (std::size_t n = 0; n < tokens_.size(); ++n) read(n);
  }

  const std::vector<TableName>& tables() const { return tables_; }
  const std::vector<TableName>& of_columns() const { return of_columns_; }
  /// Whether a WITH of the statement defines a table of this name.
  bool is_common(const std::string& name) const { return common_.contains(to_lower(name)); }
  /// The table that an INSERT, UPDATE or DELETE writes.
  std::optional<TableName> written() const;

 private:
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

TableName TableNames::table_at(std::size_t n) const {
  const bool has_schema = is_symbol(n + 1, ".") && !name_at(n + 2).empty();
  if (!has_schema) return {{}, name_at(n), tokens_[n].token.span};
  return {name_at(n), name_at(n + 2), {tokens_[n].token.span.begin, tokens_[n + 2].token.span.end}};
}

void TableNames::read(std::size_t n) {
  if (name_at(n).empty() || (n > 0 && is_symbol(n - 1, "."))) return;
  if (begins_common(n)) {
    common_.insert(to_lower(name_at(n)));
    return;
  }
  auto table = table_at(n);
  const auto behind = n + (table.schema.empty() ? 1 : 3);
  const bool behind_in = n > 0 && is_word(n - 1, "IN");
  if (tokens_[n].takes_table || behind_in) {
    table.is_listed = !behind_in;
    if (!begins_query(n) && !is_symbol(behind, "(")) tables_.push_back(std::move(table));
  } else if (!table.schema.empty() && is_symbol(behind, ".")) {
    of_columns_.push_back(std::move(table));
  }
}

// WITH a AS (...), b(x) AS NOT MATERIALIZED (...)
bool TableNames::begins_common(std::size_t n) const {
  if (n == 0 || !(is_word(n - 1, "WITH") || is_word(n - 1, "RECURSIVE") || is_symbol(n - 1, ","))) return false;
  auto next = is_symbol(n + 1, "(") ? behind_parenthesis(n + 1) : n + 1;
  if (!is_word(next++, "AS")) return false;
  if (is_word(next, "NOT")) ++next;
  if (is_word(next, "MATERIALIZED")) ++next;
  return is_symbol(next, "(") || (next < tokens_.size() && tokens_[next].token.text == "\"\"");
}

std::size_t TableNames::behind_parenthesis(std::size_t n) const {
  for (int depth = 0; n < tokens_.size(); ++n) {
    if (is_symbol(n, "(")) ++depth;
    if (is_symbol(n, ")") && --depth == 0) return n + 1;
  }
  return n;
}

std::optional<TableName> TableNames::written() const {
  std::size_t n = 0;
  while (is_word(n, "EXPLAIN") || is_word(n, "QUERY") || is_word(n, "PLAN")) ++n;
  const auto is_verb = [&] {
    return is_word(n, "INSERT") || is_word(n, "REPLACE") || is_word(n, "UPDATE") || is_word(n, "DELETE");
  };
  if (is_word(n, "WITH"))
    while (n < tokens_.size() && !is_verb() && !is_word(n, "SELECT"))
      n = is_symbol(n, "(") ? behind_parenthesis(n) : n + 1;
  if (!is_verb()) return std::nullopt;
  if (is_word(++n, "OR")) n += 2;
  if (is_word(n, "INTO") || is_word(n, "FROM")) ++n;
  return name_at(n).empty() ? std::nullopt : std::optional(table_at(n));
}

// ---- What they mean

class Resolver {
 public:
  Resolver(const ast::Sql& sql, const NamesBesideAttached& names)
      : sql_(sql),
        names_(names),
        written_(sql),
        is_stored_(outline_of(sql.text).stores_text && !makes_temporary(sql.text)) {}

  std::vector<NameForSqlite> run() {
    refuse_writing();
    for (const auto& table : written_.tables()) resolve(table);
    for (const auto& table : written_.of_columns()) resolve_column(table);
    std::sort(out_.begin(), out_.end(), [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
    return std::move(out_);
  }

 private:
  SourceSpan place(const TableName& table) const {
    return {table.span.begin + sql_.span.begin, table.span.end + sql_.span.begin};
  }
  bool has_object(std::string_view schema, const std::string& name) const {
    return !kind_of_object(schema, name, names_.connection).empty();
  }
  bool is_of_sqlite(const std::string& name) const {
    const auto folded = to_lower(name);
    return folded.starts_with("pragma_") || names_.is_of_sqlite(folded);
  }
  bool is_own_tensor(const std::string& name) const {
    return names_.is_of_program(name) || names_.catalog.find_in(kMainSchema, name);
  }

  void refuse_writing() const;
  void resolve(const TableName& table);
  void resolve_own(const TableName& table);
  bool resolve_in(const std::string& schema, const TableName& table);
  void resolve_column(const TableName& table);
  bool keeps_schema(const std::string& schema, const std::string& name) const;
  void check_view(const std::string& schema, const std::string& view, const TableName& table, int depth) const;

  const ast::Sql& sql_;
  const NamesBesideAttached& names_;
  const TableNames written_;
  const bool is_stored_;
  std::vector<NameForSqlite> out_;
};

void Resolver::refuse_writing() const {
  const auto target = written_.written();
  if (!target) return;
  const auto schema = names_.connection.attached_schema(target->schema);
  if (schema) throw refused_as_attached(*schema + "." + target->name, place(*target));
  if (!target->schema.empty() || has_object(kTemporarySchema, target->name) || has_object(kMainSchema, target->name) ||
      is_own_tensor(target->name))
    return;
  for (const auto& [attached, path] : names_.connection.attached())
    if (has_object(attached, target->name) || names_.catalog.find_in(attached, target->name))
      throw refused_as_attached(attached + "." + target->name, place(*target));
}

void Resolver::resolve(const TableName& table) {
  if (!table.schema.empty()) {
    if (const auto schema = names_.connection.attached_schema(table.schema)) resolve_in(*schema, table);
    return;
  }
  if (is_stored_ || written_.is_common(table.name) || has_object(kTemporarySchema, table.name) ||
      has_object(kMainSchema, table.name))
    return;
  if (is_own_tensor(table.name)) return resolve_own(table);
  if (is_of_sqlite(table.name)) return;
  for (const auto& [schema, path] : names_.connection.attached())
    if (resolve_in(schema, table)) return;
}

// SQLite would rather take a table of an attached database than the tensor.
void Resolver::resolve_own(const TableName& table) {
  const auto attached = names_.connection.attached();
  if (std::any_of(attached.begin(), attached.end(),
                  [&](const auto& each) { return has_object(each.schema, table.name); }))
    out_.push_back({table.span, "main." + quote_identifier(table.name)});
}

bool Resolver::resolve_in(const std::string& schema, const TableName& table) {
  const auto full_name = schema + "." + table.name;
  const auto kind = kind_of_object(schema, table.name, names_.connection);
  const bool is_tensor = names_.catalog.find_in(schema, table.name).has_value();
  if (is_tensor && !kind.empty()) {
    throw Error(ErrorKind::DuplicateName, full_name + " is a " + kind + " and a tensor", place(table),
                "open that file by itself, and give one of them another name");
  }
  if (kind == "view") check_view(schema, table.name, table, 0);
  if (!is_tensor) return !kind.empty();
  if (is_stored_) throw refused_in_view(full_name, place(table));
  with_place(place(table), [&] { return names_.catalog.get(full_name); });
  const bool has_alias = table.is_listed && !keeps_schema(schema, table.name);
  out_.push_back({table.span, quote_identifier(full_name), has_alias ? table.name : ""});
  return true;
}

// Whether columns are told apart by the schema: SELECT main.X.val, other.X.val FROM main.X JOIN other.X USING (i).
bool Resolver::keeps_schema(const std::string& schema, const std::string& name) const {
  const auto is_same = [&](const TableName& table) {
    return equal_ignoring_case(table.schema, schema) && equal_ignoring_case(table.name, name);
  };
  const auto is_namesake = [&](const TableName& table) {
    return equal_ignoring_case(table.name, name) && !equal_ignoring_case(table.schema, schema);
  };
  const auto& columns = written_.of_columns();
  const auto& tables = written_.tables();
  return std::any_of(columns.begin(), columns.end(), is_same) && std::any_of(tables.begin(), tables.end(), is_namesake);
}

void Resolver::resolve_column(const TableName& table) {
  const auto schema = names_.connection.attached_schema(table.schema);
  if (!schema || !names_.catalog.find_in(*schema, table.name)) return;
  const bool keeps = keeps_schema(*schema, table.name);
  out_.push_back({table.span, quote_identifier(keeps ? *schema + "." + table.name : table.name)});
}

void Resolver::check_view(const std::string& schema, const std::string& view, const TableName& table, int depth) const {
  if (depth > kDeepestAttachedView) return;  // SQLite tells of views that read themselves
  auto select = names_.connection.prepare("SELECT sql FROM " + quote_identifier(schema) +
                                          ".sqlite_schema WHERE type = 'view' AND name = ? COLLATE NOCASE");
  select.bind(1, view);
  if (!select.step()) return;
  const ast::Sql text{select.text(0), {}, {0, 0}};
  const TableNames read(text);
  for (const auto& each : read.tables()) {
    if (read.is_common(each.name) || (is_of_sqlite(each.name) && !is_own_tensor(each.name))) continue;
    const auto kind = kind_of_object(schema, each.name, names_.connection);
    if (kind == "view") check_view(schema, each.name, table, depth + 1);
    if (!kind.empty() || to_lower(each.name).starts_with("sqlite_")) continue;
    throw Error(ErrorKind::Unsupported,
                "the view " + schema + "." + view + " reads " + each.name +
                    ", and views of an attached database read its tables alone",
                place(table), "write its SELECT into the statement, with " + schema + "." + each.name);
  }
}

}  // namespace

std::optional<AttachedName> attached_name(std::string_view name, const SqliteConnection& connection) {
  const auto point = name.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  auto schema = connection.attached_schema(name.substr(0, point));
  if (!schema) return std::nullopt;
  return AttachedName{std::move(*schema), std::string(name.substr(point + 1))};
}

std::string kind_of_object(std::string_view schema, std::string_view name, SqliteConnection& connection) {
  auto select = connection.prepare("SELECT type FROM " + quote_identifier(schema) +
                                   ".sqlite_schema WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE");
  select.bind(1, name);
  return select.step() ? select.text(0) : std::string();
}

Error refused_as_attached(const std::string& what, std::optional<SourceSpan> place) {
  return {ErrorKind::ReadOnly, what + " is in an attached database, which statements only read", place,
          "open that file by itself to change it, or copy what it has: CREATE TENSOR X AS EINSUM X[i] = other.X[i], or "
          "CREATE TABLE t AS SELECT * FROM other.t"};
}

bool makes_temporary(std::string_view sql) {
  constexpr std::array<std::string_view, 3> kBefore{"CREATE", "OR", "REPLACE"};
  Tokenizer tokenizer(sql);
  auto token = tokenizer.next();
  while (std::any_of(kBefore.begin(), kBefore.end(), [&](auto word) { return token.is_word(word); }))
    token = tokenizer.next();
  return token.is_word("TEMP") || token.is_word("TEMPORARY");
}

Error refused_in_view(const std::string& tensor, SourceSpan place) {
  return {ErrorKind::Unsupported,
          "a view or trigger of the database cannot read " + tensor + ", which is attached by this session alone",
          place, "make it the session's own: CREATE TEMP VIEW"};
}

std::vector<NameForSqlite> names_for_sqlite(const ast::Sql& sql, const NamesBesideAttached& names) {
  if (!names.connection.has_attached()) return {};
  return Resolver(sql, names).run();
}

}  // namespace eindb
