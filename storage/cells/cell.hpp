#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/dtype.hpp"

namespace eindb {

/// A number as given by the user, before it is converted to the type of a tensor.
using CellValue = std::variant<std::int64_t, double, std::complex<double>>;

/// A cell of a list: its key, one index per dimension, and its value.
struct KeyedCell {
  std::vector<std::int64_t> key;
  CellValue value;
  std::int64_t line = 0;  ///< its origin: a line of a file, or a row of a query
};

/// The value as T, one of the element types, or nullopt if T cannot hold it: a fraction, a real beyond the range of
/// INT64 or FLOAT32, a complex number in a real type. Reals are rounded to the precision of T.
template <class T>
std::optional<T> to_element(const CellValue& value);

/// "1.5", "-3", "1.5-2.0j".
std::string to_string(const CellValue& value);

/// Parses `text` as one number: an integer that fits INT64, otherwise a real, or a complex number such as 1.5-2j or 2j.
/// "+5", "Inf" and "nan" are accepted; hexadecimal numbers and reals too large for FLOAT64 are not.
std::optional<CellValue> parse_cell_value(std::string_view text);
/// The same for integers and reals only.
std::optional<CellValue> parse_real_value(std::string_view text);

/// The type that holds both: INT64, FLOAT64 or COMPLEX128.
DType wider(DType type, const CellValue& value);

/// "(0, 3)": a key for messages, counted from `base`.
std::string key_text(const std::vector<std::int64_t>& key, std::int64_t base);

}  // namespace eindb
