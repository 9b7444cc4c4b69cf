#include "server/values/declared_type.hpp"

#include <algorithm>
#include <array>

#include "common/letter_case.hpp"
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

}  // namespace

DataType declared_data_type(std::string_view declared) {
  const auto* const found = std::find_if(kCatalogTypes.begin(), kCatalogTypes.end(), [&](const CatalogType& known) {
    return equal_ignoring_case(known.name, declared);
  });
  return found == kCatalogTypes.end() ? data_type(declared_column_type(declared)) : found->type;
}

DataType column_data_type(const Column& column) {
  return column.declared_type.empty() ? data_type(column.type) : declared_data_type(column.declared_type);
}

}  // namespace eindb
