#include "engine/sql_functions/sql_functions.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

[[maybe_unused]] bool are_distinct(const std::vector<SqlFunction>& functions) {
  std::set<std::pair<std::string, int>> seen;
  return std::all_of(functions.begin(), functions.end(), [&](const SqlFunction& function) {
    return seen.emplace(function.name, function.arguments).second;
  });
}

std::vector<SqlFunction> all_functions() {
  std::vector<SqlFunction> functions;
  for (auto&& part : {array_functions(), text_functions(), string_functions(), pattern_functions(), digest_functions(),
                      format_functions(), number_functions(), moment_functions(), json_functions()})
    functions.insert(functions.end(), part.begin(), part.end());
  DCHECK(are_distinct(functions), "no two functions have the same name and number of arguments");
  return functions;
}

}  // namespace

const std::vector<SqlFunction>& all_sql_functions() {
  static const auto kFunctions = all_functions();
  return kFunctions;
}

}  // namespace eindb
