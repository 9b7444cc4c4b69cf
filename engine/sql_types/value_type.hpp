#pragma once

#include <cstdint>
#include <string_view>

namespace eindb {

/// The type of an SQL expression's values; any value may also be NULL. The order is from fewer to more possible values:
/// a CASE of Null and Text is Text, one of Integer and Text is Unknown.
enum class ValueType : std::uint8_t {
  Null,     ///< only NULL
  Boolean,  ///< 0 or 1, as comparisons return
  Integer,
  Real,
  Number,  ///< integer or real, varying by row
  Text,
  Blob,
  Unknown
};

/// The smallest type that covers both.
ValueType common_type(ValueType a, ValueType b);
/// The type of a + b, a - b, a * b, a / b and a % b. SQLite converts all operands to numbers.
ValueType arithmetic_type(ValueType a, ValueType b);
/// The type of a column by its type in CREATE TABLE: by the words that SQLite looks for (INT, CHAR, ...), and words for
/// booleans and decimals. Values in SQLite's tables need not have it.
ValueType declared_type(std::string_view declared);
/// The type of CAST(e AS name).
ValueType cast_type(std::string_view name);

}  // namespace eindb
