#include "catalog/catalog_sql.hpp"

namespace eindb {

std::string in_schema(std::string_view schema, std::string_view sql) {
  const auto quoted = quote_identifier(schema);
  std::string out;
  for (const char c : sql) {
    if (c == '$') out += quoted;
    else out += c;
  }
  return out;
}

}  // namespace eindb
