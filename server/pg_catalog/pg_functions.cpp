#include "server/pg_catalog/pg_functions.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "server/pg_catalog/pg_session_functions.hpp"

namespace eindb {

namespace {

[[maybe_unused]] bool are_distinct(const std::vector<SqlFunction>& functions) {
  std::set<std::pair<std::string, int>> seen;
  return std::all_of(functions.begin(), functions.end(), [&](const SqlFunction& function) {
    return seen.emplace(function.name, function.arguments).second;
  });
}

}  // namespace

std::vector<SqlFunction> pg_functions(const std::shared_ptr<const ClientIdentity>& client) {
  CHECK(client != nullptr, "functions tell of a client");
  std::vector<SqlFunction> functions;
  for (auto&& part :
       {pg_schema_functions(), pg_system_functions(client), pg_session_functions(client), pg_catalog_queries()})
    functions.insert(functions.end(), part.begin(), part.end());
  DCHECK(are_distinct(functions), "no two functions have the same name and number of arguments");
  return functions;
}

}  // namespace eindb
