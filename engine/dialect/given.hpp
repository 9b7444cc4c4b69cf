#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "engine/dialect/sql_type.hpp"

namespace eindb::dialect {

/// What is known of a statement beside its text.
struct Given {
  std::map<std::size_t, SqlType> parameters = {};  ///< the types that are stated of parameters, by number
  /// Whether the values of parameters may be of any type, so that the statement converts them to those that they need.
  bool converts = false;
  std::vector<std::string> variables = {};  ///< integers that are written :name, as in a loop
};

}  // namespace eindb::dialect
