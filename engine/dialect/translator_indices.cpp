#include <string>
#include <utility>
#include <vector>

#include "common/letter_case.hpp"
#include "common/quote_identifier.hpp"
#include "engine/dialect/translator.hpp"
#include "parser/tokenizer.hpp"

namespace eindb::dialect {

// The expressions among the keys of an index and its WHERE, which stand in the statement behind `place`.
void Translator::translate_keys(const PgQuery__IndexStmt& node, std::size_t place, std::vector<TextEdit>& edits) {
  Scope scope(nullptr);
  table(*node.relation, scope);
  const auto replace = [&](const SqlText& translated, std::string_view written, bool in_parentheses) {
    if (means_the_same(written, translated.str())) return;
    const auto at = static_cast<std::size_t>(written.data() - statement_.data());
    const auto inner = in_parentheses ? written.substr(1, written.size() - 2) : written;
    edits.push_back({at, at + written.size(), SqlText("(") + with_original(translated, inner) + ")"});
  };
  Tokenizer tokenizer(statement_, place, kPostgresRules);
  auto token = tokenizer.next();
  while (!token.is_symbol('(')) {
    if (token.is(Token::Kind::End) || token.is(Token::Kind::Unterminated)) throw NotTranslated();
    token = tokenizer.next();
  }
  for (const auto* each : nodes(node.n_index_params, node.index_params)) {
    token = tokenizer.next();  // the first of a key
    const auto begin = token.span.begin;
    if (each->index_elem->expr != nullptr) {
      while (!token.is_symbol('(')) token = tokenizer.next();
      const auto end = end_of_group(statement_, token.span.begin);
      if (end == token.span.begin) throw NotTranslated();
      const auto value = checked(expression(*each->index_elem->expr, scope));
      replace(value.text, statement_.substr(begin, end - begin), token.span.begin == begin);
      tokenizer.skip_to(end);
      token = tokenizer.next();
    }
    for (int depth = 0; depth > 0 || !(token.is_symbol(',') || token.is_symbol(')')); token = tokenizer.next()) {
      if (token.is(Token::Kind::End)) throw NotTranslated();
      depth += token.is_symbol('(') ? 1 : token.is_symbol(')') ? -1 : 0;
    }
  }
  if (node.where_clause == nullptr) return;
  while (!token.is_word("WHERE")) {
    if (token.is(Token::Kind::End)) throw NotTranslated();
    token = tokenizer.next();
  }
  token = tokenizer.next();
  const auto begin = token.span.begin;
  auto end = begin;
  for (; !token.is(Token::Kind::End) && !token.is_symbol(';'); token = tokenizer.next()) end = token.span.end;
  replace(condition(*node.where_clause, scope, "WHERE"), statement_.substr(begin, end - begin), false);
}

// All indices are btrees, which is what USING btree says; SQLite builds them at once, orders NULLs in its own way, and
// knows no classes of operators, nor indices without a name.
SqlText Translator::create_index(const PgQuery__IndexStmt& node) {
  const std::string_view method = is_set(node.access_method) ? node.access_method : "btree";
  if (method != "btree")
    refuse("0A000", "an index USING " + std::string(method) + " is not supported", -1, "leave out USING: a btree");
  if (node.n_index_including_params > 0)
    refuse("0A000", "an index with INCLUDE is not supported", -1, "make them columns of the index");
  if (node.nulls_not_distinct) unsupported("NULLS NOT DISTINCT", -1, "NULLs are distinct in an index");
  name_of_new(*node.relation);
  std::vector<TextEdit> edits;
  translate_keys(node, place_of_name(*node.relation), edits);
  const auto made = edits;
  Tokenizer tokenizer(statement_, 0, kPostgresRules);
  std::size_t behind_verb = 0;
  Token before;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       before = token, token = tokenizer.next()) {
    const auto is_before_place = token.span.begin < place_of_name(*node.relation);
    if (behind_verb == 0 && token.is_word("index")) behind_verb = token.span.end;
    if (is_before_place && token.is_word("concurrently")) edits.push_back({token.span.begin, token.span.end, ""});
    if (is_before_place && !is_set(node.idxname) && token.is_word("on"))
      edits.push_back({token.span.begin, token.span.begin, quote_identifier(default_name(node)) + " "});
    if (is_before_place || is_edited(token.span.begin, made)) continue;
    if (before.is_word("using") && token.is_word("btree")) edits.push_back({before.span.begin, token.span.end, ""});
    if (token.is(Token::Kind::Word) && to_lower(token.text).ends_with("_ops") && !before.is_symbol('(') &&
        !before.is_symbol(','))
      edits.push_back({token.span.begin, token.span.end, ""});
    if (before.is_word("nulls") && (token.is_word("first") || token.is_word("last")))
      edits.push_back({before.span.begin, token.span.end, ""});
    if (before.is_word("collate") &&
        (token.text == "\"C\"" || token.text == "\"POSIX\"" || token.text == "\"default\""))
      edits.push_back({token.span.begin, token.span.end, "BINARY"});
  }
  quote_names(statement_, behind_verb, edits);
  drop_schema(statement_, edits);
  return edited(statement_, std::move(edits));
}

// The name that PostgreSQL gives: table_column_expr_idx.
std::string Translator::default_name(const PgQuery__IndexStmt& node) {
  std::string name = node.relation->relname;
  for (const auto* each : nodes(node.n_index_params, node.index_params))
    name += std::string("_") + (each->index_elem->expr != nullptr ? "expr" : each->index_elem->name);
  return name + "_idx";
}

}  // namespace eindb::dialect
