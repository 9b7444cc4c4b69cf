#include "server/values/declared_type.hpp"

#include <algorithm>
#include <array>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "engine/dialect/sql_type.hpp"
#include "engine/results/column_types.hpp"

namespace eindb {
namespace {

struct CatalogType {
  std::string_view name;
  DataType type;
};

/// Types that occur only in tables of pg_catalog.
constexpr std::array kCatalogTypes{CatalogType{"oid", DataType::Oid}, CatalogType{"name text", DataType::Name},
                                   CatalogType{"pgchar", DataType::Char},
                                   CatalogType{"int2vector", DataType::Int2Vector}};

/// PostgreSQL adds this to all modifiers; that of a numeric has the scale in its lower bits, and the precision above.
constexpr std::int32_t kModifierBase = 4;
constexpr int kScaleBits = 16;

/// PostgreSQL's types whose values SQLite keeps as texts or numbers; Unspecified for others.
DataType type_with_values(std::string_view declared) {
  const auto type = dialect::type_of_declared(declared);
  switch (type) {
    case dialect::SqlType::Numeric: return DataType::Numeric;
    case dialect::SqlType::Date: return DataType::Date;
    case dialect::SqlType::Time: return DataType::Time;
    case dialect::SqlType::Timestamp: return DataType::Timestamp;
    case dialect::SqlType::TimestampTz: return DataType::TimestampTz;
    case dialect::SqlType::Interval: return DataType::Interval;
    case dialect::SqlType::Uuid: return DataType::Uuid;
    case dialect::SqlType::Json: return DataType::Json;
    default: break;
  }
  if (type != dialect::SqlType::Text) return DataType::Unspecified;
  if (dialect::padded_width(declared)) return DataType::BpChar;
  return dialect::modifiers_of(declared).empty() ? DataType::Unspecified : DataType::Varchar;
}

}  // namespace

DataType declared_data_type(std::string_view declared) {
  constexpr std::string_view kArray = "[]";
  declared = dialect::without_quotes(declared);
  if (declared.ends_with(kArray)) {
    const auto* const element = find_data_type(declared_data_type(declared.substr(0, declared.size() - kArray.size())));
    CHECK(element != nullptr, "declared types are known ones");
    return element->array == DataType::Unspecified ? DataType::TextArray : element->array;
  }
  const auto* const found = std::find_if(kCatalogTypes.begin(), kCatalogTypes.end(), [&](const CatalogType& known) {
    return equal_ignoring_case(known.name, declared);
  });
  if (found != kCatalogTypes.end()) return found->type;
  const auto type = type_with_values(declared);
  return type == DataType::Unspecified ? data_type(declared_column_type(declared)) : type;
}

std::int32_t declared_modifier(std::string_view declared) {
  constexpr std::int64_t kMostLength = 10485760;
  constexpr std::int64_t kMostDigits = 1000;
  const auto type = declared_data_type(declared);
  auto modifiers = dialect::modifiers_of(declared);
  if (const auto width = dialect::padded_width(declared); width && modifiers.empty()) modifiers = {*width};
  if (modifiers.empty() || modifiers.size() > 2) return -1;
  const auto first = modifiers[0];
  if ((type == DataType::Varchar || type == DataType::BpChar) && first > 0 && first <= kMostLength)
    return static_cast<std::int32_t>(first) + kModifierBase;
  const auto scale = modifiers.size() > 1 ? modifiers[1] : 0;
  if (type != DataType::Numeric || first < 1 || first > kMostDigits || scale < 0 || scale > kMostDigits) return -1;
  return static_cast<std::int32_t>((first << kScaleBits) | scale) + kModifierBase;
}

std::int64_t width_of(DataType type, std::int32_t modifier) {
  return type == DataType::BpChar && modifier > kModifierBase ? modifier - kModifierBase : 0;
}

int scale_of(std::int32_t numeric_modifier) {
  if (numeric_modifier < kModifierBase) return -1;
  return (numeric_modifier - kModifierBase) & ((1 << kScaleBits) - 1);
}

DataType column_data_type(const Column& column) {
  return column.declared_type.empty() ? data_type(column.type) : declared_data_type(column.declared_type);
}

}  // namespace eindb
