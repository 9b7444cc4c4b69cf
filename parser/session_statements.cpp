#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "parser/expression_parser.hpp"
#include "parser/query_parser.hpp"
#include "parser/statement_parsers.hpp"

namespace eindb::statement_parsers {
namespace {

/// TRANSACTION and WORK are noise words.
void skip_transaction_word(TokenStream& tokens) {
  if (!tokens.accept_word("TRANSACTION")) tokens.accept_word("WORK");
}

bool at_transaction_mode(TokenStream& tokens) {
  constexpr std::array<std::string_view, 4> kModes = {"READ", "ISOLATION", "NOT", "DEFERRABLE"};
  return std::any_of(kModes.begin(), kModes.end(), [&](auto word) { return tokens.at_word(word); });
}

/// A level of isolation. All of them are kept by the one that eindb has: serializable.
void skip_isolation_level(TokenStream& tokens) {
  tokens.expect_word("LEVEL", "after ISOLATION");
  constexpr const char* kLevels = "SERIALIZABLE, REPEATABLE READ, READ COMMITTED or READ UNCOMMITTED";
  switch (tokens.expect_one_of({"SERIALIZABLE", "REPEATABLE", "READ"}, kLevels)) {
    case 0: return;
    case 1: return tokens.expect_word("READ", "after REPEATABLE");
    default: tokens.expect_one_of({"COMMITTED", "UNCOMMITTED"}, "COMMITTED or UNCOMMITTED after READ");
  }
}

/// READ ONLY, READ WRITE, ISOLATION LEVEL ... and [NOT] DEFERRABLE, with or without commas. Whether the transaction is
/// READ ONLY; nullopt if it is not said.
std::optional<bool> parse_transaction_modes(TokenStream& tokens) {
  std::optional<bool> read_only;
  for (bool more = true; more;) {
    if (tokens.accept_word("READ")) {
      read_only = tokens.expect_one_of({"ONLY", "WRITE"}, "ONLY or WRITE after READ") == 0;
    } else if (tokens.accept_word("ISOLATION")) {
      skip_isolation_level(tokens);
    } else if (tokens.accept_word("NOT")) {
      tokens.expect_word("DEFERRABLE", "after NOT");
    } else if (!tokens.accept_word("DEFERRABLE")) {
      tokens.fail_expected("READ ONLY, READ WRITE, ISOLATION LEVEL or DEFERRABLE");
    }
    more = tokens.accept_symbol(",") || at_transaction_mode(tokens);
  }
  return read_only;
}

/// The name; nullopt for ALL.
std::optional<ast::Identifier> name_or_all(TokenStream& tokens, std::string_view what) {
  if (tokens.accept_word("ALL")) return std::nullopt;
  return tokens.expect_name(what);
}

/// The value of an option, which may be omitted: ANALYZE means ANALYZE true.
bool switch_value(TokenStream& tokens) {
  if (tokens.at_symbol(",") || tokens.at_symbol(")")) return true;
  return tokens.expect_one_of({"FALSE", "OFF", "TRUE", "ON"}, "true or false") >= 2;
}

void parse_explain_option(TokenStream& tokens, ast::Explain& explain) {
  switch (tokens.expect_one_of({"ANALYZE", "COMPARE", "FORMAT"}, "ANALYZE, COMPARE or FORMAT")) {
    case 0: explain.analyze = switch_value(tokens); break;
    case 1: explain.compare = switch_value(tokens); break;
    default: {
      const auto format = tokens.expect_one_of({"TEXT", "JSON", "DOT", "HTML"}, "text, json, dot or html after FORMAT");
      explain.format = static_cast<ast::ExplainFormat>(format);
    }
  }
}

/// ANALYZE, or options in parentheses; '(' may also begin the query.
void parse_explain_options(TokenStream& tokens, ast::Explain& explain) {
  if (tokens.accept_word("ANALYZE")) explain.analyze = true;
  if (!tokens.at_symbol("(") || starts_query(Tokenizer(tokens.text(), tokens.peek().span.end))) return;
  tokens.take();
  do {
    parse_explain_option(tokens, explain);
  } while (tokens.accept_symbol(","));
  tokens.expect_symbol(")", "after the options of EXPLAIN");
}

ast::Literal text_literal(TokenStream& tokens, std::string_view what, const char* hint) {
  if (!tokens.at(Token::Kind::String)) tokens.fail_expected(what, hint);
  return literal(tokens, what);
}

/// REDISTRIBUTE [tensor] FROM 'type' TO 'type' [ON 'mesh'], whose first word comes next.
ast::ExplainRedistribution parse_redistribution(TokenStream& tokens, const ast::Explain& options) {
  constexpr const char* kForm = "as in EXPLAIN REDISTRIBUTE FROM '[3{x}12, 12]' TO '[12, 3{x}12]' ON '{x:4}'";
  if (options.analyze || options.compare)
    tokens.fail_expected("a query after the options of EXPLAIN", "REDISTRIBUTE takes FORMAT text or json alone");
  if (options.format == ast::ExplainFormat::Dot || options.format == ast::ExplainFormat::Html)
    tokens.fail_expected("a query", "a redistribution is shown by FORMAT text or json");
  ast::ExplainRedistribution explain;
  explain.format = options.format;
  tokens.take();
  if (!tokens.at_word("FROM")) explain.tensor = tokens.expect_name("the name of a tensor, or FROM");
  if (!tokens.accept_word("FROM")) tokens.fail_expected("FROM and the type that is there", kForm);
  explain.source = text_literal(tokens, "the type that is there, as a text", kForm);
  if (!tokens.accept_word("TO")) tokens.fail_expected("TO and the type that is wanted", kForm);
  explain.target = text_literal(tokens, "the type that is wanted, as a text", kForm);
  if (tokens.accept_word("ON")) explain.mesh = text_literal(tokens, "the mesh, as a text", kForm);
  return explain;
}

ast::Query parse_explained(TokenStream& tokens) {
  if (tokens.accept_symbol("(")) {
    auto query = parse_query(tokens);
    tokens.expect_symbol(")", "after the query");
    return query;
  }
  constexpr std::array<std::string_view, 5> kQueries = {"EINSUM", "WITH", "GRADIENT", "JVP", "UPDATE"};
  if (std::none_of(kQueries.begin(), kQueries.end(), [&](auto word) { return tokens.at_word(word); })) {
    auto hint = nearest_word_hint(tokens.peek().text, {"EINSUM", "WITH", "ANALYZE"});
    if (tokens.at_word("FORMAT") || tokens.at_word("JSON") || tokens.at_word("DOT") || tokens.at_word("VERBOSE"))
      hint = "options stand in parentheses: EXPLAIN (ANALYZE, FORMAT json) EINSUM ...";
    if (tokens.at_word("CREATE") || tokens.at_word("COPY") || tokens.at_word("EXECUTE"))
      hint = "EXPLAIN takes the query alone: EXPLAIN EINSUM ...";
    tokens.fail_expected("a query after EXPLAIN: EINSUM or WITH",
                         hint.empty() ? "EXPLAIN QUERY PLAN is for SQL" : hint);
  }
  return parse_query_or_update(tokens);
}

/// [SAVEPOINT] name, of a statement that starts at `begin`.
ast::Savepoint savepoint_named(TokenStream& tokens, ast::Savepoint::Use use, std::size_t begin) {
  ast::Savepoint savepoint;
  savepoint.use = use;
  auto word = tokens;
  if (word.accept_word("SAVEPOINT") && word.at_name()) tokens = word;
  savepoint.name = tokens.expect_name("the name of a savepoint");
  savepoint.span = tokens.span_from(begin);
  return savepoint;
}

std::variant<ast::Expression, ast::Literal, ast::Null> parse_execute_argument(TokenStream& tokens) {
  if (tokens.at(Token::Kind::String)) return literal(tokens, "an argument");
  if (tokens.accept_word("NULL")) return ast::Null{};
  return parse_expression(tokens);
}

std::vector<ast::Identifier> parse_macro_parameters(TokenStream& tokens, std::string_view macro) {
  std::vector<ast::Identifier> parameters;
  tokens.expect_symbol("(", "and the parameters after", macro);
  if (tokens.accept_symbol(")")) return parameters;
  do {
    parameters.push_back(tokens.expect_name("the name of a parameter"));
  } while (tokens.accept_symbol(","));
  if (tokens.at_symbol("["))
    tokens.fail_expected("',' or ')' after a parameter",
                         "a parameter is a name alone; the body may give it labels: x[i,j]");
  if (tokens.at_name()) tokens.fail_expected("',' or ')' after a parameter", "parameters have no types");
  tokens.expect_symbol(")", "after the parameters of", macro);
  return parameters;
}

}  // namespace

bool accept_if_exists(TokenStream& tokens) {
  if (!tokens.accept_word("IF")) return false;
  tokens.expect_word("EXISTS", "after IF");
  return true;
}

bool accept_if_not_exists(TokenStream& tokens) {
  if (!tokens.accept_word("IF")) return false;
  tokens.expect_word("NOT", "EXISTS after IF");
  tokens.expect_word("EXISTS", "after IF NOT");
  return true;
}

ast::Literal literal(TokenStream& tokens, std::string_view what) {
  const auto begin = tokens.begin();
  if (tokens.at(Token::Kind::String)) {
    auto text = unquote(tokens.take());
    return {std::move(text), tokens.span_from(begin)};
  }
  if (tokens.at_name()) {
    auto word = tokens.expect_name(what);
    return {std::move(word.text), word.span};
  }
  const bool negative = tokens.accept_symbol("-");
  if (!negative) tokens.accept_symbol("+");
  if (!tokens.at(Token::Kind::Integer) && !tokens.at(Token::Kind::Real)) tokens.fail_expected(what);
  auto value = number_value(tokens.take());
  ast::Literal result;
  result.span = tokens.span_from(begin);
  std::visit([&](auto number) { result.value = negative ? -number : number; }, value);
  return result;
}

Node explain(TokenStream& tokens) {
  ast::Explain explain;
  tokens.take();
  parse_explain_options(tokens, explain);
  if (tokens.at_word("REDISTRIBUTE")) return parse_redistribution(tokens, explain);
  explain.query = parse_explained(tokens);
  return explain;
}

Node set(TokenStream& tokens) {
  ast::Set set;
  tokens.take();
  auto transaction = tokens;
  if (transaction.accept_word("TRANSACTION") && !transaction.at_symbol("=") && !transaction.at_word("TO")) {
    tokens = transaction;
    return ast::SetTransaction{parse_transaction_modes(tokens)};
  }
  auto session = tokens;
  if (session.accept_word("SESSION") && session.at_word("CHARACTERISTICS"))
    throw Error(ErrorKind::Syntax,
                "SET SESSION CHARACTERISTICS is for clients of a server, and takes AS TRANSACTION and its modes",
                session.peek().span, "BEGIN READ ONLY begins one such transaction; eindb --readonly changes nothing");
  set.name = tokens.expect_name("the name of a setting");
  if (!tokens.accept_word("TO")) {
    if (!tokens.at_symbol("="))
      tokens.fail_expected("'=' after " + set.name.text,
                           "as in SET " + set.name.text + " = value; SHOW ALL lists settings");
    tokens.take();
  }
  set.value = literal(tokens, "the value of " + set.name.text);
  return set;
}

Node show(TokenStream& tokens) {
  tokens.take();
  if (tokens.accept_word("TENSORS")) return tokens.accept_word("IN") ? file_tensors(tokens) : ast::ShowTensors{};
  if (tokens.accept_word("MACROS")) return ast::ShowMacros{};
  if (tokens.accept_word("AGGREGATES")) return ast::ShowMacros{.aggregates_alone = true};
  if (tokens.accept_word("USERS")) return ast::ShowUsers{};
  if (tokens.accept_word("WORKERS")) return ast::ShowWorkers{};
  return ast::Show{name_or_all(tokens, "TENSORS, MACROS, AGGREGATES, USERS, WORKERS, ALL or the name of a setting")};
}

Node drain(TokenStream& tokens) {
  ast::DrainWorker drain;
  tokens.take();
  tokens.expect_word("WORKER", "after DRAIN");
  const auto begin = tokens.begin();
  drain.address = tokens.expect_string("the address of a worker after WORKER", "as SHOW WORKERS has it, in quotes");
  drain.span = tokens.span_from(begin);
  return drain;
}

Node alter_worker(TokenStream& tokens) {
  ast::AlterWorker alter;
  tokens.take();
  tokens.take();
  const auto begin = tokens.begin();
  alter.address = tokens.expect_string("the address of a worker after WORKER", "as SHOW WORKERS has it, in quotes");
  alter.span = tokens.span_from(begin);
  alter.leaves = tokens.accept_word("DRAIN");
  if (!alter.leaves && !tokens.accept_word("ACTIVATE"))
    tokens.fail_expected("DRAIN or ACTIVATE after the address of the worker",
                         "DRAIN moves its tiles to the other workers, ACTIVATE takes that back");
  return alter;
}

Node reset(TokenStream& tokens) {
  tokens.take();
  return ast::Reset{name_or_all(tokens, "ALL or the name of a setting")};
}

Node begin(TokenStream& tokens) {
  ast::Begin begin;
  const bool start = tokens.at_word("START");
  tokens.take();
  if (start) {
    tokens.expect_word("TRANSACTION", "after START");
  } else {
    if (tokens.accept_word("IMMEDIATE")) begin.mode = ast::TransactionMode::Immediate;
    else if (tokens.accept_word("EXCLUSIVE")) begin.mode = ast::TransactionMode::Exclusive;
    else tokens.accept_word("DEFERRED");
    skip_transaction_word(tokens);
  }
  if (!at_transaction_mode(tokens)) return begin;
  begin.read_only = parse_transaction_modes(tokens).value_or(false);
  if (begin.read_only && begin.mode != ast::TransactionMode::Deferred)
    tokens.fail_expected("a transaction that is READ ONLY to be DEFERRED", "it takes no lock: BEGIN READ ONLY");
  return begin;
}

Node commit(TokenStream& tokens) {
  tokens.take();
  skip_transaction_word(tokens);
  return ast::Commit{};
}

Node rollback(TokenStream& tokens) {
  const auto begin = tokens.begin();
  tokens.take();
  skip_transaction_word(tokens);
  if (!tokens.accept_word("TO")) return ast::Rollback{};
  return savepoint_named(tokens, ast::Savepoint::Use::RollBackTo, begin);
}

Node savepoint(TokenStream& tokens) {
  ast::Savepoint savepoint;
  const auto begin = tokens.begin();
  tokens.take();
  savepoint.name = tokens.expect_name("a name for the savepoint");
  savepoint.span = tokens.span_from(begin);
  return savepoint;
}

Node release(TokenStream& tokens) {
  const auto begin = tokens.begin();
  tokens.take();
  return savepoint_named(tokens, ast::Savepoint::Use::Release, begin);
}

Node execute(TokenStream& tokens) {
  ast::Execute execute;
  tokens.take();
  execute.name = tokens.expect_name("the name of a prepared statement");
  if (!tokens.accept_symbol("(") || tokens.accept_symbol(")")) return execute;
  do {
    execute.arguments.push_back(parse_execute_argument(tokens));
  } while (tokens.accept_symbol(","));
  tokens.expect_symbol(")", "after the arguments of", execute.name.text);
  return execute;
}

Node deallocate(TokenStream& tokens) {
  tokens.take();
  tokens.accept_word("PREPARE");
  return ast::Deallocate{name_or_all(tokens, "ALL or the name of a prepared statement")};
}

namespace {

/// An operator, a word or a macro of DISTRIBUTES OVER.
ast::AggregateClauses::Join parse_join_function(TokenStream& tokens) {
  const auto begin = tokens.begin();
  for (const auto* symbol : {"+", "*"})
    if (tokens.accept_symbol(symbol)) return {{.text = symbol, .span = tokens.span_from(begin)}};
  for (const auto* word : {"AND", "OR", "MIN", "MAX", "LEAST", "GREATEST"})
    if (tokens.accept_word(word)) return {{.text = word, .span = tokens.span_from(begin)}};
  return {tokens.expect_name("+, *, MIN, MAX, AND, OR or a macro of two parameters"), true};
}

ast::AggregateClauses parse_aggregate_clauses(TokenStream& tokens) {
  tokens.expect_word("INITIAL", "and the aggregate of no cells after the expression");
  ast::AggregateClauses clauses;
  clauses.initial = parse_expression(tokens);
  for (;;) {
    if (tokens.accept_word("COMMUTATIVE")) clauses.commutative = true;
    else if (tokens.accept_word("ASSOCIATIVE")) clauses.associative = true;
    else if (tokens.accept_word("IDEMPOTENT")) clauses.idempotent = true;
    else break;
  }
  if (!tokens.accept_word("DISTRIBUTES")) return clauses;
  tokens.expect_word("OVER", "after DISTRIBUTES");
  tokens.expect_symbol("(", "and operators after DISTRIBUTES OVER");
  do {
    clauses.distributes_over.push_back(parse_join_function(tokens));
  } while (tokens.accept_symbol(","));
  tokens.expect_symbol(")", "after the operators of DISTRIBUTES OVER");
  return clauses;
}

/// From the word AGGREGATE on.
Node create_aggregate(TokenStream& tokens, ast::CreateMacro create) {
  tokens.take();
  create.if_not_exists = accept_if_not_exists(tokens);
  create.name = tokens.expect_name("the name of the aggregate");
  create.parameters = parse_macro_parameters(tokens, create.name.text);
  if (create.parameters.size() != 2)
    throw Error(ErrorKind::Syntax, "an aggregate combines two values, and so has two parameters", create.name.span,
                "write CREATE AGGREGATE " + create.name.text + "(x, y) AS ..., where x is the aggregate so far");
  tokens.expect_word("AS", "and an expression after the parameters");
  create.body = parse_expression(tokens);
  create.aggregate = parse_aggregate_clauses(tokens);
  const auto text = tokens.span_from(create.body.span.begin);
  create.body_text = tokens.text().substr(text.begin, text.end - text.begin);
  return create;
}

}  // namespace

Node create_macro(TokenStream& tokens) {
  ast::CreateMacro macro;
  tokens.take();
  if (tokens.accept_word("OR")) {
    tokens.expect_word("REPLACE", "after OR");
    macro.or_replace = true;
  }
  if (tokens.at_word("AGGREGATE")) return create_aggregate(tokens, std::move(macro));
  macro.is_function = tokens.accept_word("FUNCTION");
  if (!macro.is_function) tokens.expect_word("MACRO", macro.or_replace ? "after REPLACE" : "after CREATE");
  macro.if_not_exists = accept_if_not_exists(tokens);
  macro.name = tokens.expect_name(macro.is_function ? "the name of the function" : "the name of the macro");
  macro.parameters = parse_macro_parameters(tokens, macro.name.text);
  if (macro.is_function && tokens.at_word("RETURNS"))
    tokens.fail_expected("AS and an expression after the parameters",
                         "the type follows from the arguments: CREATE FUNCTION f(x, y) AS x + 2 * y");
  tokens.expect_word("AS", "and an expression after the parameters");
  if (macro.is_function && tokens.at(Token::Kind::String))
    tokens.fail_expected("an expression", "the body stands without quotes: CREATE FUNCTION f(x, y) AS x + 2 * y");
  if (tokens.at_word("EINSUM") || tokens.at_word("WITH"))
    tokens.fail_expected("an expression", "a macro is an expression, not a query: AS SQRT(SUM(x[i]^2))");
  macro.body = parse_expression(tokens);
  macro.body_text = tokens.text().substr(macro.body.span.begin, macro.body.span.end - macro.body.span.begin);
  return macro;
}

Node drop_macro(TokenStream& tokens) {
  ast::DropMacro drop;
  tokens.take();
  drop.is_function = tokens.accept_word("FUNCTION");
  drop.is_aggregate = !drop.is_function && tokens.accept_word("AGGREGATE");
  if (!drop.is_function && !drop.is_aggregate) tokens.expect_word("MACRO", "after DROP");
  drop.if_exists = accept_if_exists(tokens);
  drop.name = tokens.expect_name(drop.is_function    ? "the name of the function"
                                 : drop.is_aggregate ? "the name of the aggregate"
                                                     : "the name of the macro");
  if (tokens.at_symbol("("))
    tokens.fail_expected("the end of the statement",
                         "there is one function of a name: DROP FUNCTION " + drop.name.text);
  return drop;
}

Node comment_on(TokenStream& tokens) {
  using What = ast::CommentOn::What;
  ast::CommentOn comment;
  tokens.take();
  tokens.expect_word("ON", "after COMMENT");
  comment.what = static_cast<What>(tokens.expect_one_of({"TABLE", "VIEW", "INDEX", "TENSOR", "COLUMN"},
                                                        "TABLE, VIEW, INDEX, TENSOR or COLUMN after COMMENT ON"));
  const bool of_column = comment.what == What::Column;
  std::vector<ast::Identifier> names{tokens.expect_name("a name")};
  while (names.size() < 3 && tokens.accept_symbol(".")) names.push_back(tokens.expect_name("a name after '.'"));
  if (of_column) {
    if (names.size() == 1) tokens.expect_symbol(".", "and a column after the table");
    comment.column = names.back();
    names.pop_back();
  }
  comment.object = names.back();
  names.pop_back();
  if (!names.empty() && !equal_ignoring_case(names[0].text, "public") && !equal_ignoring_case(names[0].text, "main"))
    throw Error(ErrorKind::UnknownName, "there is no schema " + names[0].text, names[0].span,
                "tables are in the schema public");
  tokens.expect_word("IS", "before the comment");
  if (!tokens.accept_word("NULL")) comment.text = tokens.expect_string("a text in quotes, or NULL", "IS 'text'");
  return comment;
}

}  // namespace eindb::statement_parsers
