#include "engine/dialect/trigger_parts.hpp"

#include "parser/token_value.hpp"
#include "parser/tokenizer.hpp"

namespace eindb::dialect {
namespace {

bool creates_trigger(Tokenizer tokenizer) {
  if (!tokenizer.next().is_word("CREATE")) return false;
  auto token = tokenizer.next();
  if (token.is_word("TEMP") || token.is_word("TEMPORARY")) token = tokenizer.next();
  return token.is_word("TRIGGER");
}

std::string name_in(const Token& token) { return token.is_quoted() ? unquote(token) : std::string(token.text); }

}  // namespace

std::optional<TriggerParts> trigger_parts(std::string_view statement) {
  if (!creates_trigger(Tokenizer(statement, kPostgresRules))) return std::nullopt;
  TriggerParts out;
  const auto tokens = tokens_of(statement, kPostgresRules);
  std::size_t n = 0;
  while (n + 1 < tokens.size() && !tokens[n].is_word("BEGIN")) {
    if (tokens[n].is_word("ON")) out.table = name_in(tokens[n + 1]);
    if (tokens[n].is_word("WHEN")) out.parts.push_back({tokens[n].span.end, 0, true});
    ++n;
  }
  if (out.parts.size() > 1 || n + 1 >= tokens.size()) return std::nullopt;
  if (!out.parts.empty()) out.parts[0].end = tokens[n].span.begin;
  auto last = tokens.size() - 1;  // the END of the trigger, before semicolons and the end of the text
  while (last > n && (tokens[last].is(Token::Kind::End) || tokens[last].is_symbol(';'))) --last;
  if (!tokens[last].is_word("END")) return std::nullopt;
  for (++n; n < last; ++n) {
    const auto begin = tokens[n].span.begin;
    auto end = begin;
    for (; n < last && !tokens[n].is_symbol(';'); ++n) end = tokens[n].span.end;
    if (end > begin) out.parts.push_back({begin, end, false});
  }
  return out;
}

}  // namespace eindb::dialect
