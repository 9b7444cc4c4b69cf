#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "parser/ast.hpp"

namespace eindb {

/// How a plan depends on the value of a parameter. For a parameter that occurs in several places the greatest use
/// counts.
enum class ParameterUse : std::uint8_t {
  Number,  ///< one plan serves all values of its type
  Index,   ///< index into a tensor of the catalog: one plan serves all integers
  Shape    ///< determines the shape of the plan
};

/// The content of a query, independent of its notation: the part of a plan's key that the statement gives.
struct QueryKey {
  /// Bytes. Two queries have equal keys exactly if their syntax trees are equal apart from source positions: white
  /// space, comments, the case of keywords and functions, and the notation of numbers make no difference; names are
  /// case-sensitive.
  std::string text;
  /// All parameters by number. Example:
  ///     EINSUM Z[j $4] = $2 * X[$1,j] ^ $3
  /// Here $1 is an index, $3 determines types and $4 is an extent, but one plan serves every $2.
  std::map<std::size_t, ParameterUse> parameters;
};

/// Time and memory are linear in the size of the query. Thread-safe, no state.
QueryKey key_of(const ast::Query& query);

}  // namespace eindb
