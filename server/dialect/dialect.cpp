#include "server/dialect/dialect.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/letter_case.hpp"
#include "engine/dialect/translate.hpp"
#include "engine/statement_text.hpp"
#include "server/dialect/dialect_types.hpp"
#include "server/values/declared_type.hpp"

namespace eindb {
namespace {

template <std::size_t N>
bool is_one_of(const Token& token, const std::array<std::string_view, N>& words) {
  return token.is(Token::Kind::Word) &&
         std::any_of(words.begin(), words.end(), [&](std::string_view word) { return token.is_word(word); });
}

/// Whether TENSOR and a name follow INSERT INTO: a table may be named tensor.
bool inserts_into_tensor(Tokenizer behind_into) {
  constexpr std::array<std::string_view, 5> kAfterTable{"VALUES", "SELECT", "DEFAULT", "AS", "WITH"};
  if (!behind_into.next().is_word("TENSOR")) return false;
  const auto name = behind_into.next();
  return (name.is(Token::Kind::Word) || name.is_quoted()) && !is_one_of(name, kAfterTable);
}

/// Whether CREATE FUNCTION is PostgreSQL's, with types and a language; eindb's own has neither.
bool is_postgres_function(Tokenizer behind_function) {
  for (auto token = behind_function.next(); !token.is(Token::Kind::End); token = behind_function.next())
    if (token.is_word("RETURNS") || token.is_word("LANGUAGE")) return true;
  return false;
}

/// Whether SQLite runs `statement`, whose first word is `first`. Other statements are eindb's own.
bool is_sql(std::string_view statement, const Token& first, Tokenizer& tokenizer) {
  constexpr std::array<std::string_view, 12> kVerbs{"ALTER",   "DELETE", "DO",    "DROP",   "INSERT", "NOTIFY",
                                                    "REPLACE", "SELECT", "TABLE", "UPDATE", "VALUES", "WITH"};
  constexpr std::array<std::string_view, 3> kOurs{"TENSOR", "MACRO", "AGGREGATE"};
  constexpr std::array<std::string_view, 4> kBeforeKind{"OR", "REPLACE", "TEMP", "TEMPORARY"};
  auto second = tokenizer.next();
  if (first.is_word("CREATE"))
    while (is_one_of(second, kBeforeKind)) second = tokenizer.next();
  if (first.is_word("INSERT") && second.is_word("INTO") && inserts_into_tensor(tokenizer)) return false;
  if (second.is_word("FUNCTION") && (first.is_word("CREATE") || first.is_word("DROP")))
    return is_postgres_function(tokenizer);
  const bool explains = first.is_word("EXPLAIN");
  if ((explains ? second : first).is_word("WITH")) return !outline_of(statement).defines_tensors;
  if (explains) return second.is_word("QUERY") || is_one_of(second, kVerbs);
  return (first.is_word("CREATE") || is_one_of(first, kVerbs)) && !is_one_of(second, kOurs);
}

/// The type that a client should send; Unspecified leaves it to the description of the statement.
DataType data_type_of(dialect::SqlType type) {
  switch (type) {
    case dialect::SqlType::Bool: return DataType::Bool;
    case dialect::SqlType::Integer: return DataType::Int8;
    case dialect::SqlType::Numeric: return DataType::Numeric;
    case dialect::SqlType::Float: return DataType::Float8;
    case dialect::SqlType::Text: return DataType::Text;
    case dialect::SqlType::Bytea: return DataType::Bytea;
    case dialect::SqlType::Date: return DataType::Date;
    case dialect::SqlType::Time: return DataType::Time;
    case dialect::SqlType::Timestamp: return DataType::Timestamp;
    case dialect::SqlType::TimestampTz: return DataType::TimestampTz;
    case dialect::SqlType::Interval: return DataType::Interval;
    case dialect::SqlType::Uuid: return DataType::Uuid;
    default: return DataType::Unspecified;
  }
}

/// A parameter that a cast names has the cast's type: $1::int[], $2::date.
void note_cast_parameters(std::string_view statement, Translation& out) {
  const auto tokens = tokens_of(statement, kPostgresRules);
  for (std::size_t n = 0; n + 2 < tokens.size(); ++n) {
    if (!tokens[n].is(Token::Kind::Parameter) || tokens[n + 1].text != "::") continue;
    const auto type = read_type_name(tokens, n + 2).type;
    std::size_t number = 0;
    const auto digits = tokens[n].text.substr(1);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec == std::errc() && number > 0 && type != DataType::Unspecified)
      out.parameter_types.push_back({number, type});
  }
}

/// The type of a parameter that a client states; Unknown for types that the statement determines as well, arrays among
/// them.
dialect::SqlType stated_type(DataType type) {
  using dialect::SqlType;
  switch (type) {
    case DataType::Bool: return SqlType::Bool;
    case DataType::Int2:
    case DataType::Int4:
    case DataType::Int8:
    case DataType::Oid: return SqlType::Integer;
    case DataType::Float4:
    case DataType::Float8: return SqlType::Float;
    case DataType::Numeric: return SqlType::Numeric;
    case DataType::Text:
    case DataType::Varchar:
    case DataType::BpChar:
    case DataType::Name: return SqlType::Text;
    case DataType::Bytea: return SqlType::Bytea;
    case DataType::Date: return SqlType::Date;
    case DataType::Time: return SqlType::Time;
    case DataType::Timestamp: return SqlType::Timestamp;
    case DataType::TimestampTz: return SqlType::TimestampTz;
    case DataType::Interval: return SqlType::Interval;
    case DataType::Uuid: return SqlType::Uuid;
    default: return SqlType::Unknown;
  }
}

std::map<std::size_t, dialect::SqlType> stated_types(std::span<const std::int32_t> stated) {
  std::map<std::size_t, dialect::SqlType> types;
  for (std::size_t n = 0; n < stated.size(); ++n)
    if (const auto type = stated_type(static_cast<DataType>(stated[n])); type != dialect::SqlType::Unknown)
      types.emplace(n + 1, type);
  return types;
}

std::optional<Translation> translate_tree(std::string_view statement, const dialect::FindColumns& find_columns,
                                          std::span<const std::int32_t> stated) {
  const auto translated = dialect::translate(statement, find_columns, {.parameters = stated_types(stated)});
  if (!translated) {
    dialect::refuse_other_grammars(statement);
    return std::nullopt;
  }
  Translation out{.text = translated->text.str(), .uses_functions = true, .segments = {}, .parameter_types = {}};
  for (const auto& [at, original] : translated->text.marks()) {
    const auto end = Tokenizer(statement, original, kPostgresRules).next().span.end;
    out.segments.push_back({at, original, std::max(end, original), false});
  }
  // A text of which nothing is marked, such as SELECT 1 for SELECT alone, stands for the whole statement.
  if (out.segments.empty()) out.segments.push_back({0, 0, statement.size(), false});
  out.uses_catalog = translated->uses_catalog;
  out.column_types = translated->columns;
  note_cast_parameters(statement, out);
  for (const auto& [number, type] : translated->parameters)
    if (data_type_of(type) != DataType::Unspecified) out.parameter_types.push_back({number, data_type_of(type)});
  for (const auto& [number, declared] : translated->array_parameters)
    if (!declared.empty()) out.parameter_types.push_back({number, declared_data_type(declared)});
  return out;
}

/// The first token behind the parentheses that a query may begin with: (SELECT ...) UNION (SELECT ...).
Token after_parentheses(Tokenizer& tokenizer) {
  auto token = tokenizer.next();
  while (token.is_symbol('(')) token = tokenizer.next();
  return token;
}

/// Translates TRUNCATE [TABLE] x.
Translation translate_truncate(std::string_view statement, const Token& first, const Token& second) {
  const auto behind = second.is_word("TABLE") ? second.span.end : first.span.end;
  std::string text = "DELETE FROM";
  const auto begin = text.size();
  text += statement.substr(behind);
  return {.text = std::move(text),
          .uses_catalog = false,
          .segments = {{0, first.span.begin, behind, false}, {begin, behind, statement.size(), true}},
          .parameter_types = {}};
}

}  // namespace

SourceSpan Translation::original(SourceSpan translated) const {
  if (segments.empty()) return translated;
  const auto at = [&](std::size_t place, bool last) {
    const auto next = std::upper_bound(segments.begin(), segments.end(), place,
                                       [](std::size_t p, const Segment& segment) { return p < segment.begin; });
    const auto& segment = next == segments.begin() ? *next : *std::prev(next);
    if (!segment.is_copy) return last ? segment.original_end : segment.original_begin;
    return std::min(segment.original_begin + (place - segment.begin) + (last ? 1 : 0), segment.original_end);
  };
  const auto begin = at(translated.begin, false);
  const bool empty = translated.end <= translated.begin;
  return {begin, empty ? begin : std::max(begin, at(translated.end - 1, true))};
}

bool is_sql_for_sqlite(std::string_view statement) {
  Tokenizer tokenizer(statement, kPostgresRules);
  const auto first = after_parentheses(tokenizer);
  return first.is_word("TRUNCATE") || is_sql(statement, first, tokenizer);
}

Translation translate_dialect(std::string_view statement, const dialect::FindColumns& find_columns,
                              std::span<const std::int32_t> stated) {
  Tokenizer tokenizer(statement, kPostgresRules);
  const auto first = after_parentheses(tokenizer);
  if (first.is_word("TRUNCATE")) return translate_truncate(statement, first, tokenizer.next());
  if (!is_sql(statement, first, tokenizer)) return {};
  return translate_tree(statement, find_columns, stated).value_or(Translation{});
}

std::string default_for_column(std::string_view declared, const std::string& value) {
  const auto type = equal_ignoring_case(declared, "json text") ? "json" : dialect::without_quotes(declared);
  if (dialect::type_of_declared(type) == dialect::SqlType::Any) return value;
  const auto statement = "CREATE TABLE t (c " + std::string(type) + " " + value + ")";
  const auto no_tables = [](const std::string&, const std::string&) {
    return std::optional<std::vector<dialect::Column>>();
  };
  const auto made = translate_dialect(statement, no_tables);
  const auto at = made.text ? made.text->find("DEFAULT") : std::string::npos;
  return at == std::string::npos ? value : made.text->substr(at, made.text->size() - at - 1);
}

}  // namespace eindb
