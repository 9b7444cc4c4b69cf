#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "engine/statement_text.hpp"
#include "server/values/data_type.hpp"

namespace eindb {

/// How SQLite casts to a type of PostgreSQL: `open` operand `close`.
struct CastTarget {
  std::string_view open = "CAST(";
  std::string_view close = " AS TEXT)";
  DataType type = DataType::Unspecified;  ///< Unspecified: none that is known here
};

/// A type's name in the text.
struct TypeName {
  CastTarget cast;
  std::size_t end = 0;    ///< the token behind it; where it began if there is none
  bool is_plain = false;  ///< SQLite reads the name as well: no schema, no array
};

/// Reads the name at `begin`: text, pg_catalog.int4, "char", character varying(20), timestamp with time zone, int2[].
TypeName read_type_name(std::span<const Token> tokens, std::size_t begin);

}  // namespace eindb
