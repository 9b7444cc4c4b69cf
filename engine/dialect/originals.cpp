#include "engine/dialect/originals.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "parser/tokenizer.hpp"

namespace eindb::dialect {
namespace {

constexpr std::string_view kOpen = "/* PostgreSQL ";
constexpr std::string_view kBetween = ": ";
constexpr std::string_view kClose = " */ ";

/// FNV-1a of 64 bits, in hexadecimal: it tells whether the translation is still the one that was kept.
std::string digest_of(std::string_view text) {
  std::uint64_t digest = 0xcbf29ce484222325U;
  for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::array<char, 16> digits{};
  auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), digest, 16).ptr;
  return {digits.data(), end};
}

bool calls_own_functions(std::string_view text) {
  const auto tokens = tokens_of(text, kPostgresRules);
  return std::any_of(tokens.begin(), tokens.end(),
                     [](const Token& token) { return token.is(Token::Kind::Word) && token.text.starts_with("pg_"); });
}

/// A comment of with_original(), which stands before the translation.
struct Kept {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t depth = 0;  ///< the number of parentheses around it
  std::string_view digest;
  std::string_view original;
};

std::optional<Kept> kept_at(std::string_view text, std::size_t place, std::size_t depth) {
  const auto rest = text.substr(place);
  if (!rest.starts_with(kOpen)) return std::nullopt;
  const auto between = rest.find(kBetween, kOpen.size());
  const auto close = rest.find(kClose, kOpen.size());
  if (close == std::string_view::npos || between > close) return std::nullopt;
  const auto begin = between + kBetween.size();
  return Kept{.begin = place,
              .end = place + close + kClose.size(),
              .depth = depth,
              .digest = rest.substr(kOpen.size(), between - kOpen.size()),
              .original = rest.substr(begin, close - begin)};
}

}  // namespace

std::string with_original(std::string_view translated, std::string_view original) {
  std::string out;
  const bool fits = original.find("*/") == std::string_view::npos && original.find("/*") == std::string_view::npos;
  if (fits && calls_own_functions(translated))
    out.append(kOpen).append(digest_of(translated)).append(kBetween).append(original).append(kClose);
  return out.append(translated);
}

std::string as_written(std::string_view definition) {
  std::string out;
  std::size_t copied = 0;
  std::size_t depth = 0;
  auto kept = kept_at(definition, 0, depth);
  const auto end_at = [&](std::size_t end) {
    out.append(definition.substr(copied, kept->begin - copied));
    const bool is_current = kept->digest == digest_of(definition.substr(kept->end, end - kept->end));
    if (is_current) out.append(kept->original);
    copied = is_current ? end : kept->end;
    kept.reset();
  };
  std::size_t end = 0;
  Tokenizer tokenizer(definition, 0, kPostgresRules);
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       token = tokenizer.next()) {
    if (token.is_symbol(')')) {
      if (kept && kept->depth == depth) end_at(token.span.begin);
      depth -= depth > 0 ? 1 : 0;
    } else if (token.is_symbol('(')) {
      ++depth;
      if (!kept) kept = kept_at(definition, token.span.end, depth);
    }
    end = token.span.end;
  }
  if (kept && kept->depth == 0) end_at(end);
  return out.append(definition.substr(copied));
}

std::string query_of_view(std::string_view create_view) {
  Tokenizer tokenizer(create_view, 0, kPostgresRules);
  auto token = tokenizer.next();
  while (!token.is_word("AS")) {
    if (token.is(Token::Kind::End) || token.is(Token::Kind::Unterminated)) return {};
    token = tokenizer.next();
  }
  const auto query = create_view.find_first_not_of(" \t\r\n", token.span.end);
  return query == std::string_view::npos ? std::string() : as_written(create_view.substr(query));
}

}  // namespace eindb::dialect
