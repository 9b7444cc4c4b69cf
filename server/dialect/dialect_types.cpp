#include "server/dialect/dialect_types.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "common/check.hpp"

namespace eindb {
namespace {

using enum DataType;

struct NamedType {
  std::string_view name;
  DataType type;
};

// In alphabetical order.
constexpr std::array kNamedTypes{
    NamedType{"bigint", Int8},
    NamedType{"bool", Bool},
    NamedType{"boolean", Bool},
    NamedType{"bpchar", BpChar},
    NamedType{"bytea", Bytea},
    NamedType{"char", BpChar},
    NamedType{"character", BpChar},
    NamedType{"cid", Int8},
    NamedType{"date", Date},
    NamedType{"decimal", Numeric},
    NamedType{"double", Float8},
    NamedType{"float", Float8},
    NamedType{"float4", Float4},
    NamedType{"float8", Float8},
    NamedType{"int", Int4},
    NamedType{"int2", Int2},
    NamedType{"int4", Int4},
    NamedType{"int8", Int8},
    NamedType{"integer", Int4},
    NamedType{"interval", Interval},
    NamedType{"json", Json},
    NamedType{"name", Name},
    NamedType{"numeric", Numeric},
    NamedType{"oid", Oid},
    NamedType{"real", Float4},
    NamedType{"regclass", Text},
    NamedType{"regnamespace", Text},
    NamedType{"regproc", Text},
    NamedType{"regprocedure", Text},
    NamedType{"regrole", Text},
    NamedType{"regtype", Text},
    NamedType{"smallint", Int2},
    NamedType{"text", Text},
    NamedType{"time", Time},
    NamedType{"timestamp", Timestamp},
    NamedType{"timestamptz", TimestampTz},
    NamedType{"uuid", Uuid},
    NamedType{"varchar", Varchar},
    NamedType{"xid", Int8},
};

DataType type_named(std::string_view name) {
  const auto* const found = std::lower_bound(kNamedTypes.begin(), kNamedTypes.end(), name,
                                             [](const NamedType& type, std::string_view n) { return type.name < n; });
  return found == kNamedTypes.end() || found->name != name ? Unspecified : found->type;
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
/// Returns whether the type has a time zone.
bool skip_rest_of_name(TypeReader& reader, std::string_view first) {
  if (first == "double") reader.accept_word("precision");
  if (first == "character" || first == "char" || first == "bit") reader.accept_word("varying");
  skip_modifiers(reader);
  const bool has_zone = reader.peek().is_word("with");
  const bool tells = (first == "timestamp" || first == "time") && reader.peek(1).is_word("time") &&
                     (has_zone || reader.peek().is_word("without"));
  if (tells) reader.skip(3);
  return tells && has_zone;
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
  TypeName result{.type = Unspecified, .end = begin};
  if (!reader.peek().is_name()) return result;
  if (reader.peek(1).is_symbol('.') && reader.peek(2).is_name()) reader.skip(2);
  const auto token = reader.peek();
  const bool quoted = token.is(Token::Kind::QuotedName);
  const auto name = quoted ? unquote(token) : to_lower(token.text);
  reader.skip(1);
  const bool zoned = !quoted && skip_rest_of_name(reader, name);
  result.type = quoted && name == "char" ? Char : zoned ? type_named(name + "tz") : type_named(name);
  if (skip_brackets(reader)) result.type = array_of(result.type);
  result.end = reader.at();
  return result;
}

}  // namespace eindb
