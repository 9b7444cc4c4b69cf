// Types of SQL's columns and parameters for arbitrary text from clients. The inference ends soon, with bounded stack,
// and returns the requested number of parameters.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/sql_types/sql_types.hpp"

namespace {

using eindb::SqlNames;
using eindb::TypedColumn;
using eindb::ValueType;

void expect(bool condition) {
  if (!condition) std::abort();
}

std::optional<std::vector<TypedColumn>> columns(const std::string& /*schema*/, const std::string& table) {
  if (table.empty() || table.front() == 'n') return std::nullopt;
  return std::vector<TypedColumn>{{"a", ValueType::Integer}, {"b", ValueType::Text}, {"c", ValueType::Unknown, true}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view sql(reinterpret_cast<const char*>(data), size);
  const SqlNames names{columns, [](const std::string& /*function*/) { return ValueType::Unknown; }};
  const std::vector<ValueType> open(3, ValueType::Unknown);
  const auto once = eindb::infer_types(sql, names, open);
  expect(once.parameters.size() == open.size());
  // The parameter types found do not change when they are given.
  const auto again = eindb::infer_types(sql, names, once.parameters);
  expect(again.parameters == once.parameters || once.columns.empty());
  return 0;
}
