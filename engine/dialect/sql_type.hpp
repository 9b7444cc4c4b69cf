#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace eindb::dialect {

/// A type of PostgreSQL's SQL, as far as eindb distinguishes them. Integers of all widths hold 64 bits; float4 and
/// float8 are one type; numeric is computed as float8. Dates and times are texts in ISO format.
enum class SqlType : std::uint8_t {
  Unknown,  ///< a text constant, NULL or parameter whose type the context determines
  Any,      ///< values of any type, as of a column without a declared type: nothing is checked
  Bool,
  Integer,
  Numeric,
  Float,
  Text,
  Date,
  Time,
  Timestamp,
  TimestampTz,
  Interval,
  Uuid,
  Bytea,
  Json,
  Array,
  Complex  ///< of the val of a complex tensor: texts, which are compared for equality and shown, and nothing else
};

/// PostgreSQL's name of the type, for messages: "integer", "timestamp without time zone".
std::string_view name_of(SqlType type);
/// The type that a column has which CREATE TABLE declares so: "VARCHAR(20)" is Text. Any for unknown names.
SqlType type_of_declared(std::string_view declared);
/// The type in CREATE TABLE without quotes, in which that of an array stands: "int4[]".
std::string_view without_quotes(std::string_view declared);
/// The type of this name in a cast, given without schema and in lower case: int4, varchar, timestamptz, serial.
/// Any for unknown names.
SqlType type_named(std::string_view name);

/// n of char(n), whose values are stored without blanks at their end, compared so, and sent with blanks up to n
/// characters. nullopt for other types.
std::optional<std::int64_t> padded_width(std::string_view declared);

/// The numbers in parentheses: 10 and 2 of "numeric(10, 2)".
std::vector<std::int64_t> modifiers_of(std::string_view declared);

constexpr bool is_number(SqlType type) {
  return type == SqlType::Integer || type == SqlType::Numeric || type == SqlType::Float;
}
constexpr bool is_moment(SqlType type) {
  return type == SqlType::Date || type == SqlType::Timestamp || type == SqlType::TimestampTz;
}

}  // namespace eindb::dialect
