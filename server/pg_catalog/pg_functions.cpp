#include "server/pg_catalog/pg_functions.hpp"

#include <iterator>
#include <utility>

#include "server/pg_catalog/pg_session_functions.hpp"

namespace eindb {

std::vector<SqlFunction> pg_functions(const std::shared_ptr<const ClientIdentity>& client) {
  std::vector<SqlFunction> functions;
  for (auto&& part : {pg_array_functions(), pg_text_functions(), pg_system_functions(client),
                      pg_session_functions(client), pg_catalog_queries()})
    functions.insert(functions.end(), part.begin(), part.end());
  return functions;
}

}  // namespace eindb
