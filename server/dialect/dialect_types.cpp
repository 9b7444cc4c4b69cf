#include "server/dialect/dialect_types.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "common/check.hpp"

namespace eindb {
namespace {

using enum DataType;

struct NamedCast {
  std::string_view name;
  CastTarget cast;
};

constexpr std::string_view kInteger = " AS INTEGER)";
constexpr std::string_view kReal = " AS REAL)";
constexpr std::string_view kText = " AS TEXT)";
constexpr std::string_view kCast = "CAST(";

// The functions are PgCatalog's. Types missing here are text for SQLite.
constexpr std::array kCasts{
    NamedCast{"bigint", {kCast, kInteger, Int8}},
    NamedCast{"bool", {"pg_bool(", ")", Bool}},
    NamedCast{"boolean", {"pg_bool(", ")", Bool}},
    NamedCast{"bpchar", {kCast, kText, BpChar}},
    NamedCast{"bytea", {"pg_bytea(", ")", Bytea}},
    NamedCast{"char", {kCast, kText, BpChar}},
    NamedCast{"character", {kCast, kText, BpChar}},
    NamedCast{"cid", {kCast, kInteger, Int8}},
    NamedCast{"decimal", {kCast, " AS NUMERIC)", Numeric}},
    NamedCast{"double", {kCast, kReal, Float8}},
    NamedCast{"float", {kCast, kReal, Float8}},
    NamedCast{"float4", {kCast, kReal, Float4}},
    NamedCast{"float8", {kCast, kReal, Float8}},
    NamedCast{"int", {kCast, kInteger, Int4}},
    NamedCast{"int2", {kCast, kInteger, Int2}},
    NamedCast{"int4", {kCast, kInteger, Int4}},
    NamedCast{"int8", {kCast, kInteger, Int8}},
    NamedCast{"integer", {kCast, kInteger, Int4}},
    NamedCast{"json", {kCast, kText, Json}},
    NamedCast{"name", {kCast, kText, Name}},
    NamedCast{"numeric", {kCast, " AS NUMERIC)", Numeric}},
    NamedCast{"oid", {kCast, kInteger, Oid}},
    NamedCast{"real", {kCast, kReal, Float4}},
    NamedCast{"regclass", {"regclass(", ")", Text}},
    NamedCast{"regnamespace", {"regnamespace(", ")", Text}},
    NamedCast{"regproc", {"regproc(", ")", Text}},
    NamedCast{"regprocedure", {"regproc(", ")", Text}},
    NamedCast{"regrole", {"regrole(", ")", Text}},
    NamedCast{"regtype", {"regtype(", ")", Text}},
    NamedCast{"smallint", {kCast, kInteger, Int2}},
    NamedCast{"text", {kCast, kText, Text}},
    NamedCast{"varchar", {kCast, kText, Varchar}},
    NamedCast{"xid", {kCast, kInteger, Int8}},
};

const CastTarget* find_cast(std::string_view name) {
  const auto* const found = std::lower_bound(kCasts.begin(), kCasts.end(), name,
                                             [](const NamedCast& cast, std::string_view n) { return cast.name < n; });
  return found == kCasts.end() || found->name != name ? nullptr : &found->cast;
}

/// Reads tokens one by one; after the last it returns End.
class TypeReader {
 public:
  TypeReader(std::span<const Token> tokens, std::size_t at) : tokens_(tokens), at_(at) {
    CHECK(at < tokens.size(), "a type is read at a token");
  }

  std::size_t at() const { return at_; }
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  void skip(std::size_t count) { at_ = std::min(at_ + count, tokens_.size() - 1); }
  bool accept_word(std::string_view word) {
    if (!peek().is_word(word)) return false;
    skip(1);
    return true;
  }

 private:
  std::span<const Token> tokens_;
  std::size_t at_;
};

/// Skips (20) or (10, 2).
void skip_modifiers(TypeReader& reader) {
  if (!reader.peek().is_symbol('(') || !reader.peek(1).is_number()) return;
  if (reader.peek(2).is_symbol(')')) reader.skip(3);
  else if (reader.peek(2).is_symbol(',') && reader.peek(4).is_symbol(')')) reader.skip(5);
}

/// Skips the remainder of a name of several words: double PRECISION, character VARYING, timestamp(3) WITH TIME ZONE.
void skip_rest_of_name(TypeReader& reader, std::string_view first) {
  if (first == "double") reader.accept_word("precision");
  if (first == "character" || first == "char" || first == "bit") reader.accept_word("varying");
  skip_modifiers(reader);
  const bool has_zone = reader.peek().is_word("with") || reader.peek().is_word("without");
  if ((first == "timestamp" || first == "time") && has_zone && reader.peek(1).is_word("time")) reader.skip(3);
}

/// Skips brackets of array types: int2[], int2[3], int2[][].
bool skip_brackets(TypeReader& reader) {
  bool is_array = false;
  while (reader.peek().is_symbol('[')) {
    const std::size_t length = reader.peek(1).is_number() ? 3 : 2;
    if (!reader.peek(length - 1).is_symbol(']')) break;
    reader.skip(length);
    is_array = true;
  }
  return is_array;
}

DataType array_of(DataType element) {
  const auto* const info = find_data_type(element);
  return info == nullptr ? Unspecified : info->array;
}

}  // namespace

TypeName read_type_name(std::span<const Token> tokens, std::size_t begin) {
  TypeReader reader(tokens, begin);
  TypeName result{.cast = {}, .end = begin, .is_plain = false};
  if (!reader.peek().is_name()) return result;
  const bool has_schema = reader.peek(1).is_symbol('.') && reader.peek(2).is_name();
  if (has_schema) reader.skip(2);
  const auto token = reader.peek();
  const bool quoted = token.is(Token::Kind::QuotedName);
  const auto name = quoted ? unquote(token) : to_lower(token.text);
  reader.skip(1);
  if (!quoted) skip_rest_of_name(reader, name);
  if (const auto* known = find_cast(name)) result.cast = *known;
  if (quoted && name == "char") result.cast.type = Char;
  const bool is_array = skip_brackets(reader);
  if (is_array) result.cast = {.open = kCast, .close = kText, .type = array_of(result.cast.type)};
  result.is_plain = !has_schema && !is_array && !quoted && result.cast.open == kCast;
  result.end = reader.at();
  return result;
}

}  // namespace eindb
