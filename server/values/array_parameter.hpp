#pragma once

#include <string>
#include <string_view>

#include "server/values/data_type.hpp"

namespace eindb {

/// The text of an array, {1,2,NULL}, that a client sends in binary as a parameter of `type`: SQL has arrays as text.
/// ProtocolError for bytes that are no such array; Error{Unsupported} for more than one dimension, and for elements of
/// types that eindb has no values of.
std::string read_binary_array(std::string_view value, DataType type);

}  // namespace eindb
