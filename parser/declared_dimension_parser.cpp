#include "parser/declared_dimension_parser.hpp"

#include <string>
#include <utility>
#include <vector>

#include "parser/extent_parser.hpp"
#include "parser/sql_parser.hpp"

namespace eindb {
namespace {

/// Starts after IN.
ast::NamesClause parse_listed_names(TokenStream& tokens) {
  ast::NamesClause clause;
  tokens.expect_symbol("(", "and the names of indices after IN");
  if (tokens.at_word("SELECT") || tokens.at_word("VALUES") || tokens.at_word("WITH")) {
    auto sql = parse_sql(tokens.text(), tokens.begin(), SqlExtent::ToParenthesis, tokens.loops());
    tokens.skip_to(sql.span.end);
    clause.source = std::move(sql);
  } else {
    std::vector<std::string> names;
    do {
      names.push_back(tokens.expect_string("the name of an index", "names are texts: IN ('Oslo', 'Bergen')"));
    } while (tokens.accept_symbol(","));
    clause.source = std::move(names);
  }
  tokens.expect_symbol(")", "after the names of indices");
  return clause;
}

/// Starts after FROM.
ast::NamesClause parse_calendar(TokenStream& tokens) {
  constexpr const char* kForm = "as in day FROM '2024-01-01' TO '2024-12-31' STEP '1 day'";
  ast::NamesClause::Calendar calendar;
  calendar.first = tokens.expect_string("the first day or time", kForm);
  tokens.expect_word("TO", "and the last day or time");
  calendar.last = tokens.expect_string("the last day or time", kForm);
  calendar.step = tokens.accept_word("STEP") ? tokens.expect_string("a step", kForm) : "1 day";
  ast::NamesClause clause;
  clause.source = std::move(calendar);
  return clause;
}

}  // namespace

ast::DeclaredDimension parse_declared_dimension(TokenStream& tokens) {
  ast::DeclaredDimension declared;
  const auto begin = tokens.begin();
  auto ahead = tokens;
  const bool has_names = ahead.at_name() && (ahead.take(), ahead.at_word("IN") || ahead.at_word("FROM"));
  if (!has_names) {
    declared.dimension = parse_dimension(tokens, ExtentRule::Required);
    return declared;
  }
  declared.dimension.label = tokens.expect_label("a label");
  const auto names_begin = tokens.begin();
  declared.names = tokens.accept_word("IN") ? parse_listed_names(tokens) : (tokens.take(), parse_calendar(tokens));
  declared.names->span = tokens.span_from(names_begin);
  declared.dimension.span = tokens.span_from(begin);
  return declared;
}

}  // namespace eindb
