#pragma once

#include <cstdint>
#include <string_view>

namespace eindb {

/// What is known of the values that an expression of SQL gives, beside NULL, which all may be. From the least to the
/// most that may come: a CASE of Null and Text is Text, one of Integer and Text is Unknown.
enum class ValueType : std::uint8_t {
  Null,     ///< nothing else
  Boolean,  ///< 0 or 1, as a comparison gives
  Integer,
  Real,
  Number,  ///< an integer or a real, from row to row
  Text,
  Blob,
  Unknown
};

/// What covers the values of both.
ValueType common_type(ValueType a, ValueType b);
/// Of a + b, a - b, a * b, a / b and a % b: SQLite takes whatever it is given for a number.
ValueType arithmetic_type(ValueType a, ValueType b);
/// Of a column by the type in its CREATE TABLE, by the words that SQLite looks for (INT, CHAR, ...) and those for truth
/// values and decimals. Values of SQLite's tables need not keep to it.
ValueType declared_type(std::string_view declared);
/// Of CAST(e AS name), which makes all values so.
ValueType cast_type(std::string_view name);

}  // namespace eindb
