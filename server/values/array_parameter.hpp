#pragma once

#include <string>
#include <string_view>

#include "server/values/data_type.hpp"

namespace eindb {

/// Converts a binary array that a client sends as a parameter of `type` to text, {1,2,NULL}, the form of arrays in SQL.
/// ProtocolError for invalid bytes; Error{Unsupported} for more than one dimension, and for element types without
/// values in eindb.
std::string read_binary_array(std::string_view value, DataType type);

}  // namespace eindb
