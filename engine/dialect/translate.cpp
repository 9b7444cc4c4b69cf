#include "engine/dialect/translate.hpp"

#include <algorithm>
#include <utility>

#include "common/coded_error.hpp"
#include "engine/dialect/parse_tree.hpp"
#include "engine/dialect/sqlite_tables.hpp"
#include "engine/dialect/translator.hpp"
#include "engine/dialect/trigger_parts.hpp"
#include "parser/query_parser.hpp"
#include "parser/table_position.hpp"
#include "parser/token_value.hpp"
#include "parser/tokenizer.hpp"

namespace eindb::dialect {
namespace {

/// Puts `replacement` in place of a part of the text that is not shorter; the remainder becomes spaces.
bool replace(std::string& text, std::size_t begin, std::size_t end, const std::string& replacement) {
  if (replacement.size() > end - begin) return false;
  text.replace(begin, end - begin, end - begin, ' ');
  text.replace(begin, replacement.size(), replacement);
  return true;
}

/// Whether the string is the path of a file that can stand in double quotes as well.
bool is_plain_path(std::string_view string) {
  const auto path = string.substr(1, string.size() - 2);
  return has_file_extension(path) && path.find_first_of("\"'") == std::string_view::npos;
}

/// The end of the bracket that begins at `begin`; 0 if none does.
std::size_t end_of_bracket(std::string_view statement, std::size_t begin) {
  if (begin >= statement.size() || statement[begin] != '[') return 0;
  const auto end = end_of_group(statement, begin);
  return end == begin ? 0 : end;
}

/// The statement with names in place of what PostgreSQL's grammar does not know, so that places stay:
///
///     FROM (EINSUM Z[i] = X[i])     FROM "q0"                a name for a query of eindb's where a table is expected,
///     WHERE i IN (EINSUM W[] = 3)   WHERE i IN (TABLE "q0")  and a query from it elsewhere
///     FROM X[0:10,:]                FROM "q0"                a part of a tensor likewise
///     FROM 'sales.csv'              FROM "sales.csv"
std::string with_placeholders(std::string_view statement) {
  std::string out(statement);
  TablePosition position;
  Tokenizer tokenizer(statement, kPostgresRules);
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       token = tokenizer.next()) {
    if (token.is(Token::Kind::String) && position.takes_table() && is_plain_path(token.text))
      out[token.span.begin] = out[token.span.end - 1] = '"';
    const auto end_of_part = position.takes_table() && token.is_name() ? end_of_bracket(statement, token.span.end) : 0;
    if (end_of_part > 0 && replace(out, token.span.begin, end_of_part, "\"" + einsum_name(token.span.begin) + "\"")) {
      tokenizer = Tokenizer(statement, end_of_part, kPostgresRules);
      position.see({Token::Kind::QuotedName, "\"\"", token.span});
      continue;
    }
    if (!token.is_symbol('(') || !Tokenizer(statement, token.span.end, kPostgresRules).next().is_word("EINSUM")) {
      position.see(token);
      continue;
    }
    const auto begin = token.span.begin;
    const auto end = end_of_group(statement, begin);
    if (end == begin) return out;
    const auto name = "\"" + einsum_name(begin) + "\"";
    if (!replace(out, begin, end, position.takes_table() ? name : "(TABLE " + name + ")")) return out;
    tokenizer = Tokenizer(statement, end, kPostgresRules);
    position.see({Token::Kind::QuotedName, "\"\"", token.span});
  }
  return out;
}

/// Puts parameters in place of the variables of loops, and returns the variables by the numbers of these: $9 for :t.
std::map<std::size_t, std::string> replace_variables(std::string& text, const std::vector<std::string>& variables) {
  std::map<std::size_t, std::string> numbers;
  if (variables.empty()) return numbers;
  const auto original = text;
  Tokenizer tokenizer(original, kEindbRules);
  auto before = tokenizer.next();
  for (auto token = before; !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       before = token, token = tokenizer.next()) {
    if (!before.is_symbol(':') || !token.is(Token::Kind::Word) || before.span.end != token.span.begin ||
        std::find(variables.begin(), variables.end(), token.text) == variables.end())
      continue;
    // The greatest number with as many digits as the name has letters, or a smaller one if that stands for another.
    constexpr std::size_t kMostDigits = 5;
    std::size_t number = 9;
    for (std::size_t n = 1; n < std::min(token.text.size(), kMostDigits); ++n) number = number * 10 + 9;
    while (numbers.contains(number) && numbers.at(number) != token.text) --number;
    numbers[number] = token.text;
    replace(text, before.span.begin, token.span.end, "$" + std::to_string(number));
  }
  return numbers;
}

/// A trigger is SQLite's, but the statements in it are PostgreSQL's.
Translated translate_trigger(std::string_view statement, const TriggerParts& parts, const FindColumns& find_columns) {
  Translated out;
  const auto columns = find_columns("", parts.table);
  Scope rows(nullptr);
  for (const char* name : {"new", "old"})
    rows.add({.name = name, .columns = columns.value_or(std::vector<Column>{}), .known = columns.has_value()});
  std::size_t copied = 0;
  for (const auto& [begin, end, is_condition] : parts.parts) {
    // Places stay if what stands before is blank.
    auto text = std::string(begin, ' ') + std::string(statement.substr(begin, end - begin));
    constexpr std::string_view kSelect = "SELECT ";
    if (is_condition) text.replace(begin - kSelect.size(), kSelect.size(), kSelect);
    const auto tree = ParseTree::parse(with_placeholders(text));
    if (!tree) refuse_other_grammars(text);
    out.text += SqlText(statement.substr(copied, begin - copied));
    copied = end;
    if (!tree) {
      out.text += SqlText(statement.substr(begin, end - begin));
      continue;
    }
    Translator translator(text, find_columns, {}, &rows);
    out.text += is_condition ? translator.condition_of(tree->statement()) : translator.statement(tree->statement());
    if (!translator.parameters().empty())
      throw CodedError("42P02", ErrorKind::Type, "there are no parameters in a trigger", "write their values");
  }
  out.text += SqlText(statement.substr(copied));
  return out;
}

}  // namespace

std::optional<Translated> translate(std::string_view statement, const FindColumns& find_columns, const Given& given) {
  if (const auto trigger = trigger_parts(statement)) return translate_trigger(statement, *trigger, find_columns);
  auto text = with_placeholders(statement);
  auto variables = replace_variables(text, given.variables);
  const auto tree = ParseTree::parse(text);
  if (!tree) {
    check_table_of_sqlite(statement);
    return std::nullopt;
  }
  Translator translator(statement, find_columns, given, nullptr, std::move(variables));
  try {
    auto text_of_all = translator.statement(tree->statement());
    Translated out{.text = std::move(text_of_all),
                   .parameters = translator.parameters(),
                   .array_parameters = translator.array_parameters(),
                   .uses_catalog = translator.uses_catalog(),
                   .columns = {}};
    for (const auto& column : translator.columns()) out.columns.push_back(declared_type(column));
    return out;
  } catch (const NotTranslated&) {
    return std::nullopt;
  }
}

void refuse_other_grammars(std::string_view statement, const Given& given) {
  Tokenizer tokenizer(statement, kPostgresRules);
  auto token = tokenizer.next();
  while (token.is_symbol('(')) token = tokenizer.next();
  const auto is_one_of = [&](auto... words) { return (token.is_word(words) || ...); };
  const bool defines = token.is_word("CREATE");
  if (token.is_word("EXPLAIN")) {
    token = tokenizer.next();
    if (token.is_word("QUERY")) return;  // SQLite's own plan
  } else if (defines) {
    // A table, view or index that stores a query or an expression.
    bool has_query = false;
    for (token = tokenizer.next(); !token.is(Token::Kind::End) && !has_query; token = tokenizer.next()) {
      if (is_one_of("TRIGGER", "VIRTUAL")) return;
      has_query = token.is_word("SELECT") || token.is_word("VALUES");
    }
    if (!has_query) return;
  }
  if (token.is_word("WITH") && starts_query(Tokenizer(statement, token.span.begin))) return;  // of tensors
  if (!defines && !is_one_of("SELECT", "VALUES", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE", "TABLE")) return;
  auto text = with_placeholders(statement);
  replace_variables(text, given.variables);
  const auto error = syntax_error(text);
  if (!error) return;
  const auto place = Tokenizer(statement, std::min(error->place, statement.size()), kPostgresRules).next().span;
  const bool resolves = token.is_word("REPLACE") || tokenizer.next().is_word("OR");
  throw CodedError("42601", ErrorKind::Syntax, error->message,
                   resolves ? "INSERT ... ON CONFLICT (column) DO NOTHING or DO UPDATE SET ... is PostgreSQL's form"
                            : "the server reads SQL by PostgreSQL's grammar; docs/server.md says what it takes beside",
                   place);
}

}  // namespace eindb::dialect
