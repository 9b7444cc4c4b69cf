#include <optional>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "parser/declared_dimension_parser.hpp"
#include "parser/definition_parser.hpp"
#include "parser/distinct_names.hpp"
#include "parser/expression_parser.hpp"
#include "parser/extent_parser.hpp"
#include "parser/query_parser.hpp"
#include "parser/sql_parser.hpp"
#include "parser/statement_parsers.hpp"

namespace eindb::statement_parsers {
namespace {

[[noreturn]] void fail(std::string message, SourceSpan span, std::string hint) {
  throw Error(ErrorKind::Syntax, std::move(message), span, std::move(hint));
}

bool at_query(TokenStream& tokens) { return starts_query(Tokenizer(tokens.text(), tokens.begin())); }

bool at_sql(TokenStream& tokens) {
  return tokens.at_word("SELECT") || tokens.at_word("VALUES") || tokens.at_word("WITH");
}

/// Checks that a query of eindb follows, possibly with mistakes.
void expect_query(TokenStream& tokens) {
  const bool meant = tokens.at_word("EINSUM") || tokens.at_word("GRADIENT") || tokens.at_word("JVP");
  if (meant || at_query(tokens)) return;
  const auto hint = nearest_word_hint(tokens.peek().text, {"EINSUM", "WITH", "SELECT", "VALUES", "GRADIENT"});
  tokens.fail_expected("a query: EINSUM, WITH or SELECT",
                       hint.empty() ? "a query starts with EINSUM: EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])" : hint);
}

/// A query of eindb or SQL with one tensor as its result.
template <class Source>
Source parse_source(TokenStream& tokens, SqlExtent extent) {
  if (!at_query(tokens) && at_sql(tokens)) {
    auto sql = parse_sql(tokens.text(), tokens.begin(), extent, tokens.loops());
    tokens.skip_to(sql.span.end);
    return sql;
  }
  expect_query(tokens);
  return parse_query_of_one(tokens);
}

/// A query with or without parentheses.
decltype(ast::CreateTensor::source) parse_create_source(TokenStream& tokens) {
  using Source = decltype(ast::CreateTensor::source);
  if (!tokens.accept_symbol("(")) return parse_source<Source>(tokens, SqlExtent::ToSemicolon);
  auto source = parse_source<Source>(tokens, SqlExtent::ToParenthesis);
  tokens.expect_symbol(")", "after the query");
  return source;
}

/// Starts after '('.
std::vector<ast::DeclaredDimension> parse_dimensions(TokenStream& tokens, std::string_view tensor) {
  std::vector<ast::DeclaredDimension> dimensions;
  if (tokens.accept_symbol(")")) return dimensions;
  do {
    dimensions.push_back(parse_declared_dimension(tokens));
  } while (tokens.accept_symbol(","));
  tokens.expect_symbol(")", "after the dimensions of", tensor);
  return dimensions;
}

ast::PartitionClause parse_partition(TokenStream& tokens) {
  ast::PartitionClause clause;
  const auto begin = tokens.begin();
  tokens.take();
  if (!tokens.at_symbol("("))
    tokens.fail_expected("'(' after PARTITION", "parts per dimension, as in PARTITION (4, 8)");
  tokens.take();
  if (!tokens.accept_symbol(")")) {
    do {
      clause.parts.push_back(parse_whole(tokens, "a number of parts", 1));
    } while (tokens.accept_symbol(","));
    tokens.expect_symbol(")", "after the parts of PARTITION");
  }
  clause.span = tokens.span_from(begin);
  return clause;
}

ast::ReplicasClause parse_replicas(TokenStream& tokens) {
  ast::ReplicasClause clause;
  const auto begin = tokens.begin();
  tokens.take();
  clause.count = parse_whole(tokens, "a number of copies", 1);
  clause.span = tokens.span_from(begin);
  return clause;
}

/// Fails at a word that a parenthesis follows, and that is neither PARTITION nor REPLICAS.
[[noreturn]] void fail_before_parenthesis(const ast::CreateTensor& create) {
  const auto& word = *create.type;
  auto hint = nearest_word_hint(word.text, {"PARTITION", "REPLICAS"});
  if (hint.empty() && !create.dimensions)
    hint = "the type follows the dimensions: CREATE TENSOR " + create.name.text + " (i 1000, j 2000) " + word.text;
  fail("expected a type, PARTITION or AS, found '" + word.text + "'", word.span, std::move(hint));
}

/// Rejects CREATE TENSOR VIEW v AS ...; a tensor may be called view, and have a type.
void refuse_view(TokenStream& tokens, const ast::Identifier& name) {
  if (name.quoted || !equal_ignoring_case(name.text, "VIEW") || !tokens.at_name()) return;
  for (const auto* word :
       {"AS", "PARTITION", "REPLICAS", "FLOAT32", "FLOAT64", "REAL", "DOUBLE", "INT64", "COMPLEX64", "COMPLEX128"})
    if (tokens.at_word(word)) return;
  const auto wanted = std::string(tokens.peek().text);
  fail("there are no views of tensors", name.span,
       "CREATE VIEW " + wanted + " AS SELECT * FROM (EINSUM ...) is a view in SQL; CREATE TENSOR " + wanted +
           " AS EINSUM ... stores a result");
}

/// [type] [PARTITION (...)] [REPLICAS n], in any order.
void parse_type_and_clauses(TokenStream& tokens, ast::CreateTensor& create) {
  while (tokens.at_name() && !tokens.at_word("AS")) {
    if (at_query(tokens) || tokens.at_word("SELECT")) tokens.fail_expected("AS before the query");
    if (tokens.at_word("PARTITION") && !create.partition) {
      create.partition = parse_partition(tokens);
    } else if (tokens.at_word("REPLICAS") && !create.replicas) {
      create.replicas = parse_replicas(tokens);
    } else if (!tokens.at_word("PARTITION") && !tokens.at_word("REPLICAS") && !create.type) {
      create.type = tokens.expect_name("a type");
      if (tokens.at_symbol("(")) fail_before_parenthesis(create);
    } else {
      tokens.fail_expected("AS or the end of the statement",
                           nearest_word_hint(tokens.peek().text, {"PARTITION", "REPLICAS", "AS"}));
    }
  }
}

bool accept_or_replace(TokenStream& tokens) {
  if (!tokens.accept_word("OR")) return false;
  tokens.expect_word("REPLACE", "after OR");
  return true;
}

bool accept_temporary(TokenStream& tokens) { return tokens.accept_word("TEMP") || tokens.accept_word("TEMPORARY"); }

/// The name of a new tensor; a schema before it says whether the tensor is temporary.
ast::Identifier parse_new_name(TokenStream& tokens, bool& temporary) {
  auto schema = tokens.expect_name("the name of the tensor");
  if (!tokens.accept_symbol(".")) return schema;
  const bool of_session = schema_of(schema.text) == "temp";
  if (schema_of(schema.text).empty()) {
    throw Error(
        ErrorKind::Syntax, "tensors cannot be created in the schema " + schema.text, schema.span,
        "those of the database have no schema before their names, temporary ones temp; to make one in the file of"
        " an attached database, open that file");
  }
  if (temporary && !of_session) {
    throw Error(ErrorKind::Syntax, "a temporary tensor cannot be in the schema " + schema.text, schema.span,
                "leave out TEMP, or the schema");
  }
  temporary = of_session;
  return tokens.expect_name("the name of the tensor");
}

/// Rejects REPLICAS of a temporary tensor.
void check_replicas(const std::optional<ast::ReplicasClause>& replicas, bool temporary) {
  if (temporary && replicas) {
    throw Error(ErrorKind::Syntax, "a temporary tensor lies in the session, not at workers", replicas->span,
                "leave out REPLICAS, or TEMP");
  }
}

bool accept_if_not_exists_only(TokenStream& tokens, bool or_replace) {
  if (or_replace && tokens.at_word("IF"))
    tokens.fail_expected("the name of the tensor", "OR REPLACE replaces what exists: leave out IF NOT EXISTS, or it");
  return accept_if_not_exists(tokens);
}

/// The names of CREATE TENSOR (a, b), from the parenthesis on.
std::vector<ast::Identifier> parse_created_names(TokenStream& tokens) {
  std::vector<ast::Identifier> names;
  DistinctNames distinct("tensor");
  tokens.take();
  do {
    names.push_back(distinct.add(tokens.expect_name("the name of a tensor")));
  } while (tokens.accept_symbol(","));
  if (!tokens.at_symbol(")"))
    tokens.fail_expected("',' or ')' after the name of a tensor",
                         tokens.at(Token::Kind::Integer) || tokens.at(Token::Kind::Parameter)
                             ? "the name of the tensor stands before its dimensions: CREATE TENSOR X (i 1000)"
                             : "CREATE TENSOR (a, b) AS ... stores several results of a query under their names");
  tokens.take();
  return names;
}

/// CREATE TENSOR (a, b) [REPLICAS n] AS query, from the parenthesis on; `begun` has the preceding clauses.
ast::CreateTensors create_tensors(TokenStream& tokens, const ast::CreateTensor& begun) {
  ast::CreateTensors create;
  create.or_replace = begun.or_replace;
  create.if_not_exists = begun.if_not_exists;
  create.temporary = begun.temporary;
  create.names = parse_created_names(tokens);
  if (tokens.at_word("REPLICAS")) create.replicas = parse_replicas(tokens);
  check_replicas(create.replicas, create.temporary);
  if (!tokens.accept_word("AS")) {
    const bool clause = tokens.at_name() && !at_query(tokens);
    tokens.fail_expected("AS and a query after the names",
                         clause ? "of several tensors each has the type of its result; ALTER TENSOR gives a partition"
                                : "as in CREATE TENSOR (dW, dV) AS GRADIENT OF ...");
  }
  const bool parenthesis = tokens.accept_symbol("(");
  if (!at_query(tokens) && at_sql(tokens))
    tokens.fail_expected("a query of EINSUM, GRADIENT or JVP", "rows of SQL make one tensor: CREATE TENSOR X (...) AS");
  expect_query(tokens);
  create.query = parse_query(tokens);
  if (parenthesis) tokens.expect_symbol(")", "after the query");
  return create;
}

std::string hint_for_create(TokenStream& tokens, const std::string& name) {
  if (tokens.at(Token::Kind::String)) return "COPY " + name + " FROM 'file' makes a tensor of a file";
  if (tokens.at_symbol("=")) return "a copy of X is CREATE TENSOR " + name + " AS EINSUM " + name + "[i,j] = X[i,j]";
  return "as in (i 1000, j 2000); a scalar has ()";
}

/// Checks the constraints between the parts of CREATE TENSOR.
void check_create(TokenStream& tokens, const ast::CreateTensor& create, SourceSpan dimensions) {
  const bool from_query = std::holds_alternative<ast::Query>(create.source);
  if (from_query && create.dimensions)
    fail("a query brings its own dimensions", dimensions, "CREATE TENSOR " + create.name.text + " AS EINSUM ...");
  if (from_query || create.dimensions) return;
  if (std::holds_alternative<ast::Sql>(create.source))
    fail("a tensor from rows needs its dimensions", create.name.span,
         "CREATE TENSOR " + create.name.text + " (i 1000, j 50) AS SELECT row, col, weight FROM t");
  tokens.fail_expected("the dimensions or AS after " + create.name.text, hint_for_create(tokens, create.name.text));
}

/// Rows of numbers: "(0, 3, 1.5)".
ast::InsertRow parse_row(TokenStream& tokens) {
  ast::InsertRow row;
  const auto begin = tokens.begin();
  if (!tokens.at_symbol("("))
    tokens.fail_expected("'(' and the values of a row", "as in VALUES (0, 3, 1.5), (2, 0, -2)");
  tokens.take();
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

/// TO name, or LABEL i TO j, after RENAME.
decltype(ast::AlterTensor::change) parse_renaming(TokenStream& tokens) {
  if (!tokens.accept_word("LABEL")) {
    tokens.expect_word("TO", "after RENAME");
    return tokens.expect_name("the new name of the tensor");
  }
  auto label = tokens.expect_name("the label");
  tokens.expect_word("TO", "after the label " + label.text);
  auto name = tokens.expect_name("the new name of the label");
  return ast::LabelRenaming{std::move(label), std::move(name)};
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

Node create_or_replace(TokenStream& tokens) {
  auto ahead = tokens;
  ahead.take();
  ahead.take();
  ahead.expect_word("REPLACE", "after OR");
  accept_temporary(ahead);
  if (ahead.at_word("TENSOR")) return create_tensor(tokens);
  if (ahead.at_word("MACRO") || ahead.at_word("FUNCTION") || ahead.at_word("AGGREGATE")) return create_macro(tokens);
  ahead.fail_expected("TENSOR, MACRO, FUNCTION, AGGREGATE or VIEW after REPLACE",
                      nearest_word_hint(ahead.peek().text, {"TENSOR", "MACRO", "FUNCTION", "AGGREGATE", "VIEW"}));
}

Node create_tensor(TokenStream& tokens) {
  ast::CreateTensor create;
  tokens.take();
  create.or_replace = accept_or_replace(tokens);
  create.temporary = accept_temporary(tokens);
  tokens.expect_word("TENSOR", create.temporary ? "after TEMP" : create.or_replace ? "after REPLACE" : "after CREATE");
  create.if_not_exists = accept_if_not_exists_only(tokens, create.or_replace);
  if (tokens.at_symbol("(")) return create_tensors(tokens, create);
  create.name = parse_new_name(tokens, create.temporary);
  refuse_view(tokens, create.name);
  const auto begin = tokens.begin();
  if (tokens.accept_symbol("(")) create.dimensions = parse_dimensions(tokens, create.name.text);
  const auto dimensions = tokens.span_from(begin);
  parse_type_and_clauses(tokens, create);
  check_replicas(create.replicas, create.temporary);
  if (tokens.accept_word("AS")) create.source = parse_create_source(tokens);
  check_create(tokens, create, dimensions);
  return create;
}

Node drop_tensor(TokenStream& tokens) {
  ast::DropTensor drop;
  tokens.take();
  tokens.expect_word("TENSOR", "after DROP");
  drop.if_exists = accept_if_exists(tokens);
  do drop.names.push_back(tokens.expect_tensor("the name of the tensor"));
  while (tokens.accept_symbol(","));
  if (tokens.accept_word("CASCADE")) drop.behavior = ast::DropBehavior::Cascade;
  else if (tokens.accept_word("RESTRICT")) drop.behavior = ast::DropBehavior::Restrict;
  return drop;
}

Node attach_database(TokenStream& tokens) {
  ast::AttachDatabase attach;
  tokens.take();
  tokens.accept_word("DATABASE");
  const auto begin = tokens.begin();
  attach.path = tokens.expect_string("the path of a database", "a path stands in plain quotes: 'other.db'");
  attach.path_span = tokens.span_from(begin);
  tokens.expect_word("AS", "and a name for the database after its path");
  attach.name = tokens.expect_name("a name for the database");
  return attach;
}

Node detach_database(TokenStream& tokens) {
  tokens.take();
  auto word = tokens;
  if (word.accept_word("DATABASE") && word.at_name()) tokens = word;
  return ast::DetachDatabase{tokens.expect_name("the name of an attached database")};
}

Node backup(TokenStream& tokens) {
  ast::Backup backup;
  tokens.take();
  tokens.expect_word("TO", "after BACKUP");
  const auto begin = tokens.begin();
  backup.path = tokens.expect_string("the path of a new file", "a path stands in plain quotes: 'copy.db'");
  backup.path_span = tokens.span_from(begin);
  return backup;
}

Node alter_tensor(TokenStream& tokens) {
  ast::AlterTensor alter;
  tokens.take();
  tokens.expect_word("TENSOR", "after ALTER");
  alter.name = tokens.expect_tensor("the name of the tensor");
  if (tokens.at_word("PARTITION")) {
    alter.change = parse_partition(tokens);
  } else if (tokens.at_word("REPLICAS")) {
    alter.change = parse_replicas(tokens);
  } else if (tokens.accept_word("EXTEND")) {
    tokens.expect_symbol("(", "and the new extents after EXTEND: EXTEND (i 2000)");
    alter.change = ast::ExtendClause{parse_dimensions(tokens, alter.name.text)};
  } else if (tokens.accept_word("TYPE")) {
    alter.change = ast::TypeClause{tokens.expect_name("the type after TYPE, as in TYPE BFLOAT16")};
  } else {
    if (!tokens.at_word("RENAME"))
      tokens.fail_expected(
          "RENAME, PARTITION, REPLICAS, EXTEND or TYPE after " + alter.name.text,
          nearest_word_hint(tokens.peek().text, {"RENAME", "PARTITION", "REPLICAS", "EXTEND", "TYPE"}));
    tokens.take();
    alter.change = parse_renaming(tokens);
  }
  return alter;
}

Node analyze_tensor(TokenStream& tokens) {
  ast::AnalyzeTensor analyze;
  tokens.take();
  tokens.expect_word("TENSOR", "after ANALYZE");
  if (!tokens.at(Token::Kind::End) && !tokens.at_symbol(";"))
    analyze.name = tokens.expect_tensor("the name of the tensor");
  return analyze;
}

Node describe(TokenStream& tokens) {
  tokens.take();
  return ast::Describe{tokens.expect_tensor("the name of the tensor")};
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
  auto all = tokens;
  if (all.accept_word("ALL") && all.accept_word("FROM")) {
    tokens = all;
    return with_path(tokens, ast::CopyAllFrom{});
  }
  auto tensor = tokens.expect_tensor("the name of a tensor or a query in parentheses");
  if (!tokens.at_word("FROM") && !tokens.at_word("TO")) {
    const bool query = equal_ignoring_case(tensor.text, "EINSUM") || equal_ignoring_case(tensor.text, "SELECT") ||
                       equal_ignoring_case(tensor.text, "WITH");
    tokens.fail_expected(
        "FROM or TO after " + tensor.text,
        query ? "a query stands in parentheses: COPY (EINSUM ...) TO 'z.npy'"
        : tokens.at_symbol("(")
            ? "a list of columns is for STDIN and STDOUT of a server; of a file: COPY (SELECT a, b FROM " +
                  tensor.text + ") TO 'f.csv', INSERT INTO " + tensor.text + " (a, b) SELECT a, b FROM 'f.csv'"
            : nearest_word_hint(tokens.peek().text, {"FROM", "TO"}));
  }
  if (tokens.expect_one_of({"FROM", "TO"}, "FROM or TO") == 0)
    return with_path(tokens, ast::CopyFrom{std::move(tensor), {}, {}, {}});
  to.source = std::move(tensor);
  return with_path(tokens, std::move(to));
}

Node file_tensors(TokenStream& tokens) { return with_path(tokens, ast::ShowFileTensors{}); }

Node insert_into_tensor(TokenStream& tokens) {
  ast::InsertInto insert;
  tokens.take();
  tokens.expect_word("INTO", "after INSERT");
  tokens.expect_word("TENSOR", "after INTO");
  insert.tensor = tokens.expect_tensor("the name of the tensor");
  if (tokens.accept_word("AT")) {
    tokens.expect_symbol("(", "and a label after AT: AT (i)");
    insert.along = tokens.expect_name("the label along which the tensor grows");
    tokens.expect_symbol(")", "after the label");
    if (at_query(tokens)) {
      insert.appended = parse_query_of_one(tokens);
      return insert;
    }
  }
  if (!at_query(tokens) && (tokens.at_word("SELECT") || tokens.at_word("WITH"))) {
    insert.query = parse_sql(tokens.text(), tokens.begin(), SqlExtent::ToSemicolon, tokens.loops());
    tokens.skip_to(insert.query->span.end);
    return insert;
  }
  if (!tokens.at_word("VALUES")) {
    const auto hint = nearest_word_hint(tokens.peek().text, {"VALUES", "SELECT"});
    const std::string rows = "rows are (key..., value), in the order of the dimensions";
    const std::string whole =
        "a query gives new values to UPDATE TENSOR " + insert.tensor.text + "[0:10,j] = ..., or is appended: AT (i)";
    tokens.fail_expected(insert.along ? "VALUES, SELECT or EINSUM after AT (" + insert.along->text + ")"
                                      : "VALUES or SELECT after " + insert.tensor.text,
                         !hint.empty()      ? hint
                         : at_query(tokens) ? whole
                                            : rows);
  }
  tokens.take();
  do {
    insert.rows.push_back(parse_row(tokens));
  } while (tokens.accept_symbol(","));
  return insert;
}

}  // namespace eindb::statement_parsers
