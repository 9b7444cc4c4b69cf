#include "tensor/stored_type.hpp"

#include <algorithm>
#include <array>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/letter_case.hpp"

namespace eindb {
namespace {

struct EncodingRow {
  std::string_view name;
  DType values;
  EncodingUnit unit;
};

// In the order of Encoding, from 1.
constexpr std::array<EncodingRow, static_cast<std::size_t>(kLastEncoding)> kEncodings{{
    {"BOOL", DType::Int64, {8, 1}},
    {"INT8", DType::Int64, {1, 1}},
    {"UINT8", DType::Int64, {1, 1}},
    {"INT16", DType::Int64, {1, 2}},
    {"UINT16", DType::Int64, {1, 2}},
    {"INT32", DType::Int64, {1, 4}},
    {"UINT32", DType::Int64, {1, 4}},
    {"FLOAT16", DType::Float32, {1, 2}},
    {"BFLOAT16", DType::Float32, {1, 2}},
    {"FLOAT8_E4M3", DType::Float32, {1, 1}},
    {"FLOAT8_E5M2", DType::Float32, {1, 1}},
    {"Q8_0", DType::Float32, {32, 34}},
    {"Q4_0", DType::Float32, {32, 18}},
}};

struct EncodingAlias {
  std::string_view name;
  Encoding encoding;
};
constexpr std::array<EncodingAlias, 5> kAliases{{{"BOOLEAN", Encoding::Bool},
                                                 {"HALF", Encoding::Float16},
                                                 {"BF16", Encoding::BFloat16},
                                                 {"E4M3", Encoding::Float8E4M3},
                                                 {"E5M2", Encoding::Float8E5M2}}};

const EncodingRow& row_of(Encoding encoding) {
  CHECK(encoding != Encoding::Plain && encoding <= kLastEncoding, "an encoding of its own has a row");
  return kEncodings[static_cast<std::size_t>(encoding) - 1];
}

}  // namespace

StoredType with_encoding(Encoding encoding) { return {row_of(encoding).values, encoding}; }

std::string_view name_of(StoredType type) {
  return type.encoding == Encoding::Plain ? name_of(type.values) : row_of(type.encoding).name;
}

std::optional<StoredType> parse_stored_type(std::string_view name) {
  if (const auto type = parse_dtype(name)) return *type;
  for (std::size_t n = 0; n < kEncodings.size(); ++n)
    if (equal_ignoring_case(kEncodings[n].name, name)) return with_encoding(static_cast<Encoding>(n + 1));
  for (const auto& alias : kAliases)
    if (equal_ignoring_case(alias.name, name)) return with_encoding(alias.encoding);
  return std::nullopt;
}

std::string stored_type_names() {
  std::string names = "FLOAT32, FLOAT64, COMPLEX64, COMPLEX128, INT64";
  for (const auto& row : kEncodings) names += (&row == &kEncodings.back() ? " or " : ", ") + std::string(row.name);
  return names;
}

std::optional<Encoding> encoding_from_code(std::int64_t code) {
  if (code < 0 || code > static_cast<std::int64_t>(kLastEncoding)) return std::nullopt;
  return static_cast<Encoding>(code);
}

EncodingUnit unit_of(StoredType type) {
  if (type.encoding == Encoding::Plain) return {1, static_cast<std::int64_t>(size_of(type.values))};
  return row_of(type.encoding).unit;
}

std::int64_t encoded_bytes(StoredType type, std::int64_t cells) {
  CHECK(cells >= 0, "cells are counted");
  const auto [together, bytes] = unit_of(type);
  return checked_multiply(cells / together + (cells % together != 0 ? 1 : 0), bytes);
}

}  // namespace eindb
