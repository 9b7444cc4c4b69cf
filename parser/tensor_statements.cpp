#include <string>
#include <utility>

#include "common/error.hpp"
#include "parser/expression_parser.hpp"
#include "parser/query_parser.hpp"
#include "parser/sql_parser.hpp"
#include "parser/statement_parsers.hpp"

namespace eindb::statement_parsers {
namespace {

[[noreturn]] void fail(std::string message, SourceSpan span, std::string hint) {
  throw Error(ErrorKind::Syntax, std::move(message), span, std::move(hint));
}

bool at_query(TokenStream& tokens) { return starts_query(SqlScanner(tokens.text(), tokens.begin())); }

bool at_sql(TokenStream& tokens) {
  return tokens.at_word("SELECT") || tokens.at_word("VALUES") || tokens.at_word("WITH");
}

/// A query of ours or of SQL.
template <class Source>
Source parse_source(TokenStream& tokens, SqlExtent extent) {
  if (!at_query(tokens) && at_sql(tokens)) {
    auto sql = parse_sql(tokens.text(), tokens.begin(), extent);
    tokens.skip_to(sql.span.end);
    return sql;
  }
  if (!at_query(tokens) && !tokens.at_word("EINSUM"))
    tokens.fail_expected("a query: EINSUM, WITH or SELECT",
                         nearest_word_hint(tokens.peek().text, {"EINSUM", "WITH", "SELECT", "VALUES"}));
  return parse_query(tokens);
}

/// A query, in parentheses or not.
decltype(ast::CreateTensor::source) parse_create_source(TokenStream& tokens) {
  using Source = decltype(ast::CreateTensor::source);
  if (!tokens.accept_symbol("(")) return parse_source<Source>(tokens, SqlExtent::ToSemicolon);
  auto source = parse_source<Source>(tokens, SqlExtent::ToParenthesis);
  tokens.expect_symbol(")", "after the query");
  return source;
}

/// After '('.
std::vector<ast::Dimension> parse_dimensions(TokenStream& tokens, std::string_view tensor) {
  std::vector<ast::Dimension> dimensions;
  if (tokens.accept_symbol(")")) return dimensions;
  do {
    dimensions.push_back(parse_dimension(tokens, ExtentRule::Required));
  } while (tokens.accept_symbol(","));
  tokens.expect_symbol(")", "after the dimensions of", tensor);
  return dimensions;
}

ast::PartitionClause parse_partition(TokenStream& tokens) {
  ast::PartitionClause clause;
  const auto begin = tokens.begin();
  tokens.take();
  tokens.expect_symbol("(", "after PARTITION");
  if (!tokens.accept_symbol(")")) {
    do {
      clause.parts.push_back(parse_whole(tokens, "a number of parts", 1));
    } while (tokens.accept_symbol(","));
    tokens.expect_symbol(")", "after the parts of PARTITION");
  }
  clause.span = tokens.span_from(begin);
  return clause;
}

/// [type] [PARTITION (...)], in either order.
void parse_type_and_partition(TokenStream& tokens, ast::CreateTensor& create) {
  while (tokens.at_name() && !tokens.at_word("AS")) {
    if (tokens.at_word("PARTITION") && !create.partition) {
      create.partition = parse_partition(tokens);
    } else if (!tokens.at_word("PARTITION") && !create.type) {
      create.type = tokens.expect_name("a type");
      if (tokens.at_symbol("("))
        fail("expected a type, PARTITION or AS, found '" + create.type->text + "'", create.type->span,
             nearest_word_hint(create.type->text, {"PARTITION"}));
    } else {
      tokens.fail_expected("AS or the end of the statement",
                           nearest_word_hint(tokens.peek().text, {"PARTITION", "AS"}));
    }
  }
}

/// What the parts of CREATE TENSOR demand of each other.
void check_create(TokenStream& tokens, const ast::CreateTensor& create, SourceSpan dimensions) {
  const bool from_query = std::holds_alternative<ast::Query>(create.source);
  if (from_query && create.dimensions)
    fail("a query brings its own dimensions", dimensions, "CREATE TENSOR " + create.name.text + " AS EINSUM ...");
  if (from_query || create.dimensions) return;
  if (std::holds_alternative<ast::Sql>(create.source))
    fail("a tensor from rows needs its dimensions", create.name.span,
         "CREATE TENSOR " + create.name.text + " (i 1000, j 50) AS SELECT row, col, weight FROM t");
  tokens.fail_expected("the dimensions or AS after " + create.name.text, "as in (i 1000, j 2000); a scalar has ()");
}

/// Rows of numbers: "(0, 3, 1.5)".
ast::InsertRow parse_row(TokenStream& tokens) {
  ast::InsertRow row;
  const auto begin = tokens.begin();
  tokens.expect_symbol("(", "and the values of a row");
  row.values = parse_arguments(tokens, "the row");
  row.span = tokens.span_from(begin);
  return row;
}

std::vector<ast::Option> parse_options(TokenStream& tokens) {
  std::vector<ast::Option> options;
  const bool with = tokens.accept_word("WITH");
  if (!with && !tokens.at_symbol("(")) return options;
  tokens.expect_symbol("(", "before the options");
  do {
    ast::Option option;
    option.name = tokens.expect_name("the name of an option");
    const bool has_value = tokens.accept_symbol("=") || !(tokens.at_symbol(",") || tokens.at_symbol(")"));
    if (has_value) option.value = literal(tokens, "the value of " + option.name.text);
    options.push_back(std::move(option));
  } while (tokens.accept_symbol(","));
  tokens.expect_symbol(")", "after the options");
  return options;
}

/// path [(options)], for either direction of COPY.
template <class Copy>
Copy with_path(TokenStream& tokens, Copy copy) {
  const auto begin = tokens.begin();
  copy.path = tokens.expect_string("the path of a file", "a path stands in plain quotes: 'x.npy'");
  copy.path_span = tokens.span_from(begin);
  copy.options = parse_options(tokens);
  return copy;
}

}  // namespace

Node create_tensor(TokenStream& tokens) {
  ast::CreateTensor create;
  tokens.take();
  tokens.expect_word("TENSOR", "after CREATE");
  create.if_not_exists = accept_if_not_exists(tokens);
  create.name = tokens.expect_name("the name of the tensor");
  const auto begin = tokens.begin();
  if (tokens.accept_symbol("(")) create.dimensions = parse_dimensions(tokens, create.name.text);
  const auto dimensions = tokens.span_from(begin);
  parse_type_and_partition(tokens, create);
  if (tokens.accept_word("AS")) create.source = parse_create_source(tokens);
  check_create(tokens, create, dimensions);
  return create;
}

Node drop_tensor(TokenStream& tokens) {
  ast::DropTensor drop;
  tokens.take();
  tokens.expect_word("TENSOR", "after DROP");
  drop.if_exists = accept_if_exists(tokens);
  drop.name = tokens.expect_name("the name of the tensor");
  return drop;
}

Node alter_tensor(TokenStream& tokens) {
  ast::AlterTensor alter;
  tokens.take();
  tokens.expect_word("TENSOR", "after ALTER");
  alter.name = tokens.expect_name("the name of the tensor");
  if (tokens.at_word("PARTITION")) {
    alter.change = parse_partition(tokens);
  } else {
    tokens.expect_one_of({"RENAME"}, "RENAME TO or PARTITION after " + alter.name.text);
    tokens.expect_word("TO", "after RENAME");
    alter.change = tokens.expect_name("the new name of the tensor");
  }
  return alter;
}

Node describe(TokenStream& tokens) {
  tokens.take();
  return ast::Describe{tokens.expect_name("the name of the tensor")};
}

Node copy(TokenStream& tokens) {
  ast::CopyTo to;
  tokens.take();
  if (tokens.accept_symbol("(")) {
    to.source = parse_source<decltype(to.source)>(tokens, SqlExtent::ToParenthesis);
    tokens.expect_symbol(")", "after the query");
    tokens.expect_word("TO", "and a path after the query");
    return with_path(tokens, std::move(to));
  }
  auto tensor = tokens.expect_name("the name of a tensor or a query in parentheses");
  if (tokens.expect_one_of({"FROM", "TO"}, "FROM or TO after " + tensor.text) == 0)
    return with_path(tokens, ast::CopyFrom{std::move(tensor), {}, {}, {}});
  to.source = std::move(tensor);
  return with_path(tokens, std::move(to));
}

Node insert_into_tensor(TokenStream& tokens) {
  ast::InsertInto insert;
  tokens.take();
  tokens.expect_word("INTO", "after INSERT");
  tokens.expect_word("TENSOR", "after INTO");
  insert.tensor = tokens.expect_name("the name of the tensor");
  tokens.expect_word("VALUES", "after " + insert.tensor.text);
  do {
    insert.rows.push_back(parse_row(tokens));
  } while (tokens.accept_symbol(","));
  return insert;
}

}  // namespace eindb::statement_parsers
