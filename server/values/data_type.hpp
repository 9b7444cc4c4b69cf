#pragma once

#include <cstdint>
#include <string_view>

#include "engine/results/result.hpp"

namespace eindb {

/// Types of values for clients: PostgreSQL's object ids.
enum class DataType : std::int32_t {
  Unspecified = 0,
  Bool = 16,
  Bytea = 17,
  Char = 18,
  Name = 19,
  Int8 = 20,
  Int2 = 21,
  Int2Vector = 22,
  Int4 = 23,
  Text = 25,
  Oid = 26,
  Json = 114,
  Float4 = 700,
  Float8 = 701,
  Unknown = 705,
  BoolArray = 1000,
  Int2Array = 1005,
  Int4Array = 1007,
  TextArray = 1009,
  Int8Array = 1016,
  Float4Array = 1021,
  Float8Array = 1022,
  OidArray = 1028,
  BpCharArray = 1014,
  VarcharArray = 1015,
  BpChar = 1042,
  Varchar = 1043,
  Date = 1082,
  Time = 1083,
  Timestamp = 1114,
  TimestampArray = 1115,
  DateArray = 1182,
  TimeArray = 1183,
  TimestampTz = 1184,
  TimestampTzArray = 1185,
  Interval = 1186,
  IntervalArray = 1187,
  NumericArray = 1231,
  Numeric = 1700,
  Uuid = 2950,
  UuidArray = 2951,
};

/// The properties of a type in RowDescription and pg_type.
struct DataTypeInfo {
  DataType type;
  std::string_view name;  ///< name in pg_type: "int8"
  std::int16_t size;      ///< bytes; -1: it varies
  DataType array;         ///< array of this type; Unspecified: none
};

/// Null for an unknown type.
const DataTypeInfo* find_data_type(DataType type);
inline const DataTypeInfo* find_data_type(std::int32_t oid) { return find_data_type(static_cast<DataType>(oid)); }

/// Whether values of the type are arrays.
bool is_array(DataType type);
/// The type of an array's elements; Unspecified if the type is none of arrays.
DataType element_type(DataType array);

/// The client's type for a column of results; Text for Any. Complex numbers are two columns of the parts' type.
DataType data_type(ColumnType type);
/// The engine's type for a parameter of this type; Any if it is unspecified.
ColumnType column_type(DataType type);

}  // namespace eindb
