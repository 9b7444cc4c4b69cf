#include "engine/results/column_types.hpp"

namespace eindb {

ColumnType column_type(ValueType type) {
  switch (type) {
    case ValueType::Boolean: return ColumnType::Boolean;
    case ValueType::Integer: return ColumnType::Integer;
    case ValueType::Real:
    case ValueType::Number: return ColumnType::Float64;
    case ValueType::Text: return ColumnType::Text;
    case ValueType::Blob: return ColumnType::Blob;
    case ValueType::Null:
    case ValueType::Unknown: break;
  }
  return ColumnType::Any;
}

ValueType value_type(ColumnType type) {
  switch (type) {
    case ColumnType::Boolean: return ValueType::Boolean;
    case ColumnType::Integer: return ValueType::Integer;
    case ColumnType::Float32:
    case ColumnType::Float64: return ValueType::Real;
    case ColumnType::Text: return ValueType::Text;
    case ColumnType::Blob: return ValueType::Blob;
    default: return ValueType::Unknown;
  }
}

ColumnType declared_column_type(std::string_view declared) { return column_type(declared_type(declared)); }

}  // namespace eindb
