#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "engine/statement_text.hpp"
#include "server/values/data_type.hpp"

namespace eindb {

/// A cast in SQLite to a type of PostgreSQL: `open` operand `close`.
struct CastTarget {
  std::string_view open = "CAST(";
  std::string_view close = " AS TEXT)";
  DataType type = DataType::Unspecified;  ///< Unspecified: a type unknown here
};

/// The name of a type in the text.
struct TypeName {
  CastTarget cast;
  std::size_t end = 0;    ///< the token after it; the first token if there is no name
  bool is_plain = false;  ///< SQLite accepts the name too: no schema, no array
};

/// Reads the name at `begin`: text, pg_catalog.int4, "char", character varying(20), timestamp with time zone, int2[].
TypeName read_type_name(std::span<const Token> tokens, std::size_t begin);

}  // namespace eindb
