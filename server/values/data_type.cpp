#include "server/values/data_type.hpp"

#include <algorithm>
#include <array>

namespace eindb {
namespace {

using enum DataType;

constexpr std::array kTypes{
    DataTypeInfo{Bool, "bool", 1, BoolArray},
    DataTypeInfo{Bytea, "bytea", -1, Unspecified},
    DataTypeInfo{Char, "char", 1, Unspecified},
    DataTypeInfo{Name, "name", 64, Unspecified},
    DataTypeInfo{Int8, "int8", 8, Int8Array},
    DataTypeInfo{Int2, "int2", 2, Int2Array},
    DataTypeInfo{Int2Vector, "int2vector", -1, Unspecified},
    DataTypeInfo{Int4, "int4", 4, Int4Array},
    DataTypeInfo{Text, "text", -1, TextArray},
    DataTypeInfo{Oid, "oid", 4, OidArray},
    DataTypeInfo{Json, "json", -1, Unspecified},
    DataTypeInfo{Float4, "float4", 4, Float4Array},
    DataTypeInfo{Float8, "float8", 8, Float8Array},
    DataTypeInfo{Unknown, "unknown", -2, Unspecified},
    DataTypeInfo{BoolArray, "_bool", -1, Unspecified},
    DataTypeInfo{Int2Array, "_int2", -1, Unspecified},
    DataTypeInfo{Int4Array, "_int4", -1, Unspecified},
    DataTypeInfo{TextArray, "_text", -1, Unspecified},
    DataTypeInfo{Int8Array, "_int8", -1, Unspecified},
    DataTypeInfo{Float4Array, "_float4", -1, Unspecified},
    DataTypeInfo{Float8Array, "_float8", -1, Unspecified},
    DataTypeInfo{OidArray, "_oid", -1, Unspecified},
    DataTypeInfo{BpChar, "bpchar", -1, BpCharArray},
    DataTypeInfo{Varchar, "varchar", -1, VarcharArray},
    DataTypeInfo{Date, "date", 4, DateArray},
    DataTypeInfo{Time, "time", 8, TimeArray},
    DataTypeInfo{Timestamp, "timestamp", 8, TimestampArray},
    DataTypeInfo{TimestampTz, "timestamptz", 8, TimestampTzArray},
    DataTypeInfo{Interval, "interval", 16, IntervalArray},
    DataTypeInfo{Numeric, "numeric", -1, NumericArray},
    DataTypeInfo{Uuid, "uuid", 16, UuidArray},
    DataTypeInfo{BpCharArray, "_bpchar", -1, Unspecified},
    DataTypeInfo{VarcharArray, "_varchar", -1, Unspecified},
    DataTypeInfo{TimestampArray, "_timestamp", -1, Unspecified},
    DataTypeInfo{DateArray, "_date", -1, Unspecified},
    DataTypeInfo{TimeArray, "_time", -1, Unspecified},
    DataTypeInfo{TimestampTzArray, "_timestamptz", -1, Unspecified},
    DataTypeInfo{IntervalArray, "_interval", -1, Unspecified},
    DataTypeInfo{NumericArray, "_numeric", -1, Unspecified},
    DataTypeInfo{UuidArray, "_uuid", -1, Unspecified},
};

}  // namespace

const DataTypeInfo* find_data_type(DataType type) {
  const auto* const found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const DataTypeInfo& info) { return info.type == type; });
  return found == kTypes.end() ? nullptr : found;
}

bool is_array(DataType type) { return element_type(type) != Unspecified; }

DataType element_type(DataType array) {
  if (array == Unspecified) return Unspecified;
  const auto* const found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const DataTypeInfo& info) { return info.array == array; });
  return found == kTypes.end() ? Unspecified : found->type;
}

DataType data_type(ColumnType type) {
  switch (type) {
    case ColumnType::Integer: return Int8;
    case ColumnType::Float32:
    case ColumnType::Complex64: return Float4;
    case ColumnType::Float64:
    case ColumnType::Complex128: return Float8;
    case ColumnType::Boolean: return Bool;
    case ColumnType::Blob: return Bytea;
    case ColumnType::Text:
    case ColumnType::Any: break;
  }
  return Text;
}

ColumnType column_type(DataType type) {
  switch (type) {
    case Bool: return ColumnType::Boolean;
    case Int2:
    case Int4:
    case Int8:
    case Oid: return ColumnType::Integer;
    case Float4:
    case Float8:
    case Numeric: return ColumnType::Float64;
    case Bytea: return ColumnType::Blob;
    case Unspecified:
    case Unknown: return ColumnType::Any;
    default: return ColumnType::Text;
  }
}

}  // namespace eindb
