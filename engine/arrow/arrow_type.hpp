#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/arrow/arrow_values.hpp"

namespace eindb {

/// How values of a column lie in its buffers.
enum class ArrowKind : std::uint8_t {
  Null,
  Bool,
  Signed,
  Unsigned,
  Float,
  Decimal,
  Text,
  LargeText,
  TextView,
  Date,
  Timestamp,
  Dictionary,
  List,
  Struct
};

/// The type of a column, by its schema.
struct ArrowType {
  std::string name;
  std::string format;
  ArrowKind kind = ArrowKind::Null;
  int size = 0;                     ///< bytes of a number, a day or a time
  std::int64_t per_unit = 1;        ///< units of a date in a day, of a time in a second, or of a decimal number in 1
  std::int64_t list_size = 0;       ///< of a list of fixed size
  std::vector<ArrowType> parts;     ///< a dictionary, the elements of a list, the columns of a struct
  std::vector<std::int64_t> shape;  ///< of an extension arrow.fixed_shape_tensor: of an element
  std::vector<std::string> dim_names;
};

/// The type of the field's column. Error{Corrupt} for a field that is not as the specification says, Error{Unsupported}
/// for types that neither numbers nor texts nor times are made of.
ArrowType arrow_type(const ArrowField& field);

/// Throws Error{Corrupt} for a column.
[[noreturn]] void bad_arrow(const std::string& name, const std::string& what);

}  // namespace eindb
