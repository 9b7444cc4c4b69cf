#include "engine/dialect/translate.hpp"

#include <utility>

#include "engine/dialect/parse_tree.hpp"
#include "engine/dialect/translator.hpp"

namespace eindb::dialect {

std::optional<Translated> translate(std::string_view statement, const FindColumns& find_columns) {
  const auto tree = ParseTree::parse(statement);
  if (!tree) return std::nullopt;
  Translator translator(statement, find_columns);
  try {
    auto text = translator.statement(tree->statement());
    return Translated{std::move(text), translator.parameters()};
  } catch (const NotTranslated&) {
    return std::nullopt;
  }
}

}  // namespace eindb::dialect
