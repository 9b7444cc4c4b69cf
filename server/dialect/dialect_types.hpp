#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "engine/statement_text.hpp"
#include "server/values/data_type.hpp"

namespace eindb {

/// The name of a type in the text.
struct TypeName {
  DataType type = DataType::Unspecified;  ///< Unspecified: a type unknown here
  std::size_t end = 0;                    ///< the token after it; the first token if there is no name
};

/// Reads the name at `begin`: text, pg_catalog.int4, "char", character varying(20), timestamp with time zone, int2[].
TypeName read_type_name(std::span<const Token> tokens, std::size_t begin);

}  // namespace eindb
