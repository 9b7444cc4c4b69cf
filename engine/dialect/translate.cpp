#include "engine/dialect/translate.hpp"

#include <utility>

#include "engine/dialect/parse_tree.hpp"
#include "engine/dialect/translator.hpp"
#include "parser/tokenizer.hpp"

namespace eindb::dialect {
namespace {

/// The statement with a name in place of each (EINSUM ...), which PostgreSQL's grammar does not know; places stay.
std::string with_placeholders(std::string_view statement) {
  std::string out(statement);
  Tokenizer tokenizer(statement, kPostgresRules);
  auto before = tokenizer.next();
  for (auto token = before; !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       before = token, token = tokenizer.next()) {
    if (!token.is_word("EINSUM") || !before.is_symbol('(')) continue;
    const auto begin = before.span.begin;
    const auto end = end_of_group(statement, begin);
    if (end == begin) return out;
    out.replace(begin, end - begin, end - begin, ' ');
    const auto name = "\"" + std::string(kEinsumMark) + std::to_string(begin) + "\"";
    if (name.size() > end - begin) return out;
    out.replace(begin, name.size(), name);
    tokenizer = Tokenizer(statement, end, kPostgresRules);
    token = tokenizer.next();
  }
  return out;
}

}  // namespace

std::optional<Translated> translate(std::string_view statement, const FindColumns& find_columns,
                                    const std::map<std::size_t, SqlType>& stated) {
  const auto tree = ParseTree::parse(with_placeholders(statement));
  if (!tree) return std::nullopt;
  Translator translator(statement, find_columns, stated);
  try {
    auto text = translator.statement(tree->statement());
    Translated out{.text = std::move(text),
                   .parameters = translator.parameters(),
                   .uses_catalog = translator.uses_catalog(),
                   .columns = {}};
    for (const auto& column : translator.columns()) out.columns.push_back(declared_type(column));
    return out;
  } catch (const NotTranslated&) {
    return std::nullopt;
  }
}

}  // namespace eindb::dialect
