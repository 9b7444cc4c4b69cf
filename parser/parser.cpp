#include "parser/parser.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "common/nearest_name.hpp"
#include "parser/expression_parser.hpp"
#include "parser/foreign_words.hpp"
#include "parser/query_parser.hpp"
#include "parser/repeat_parser.hpp"
#include "parser/sql_parser.hpp"
#include "parser/statement_parsers.hpp"
#include "parser/token_stream.hpp"
#include "parser/token_value.hpp"
#include "parser/tokenizer.hpp"
#include "parser/utf8.hpp"

namespace eindb {
namespace {

using statement_parsers::Node;
using StatementParser = Node (*)(TokenStream&);

Node query(TokenStream& tokens) {
  auto query = parse_query_or_update(tokens);
  if (std::holds_alternative<ast::Updates>(query.body)) return ast::UpdateTensor{std::move(query)};
  return query;
}

std::size_t parameters_of_sql(std::string_view text) {
  std::size_t highest = 0;
  Tokenizer tokenizer(text);
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next())
    if (token.is(Token::Kind::Word)) highest = std::max(highest, parameter_number(token.text));
  return highest;
}

// Counts up to the end, or to the first token that eindb's language lacks.
std::size_t parameters_of_tokens(std::string_view text) {
  std::size_t highest = 0;
  TokenStream tokens(text);
  tokens.allow_symbols("{}:");
  try {
    for (auto token = tokens.take(); token.kind != Token::Kind::End; token = tokens.take())
      if (token.kind == Token::Kind::Parameter) highest = std::max(highest, parameter_number(token.text));
  } catch (const Error&) {
  }
  return highest;
}

std::string_view part_of(std::string_view text, SourceSpan span) {
  return text.substr(span.begin, span.end - span.begin);
}

const ast::Sql* sql_of(const ast::Statement& statement) {
  if (const auto* create = std::get_if<ast::CreateTensor>(&statement.node))
    return std::get_if<ast::Sql>(&create->source);
  if (const auto* insert = std::get_if<ast::InsertInto>(&statement.node))
    return insert->query ? &*insert->query : nullptr;
  if (const auto* copy = std::get_if<ast::CopyTo>(&statement.node)) return std::get_if<ast::Sql>(&copy->source);
  return std::get_if<ast::Sql>(&statement.node);
}

struct OwnStatement {
  std::string_view word;
  StatementParser parse;
};

/// Statements of eindb with a first word that SQL does not have.
constexpr std::array kOwnStatements = {
    OwnStatement{"EINSUM", query},
    OwnStatement{"GRADIENT", query},
    OwnStatement{"JVP", query},
    OwnStatement{"SHOW", statement_parsers::show},
    OwnStatement{"DRAIN", statement_parsers::drain},
    OwnStatement{"DESCRIBE", statement_parsers::describe},
    OwnStatement{"DESC", statement_parsers::describe},
    OwnStatement{"COPY", statement_parsers::copy},
    OwnStatement{"COMMENT", statement_parsers::comment_on},
    OwnStatement{"BACKUP", statement_parsers::backup},
    OwnStatement{"ATTACH", statement_parsers::attach_database},
    OwnStatement{"DETACH", statement_parsers::detach_database},
    OwnStatement{"GRANT", statement_parsers::grant},
    OwnStatement{"REVOKE", statement_parsers::revoke},
    OwnStatement{"SET", statement_parsers::set},
    OwnStatement{"RESET", statement_parsers::reset},
    OwnStatement{"BEGIN", statement_parsers::begin},
    OwnStatement{"START", statement_parsers::begin},
    OwnStatement{"COMMIT", statement_parsers::commit},
    OwnStatement{"END", statement_parsers::commit},
    OwnStatement{"ROLLBACK", statement_parsers::rollback},
    OwnStatement{"SAVEPOINT", statement_parsers::savepoint},
    OwnStatement{"RELEASE", statement_parsers::release},
    OwnStatement{"EXECUTE", statement_parsers::execute},
    OwnStatement{"DEALLOCATE", statement_parsers::deallocate},
};

/// Statements of CREATE, DROP and ALTER by their second word; null for SQLite's.
constexpr std::array kCreateStatements = {
    OwnStatement{"TENSOR", statement_parsers::create_tensor},
    OwnStatement{"MACRO", statement_parsers::create_macro},
    OwnStatement{"FUNCTION", statement_parsers::create_macro},
    OwnStatement{"AGGREGATE", statement_parsers::create_macro},
    OwnStatement{"OR", statement_parsers::create_or_replace},
    OwnStatement{"USER", statement_parsers::create_user},
    OwnStatement{"TABLE", nullptr},
    OwnStatement{"INDEX", nullptr},
    OwnStatement{"VIEW", nullptr},
    OwnStatement{"TRIGGER", nullptr},
    OwnStatement{"UNIQUE", nullptr},
    OwnStatement{"VIRTUAL", nullptr},
    OwnStatement{"TEMP", nullptr},
    OwnStatement{"TEMPORARY", nullptr},
};
constexpr std::array kDropStatements = {
    OwnStatement{"TENSOR", statement_parsers::drop_tensor},
    OwnStatement{"MACRO", statement_parsers::drop_macro},
    OwnStatement{"FUNCTION", statement_parsers::drop_macro},
    OwnStatement{"AGGREGATE", statement_parsers::drop_macro},
    OwnStatement{"USER", statement_parsers::drop_user},
    OwnStatement{"TABLE", nullptr},
    OwnStatement{"INDEX", nullptr},
    OwnStatement{"VIEW", nullptr},
    OwnStatement{"TRIGGER", nullptr},
};
constexpr std::array kAlterStatements = {
    OwnStatement{"TENSOR", statement_parsers::alter_tensor},
    OwnStatement{"USER", statement_parsers::alter_user},
    OwnStatement{"WORKER", statement_parsers::alter_worker},
    OwnStatement{"TABLE", nullptr},
};

constexpr std::array<std::string_view, 12> kSqlStatements = {
    "SELECT", "INSERT",  "UPDATE",  "DELETE", "REPLACE", "VALUES",
    "PRAGMA", "ANALYZE", "REINDEX", "VACUUM", "WITH",    "TABLE",
};
/// First words shared by eindb and SQL; they are neither in kOwnStatements nor in kSqlStatements.
constexpr std::array<std::string_view, 6> kSharedWords = {"CREATE", "DROP", "ALTER", "EXPLAIN", "PREPARE", "REPEAT"};

/// The first words of a statement, enough to decide between eindb and SQL.
using Words = std::array<Token, 5>;

Words leading_words(std::string_view text, std::size_t begin) {
  Words words;
  Tokenizer tokenizer(text, begin);
  for (auto& word : words) word = tokenizer.next();
  return words;
}

/// The token as an error shows it: 'SELCT', or the end of the statement.
std::string found_text(const Token& token) {
  const bool end = token.is(Token::Kind::End) || token.is_symbol(';');
  if (end) return "the end of the statement";
  const bool string = token.text.front() == '\'';
  return describe(Token{string ? Token::Kind::String : Token::Kind::Word, token.text, {}});
}

[[noreturn]] void fail_unknown(const Token& found, std::string_view expected,
                               std::span<const std::string_view> candidates, std::string otherwise) {
  const auto nearest = nearest_name(found.text, candidates);
  throw Error(ErrorKind::Syntax, "expected " + std::string(expected) + ", found " + found_text(found), found.span,
              nearest ? "did you mean " + *nearest + "?" : std::move(otherwise));
}

[[noreturn]] void fail_unknown_statement(const Words& words) {
  std::vector<std::string_view> candidates(kSharedWords.begin(), kSharedWords.end());
  for (const auto& own : kOwnStatements) candidates.push_back(own.word);
  candidates.insert(candidates.end(), kSqlStatements.begin(), kSqlStatements.end());
  const auto& next = words[1].text;
  const bool definition = !next.empty() && (next.front() == '[' || next.front() == '=');
  if (definition) candidates.clear();
  constexpr const char* kQueryForm = "a query starts with EINSUM or SELECT: EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])";
  auto hint = definition ? "" : hint_for_statement(words[0].text);
  bool calls = false;
  for (std::size_t n = 1; n + 1 < words.size(); ++n)
    calls = calls || (words[n].is_word("EINSUM") && words[n + 1].is_symbol('('));
  if (calls) hint = "a statement begins with EINSUM, without a call: EINSUM 'ij,jk->ik' (X, Y)";
  if (words[0].is_symbol('}')) hint = "no '{' of a loop is open here";
  if (!hint.empty()) candidates.clear();
  fail_unknown(words[0], "a statement", candidates, hint.empty() ? kQueryForm : hint);
}

/// The parser for the second word of CREATE, DROP or ALTER; null if the statement is SQLite's.
template <std::size_t N>
StatementParser find_second(const Words& words, const std::array<OwnStatement, N>& table) {
  for (const auto& entry : table)
    if (words[1].is_word(entry.word)) return entry.parse;
  std::vector<std::string_view> candidates;
  std::string listed;
  for (const auto& entry : table) {
    candidates.push_back(entry.word);
    if (entry.word != "OR") listed += (listed.empty() ? "" : ", ") + std::string(entry.word);
  }
  if (words[1].is_word("ROLE"))
    fail_unknown(words[1], "the kind of object after " + std::string(words[0].text), {},
                 "who may log in is a USER, and its role is READ ONLY or READ WRITE");
  fail_unknown(words[1], "the kind of object after " + std::string(words[0].text), candidates, "one of " + listed);
}

/// EXPLAIN is eindb's unless a statement of SQL follows.
bool explains_query(const Words& words, Tokenizer after_explain) {
  if (words[1].is_word("WITH")) return starts_query(after_explain);
  if (words[1].is_word("UPDATE")) {
    after_explain.next();
    return starts_tensor_update(after_explain);
  }
  if (words[2].is_word("TENSOR")) return true;
  for (const auto word : kSqlStatements)
    if (words[1].is_word(word) && !words[1].is_word("ANALYZE")) return false;
  return !words[1].is_word("QUERY") && !words[1].is_word("CREATE") && !words[1].is_word("DROP") &&
         !words[1].is_word("ALTER");
}

/// `INSERT INTO tensor VALUES ...` inserts into an SQL table named tensor.
bool inserts_into_tensor(const Words& words) {
  const auto& name = words[3];
  const bool named = name.is(Token::Kind::Word) || name.is_quoted();
  if (!words[0].is_word("INSERT") || !words[1].is_word("INTO") || !words[2].is_word("TENSOR") || !named) return false;
  constexpr std::array<std::string_view, 5> kAfterTable = {"VALUES", "SELECT", "DEFAULT", "AS", "WITH"};
  return std::none_of(kAfterTable.begin(), kAfterTable.end(), [&](auto word) { return name.is_word(word); });
}

/// CREATE OR REPLACE [TEMP] VIEW, which engine/statements divides into statements of SQLite.
bool replaces_view(const Words& words) {
  return words[0].is_word("CREATE") && words[1].is_word("OR") && words[2].is_word("REPLACE") &&
         (words[3].is_word("VIEW") ||
          ((words[3].is_word("TEMP") || words[3].is_word("TEMPORARY")) && words[4].is_word("VIEW")));
}

bool creates_temporary_tensor(const Words& words) {
  return words[0].is_word("CREATE") && (words[1].is_word("TEMP") || words[1].is_word("TEMPORARY")) &&
         words[2].is_word("TENSOR");
}

/// The parser of a statement of eindb; null if it is SQLite's.
StatementParser find_parser(const Words& words, std::string_view text) {
  const auto& first = words[0];
  for (const auto& own : kOwnStatements)
    if (first.is_word(own.word)) return own.parse;
  if (replaces_view(words)) return nullptr;
  if (creates_temporary_tensor(words)) return statement_parsers::create_tensor;
  if (first.is_word("CREATE")) return find_second(words, kCreateStatements);
  if (first.is_word("DROP")) return find_second(words, kDropStatements);
  if (first.is_word("ALTER")) return find_second(words, kAlterStatements);
  if (first.is_word("ANALYZE") && words[1].is_word("TENSOR")) return statement_parsers::analyze_tensor;
  if (first.is_word("WITH")) return starts_query(Tokenizer(text, first.span.begin)) ? query : nullptr;
  if (first.is_word("EXPLAIN"))
    return explains_query(words, Tokenizer(text, first.span.end)) ? statement_parsers::explain : nullptr;
  if (inserts_into_tensor(words)) return statement_parsers::insert_into_tensor;
  if (first.is_word("UPDATE") && starts_tensor_update(Tokenizer(text, first.span.end))) return query;
  for (const auto sql : kSqlStatements)
    if (first.is_word(sql)) return nullptr;
  fail_unknown_statement(words);
}

ast::Statement parse_at(std::string_view text, std::size_t begin, const EnclosingLoops* loops = nullptr);

bool holds_password(const ast::Statement& statement) {
  return std::holds_alternative<ast::CreateUser>(statement.node) ||
         std::holds_alternative<ast::AlterUser>(statement.node);
}

/// Parses the statement at `begin`, with spans that count from there. Spans of errors refer to `text`.
ast::Statement parse_body(std::string_view text, std::size_t begin) {
  try {
    return parse_at(text.substr(begin), 0);
  } catch (const Error& error) {
    if (!error.span()) throw;
    const SourceSpan place{begin + error.span()->begin, begin + error.span()->end};
    throw Error(error.kind(), error.message(), place, error.hint());
  }
}

/// The types behind PREPARE p( up to the parenthesis that closes, as CREATE TABLE names them: numeric(10,2).
std::vector<std::string> parse_types(TokenStream& tokens) {
  std::vector<std::string> types(1);
  for (int depth = 1;;) {
    if (tokens.at(Token::Kind::End)) tokens.fail_expected("a closing parenthesis after the types of parameters");
    const auto token = tokens.take();
    depth += token.is_symbol('(') ? 1 : token.is_symbol(')') ? -1 : 0;
    if (depth == 0) return types;
    if (depth == 1 && token.is_symbol(',')) types.emplace_back();
    else types.back() += (types.back().empty() || token.is_symbol() ? "" : " ") + std::string(token.text);
  }
}

ast::Prepare parse_prepare(TokenStream& tokens) {
  ast::Prepare prepare;
  tokens.take();
  prepare.name = tokens.expect_name("a name for the prepared statement");
  if (tokens.accept_symbol("(")) prepare.types = parse_types(tokens);
  if (!tokens.accept_word("AS"))
    tokens.fail_expected("AS and a statement after " + prepare.name.text, "as in PREPARE row AS EINSUM Z[j] = X[$1,j]");
  if (tokens.at_word("PREPARE") || tokens.at(Token::Kind::End)) tokens.fail_expected("a statement to prepare");
  const auto begin = tokens.begin();
  auto statement = parse_body(tokens.text(), begin);
  if (holds_password(statement)) {
    throw Error(ErrorKind::Unsupported, "a statement with a password cannot be prepared: its text would be kept",
                prepare.name.span, "run it by itself");
  }
  prepare.body = tokens.text().substr(begin, statement.span.end);
  prepare.body_span = {begin, begin + statement.span.end};
  prepare.parameter_count = count_parameters(statement, prepare.body);
  prepare.statement = std::make_shared<const ast::Statement>(std::move(statement));
  tokens.skip_to(prepare.body_span.end);
  return prepare;
}

ast::Statement parse_in_loop(std::string_view text, std::size_t begin, const EnclosingLoops& loops);

/// Parses the statement whose first token is at or after `begin`, and ignores the text after it.
ast::Statement parse_at(std::string_view text, std::size_t begin, const EnclosingLoops* loops) {
  const auto words = leading_words(text, begin);
  const auto first = words[0].span.begin;
  if (words[0].is(Token::Kind::End) || words[0].is_symbol(';')) return {ast::Empty{}, {first, first}};
  TokenStream tokens(text, first, loops);
  if (words[0].is(Token::Kind::Unterminated)) tokens.peek();  // throws
  if (words[0].is_word("REPEAT")) {
    ast::Statement statement{parse_repeat(tokens, parse_in_loop), tokens.span_from(first)};
    if (loops == nullptr) std::get<ast::Repeat>(statement.node).parameter_count = count_parameters(statement, text);
    return statement;
  }
  if (words[0].is_word("PREPARE")) {
    auto prepare = parse_prepare(tokens);
    return {std::move(prepare), tokens.span_from(first)};
  }
  if (const auto parse = find_parser(words, text)) {
    auto node = parse(tokens);
    return {std::move(node), tokens.span_from(first)};
  }
  auto sql = parse_sql(text, first, SqlExtent::ToSemicolon, loops);
  const auto span = sql.span;
  return {std::move(sql), span};
}

enum class StatementEnding : std::uint8_t {
  Words,
  Expression,  ///< or a query: an operator would continue it
  Password,    ///< the following text may be part of the password
};

StatementEnding ending_of(const ast::Statement& statement) {
  if (holds_password(statement)) return StatementEnding::Password;
  const auto* const create = std::get_if<ast::CreateTensor>(&statement.node);
  const bool expression = std::holds_alternative<ast::Query>(statement.node) ||
                          std::holds_alternative<ast::CreateTensors>(statement.node) ||
                          std::holds_alternative<ast::UpdateTensor>(statement.node) ||
                          std::holds_alternative<ast::Explain>(statement.node) ||
                          std::holds_alternative<ast::CreateMacro>(statement.node) ||
                          (create != nullptr && std::holds_alternative<ast::Query>(create->source));
  return expression ? StatementEnding::Expression : StatementEnding::Words;
}

/// A hint for words after a complete statement: options without parentheses, DESCRIBE TENSOR X, EXECUTE p 1.
std::string hint_after_statement(std::string_view text, std::size_t begin) {
  TokenStream first(text, begin);
  if (first.at_word("COPY")) return "options stand in parentheses: (FORMAT csv, HEADER on)";
  if (first.at_word("EXECUTE")) return "arguments stand in parentheses: EXECUTE name(1, 2)";
  if (first.at_word("DESCRIBE") || first.at_word("DESC"))
    return "DESCRIBE takes the name of a tensor alone; for a query there is EXPLAIN";
  return {};
}

/// Checks that only spaces, comments and semicolons follow `statement`.
void expect_end(std::string_view text, SourceSpan statement, StatementEnding ending) {
  TokenStream tokens(text, statement.end);
  if (ending == StatementEnding::Password) tokens.conceal();
  if (!tokens.at(Token::Kind::End)) {
    if (ending == StatementEnding::Expression)
      tokens.fail_expected("an operator or the end of the statement", hint_after_expression(tokens));
    tokens.fail_expected("the end of the statement", hint_after_statement(text, statement.begin));
  }
  Tokenizer tokenizer(text, tokens.begin());
  auto next = tokenizer.next();
  while (next.is_symbol(';')) next = tokenizer.next();
  if (!next.is(Token::Kind::End))
    throw Error(ErrorKind::Syntax, "one statement at a time: another follows the semicolon", next.span);
}

ast::Statement parse_in_loop(std::string_view text, std::size_t begin, const EnclosingLoops& loops) {
  auto statement = parse_at(text, begin, &loops);
  if (holds_password(statement)) {
    throw Error(ErrorKind::Syntax, "a statement with a password inside of a loop: the text of a loop is kept",
                statement.span, "run it by itself");
  }
  if (!std::holds_alternative<ast::Repeat>(statement.node)) expect_end(text, statement.span, ending_of(statement));
  return statement;
}

void check_text(std::string_view text) {
  if (text.size() > kMaxStatementBytes)
    throw Error(ErrorKind::Syntax, "a statement longer than " + std::to_string(kMaxStatementBytes >> 20U) + " MiB",
                std::nullopt, "load large data with COPY, or split the statement");
  check_utf8(text);
}

}  // namespace

ast::Statement parse_statement(std::string_view text) {
  check_text(text);
  auto statement = parse_at(text, 0);
  expect_end(text, statement.span, ending_of(statement));
  return statement;
}

ast::Query parse_query(std::string_view text) {
  check_text(text);
  TokenStream tokens(text);
  auto query = parse_query(tokens);
  expect_end(text, query.span, StatementEnding::Expression);
  return query;
}

ast::Expression parse_expression(std::string_view text) {
  check_text(text);
  TokenStream tokens(text);
  auto expression = parse_expression(tokens);
  expect_end(text, expression.span, StatementEnding::Expression);
  return expression;
}

std::size_t count_parameters(const ast::Statement& statement, std::string_view text) {
  if (const auto* loop = std::get_if<ast::Repeat>(&statement.node)) {
    auto highest = parameters_of_tokens(part_of(text, {statement.span.begin, loop->body.front().span.begin}));
    for (const auto& inner : loop->body) highest = std::max(highest, count_parameters(inner, text));
    return highest;
  }
  const auto own = part_of(text, statement.span);
  // SQL reads X[$1] as a name, and TokenStream stops at tokens that only SQL has, so each may miss parameters of the
  // other.
  auto highest = std::max(parameters_of_sql(own), parameters_of_tokens(own));
  if (const auto* sql = sql_of(statement))
    for (const auto& embedded : sql->queries)
      highest = std::max(highest, parameters_of_tokens(part_of(text, embedded.query.span)));
  return highest;
}

}  // namespace eindb
