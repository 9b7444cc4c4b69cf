#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "parser/ast.hpp"

namespace eindb {

/// What the value of a parameter means for a plan. A parameter that stands in several places is the last of them.
enum class ParameterUse : std::uint8_t {
  Number,  ///< one plan serves all values of its type
  Index,   ///< of a tensor of the catalog: one plan serves all integers
  Shape    ///< it shapes the plan
};

/// What a query says, apart from how it is written: the part of a plan's key that the statement gives.
struct QueryKey {
  /// Bytes. Two queries have equal ones exactly if their syntax trees are equal but for places: white space, comments,
  /// the case of keywords and functions, and ways to write a number make no difference; names are told apart by case.
  std::string text;
  /// All parameters by number. Example: in
  ///     EINSUM Z[j $4] = $2 * X[$1,j] ^ $3
  /// $1 is an index, $3 decides about types and $4 is an extent, but one plan serves every $2.
  std::map<std::size_t, ParameterUse> parameters;
};

/// Time and memory are linear in the query. Thread-safe, no state.
QueryKey key_of(const ast::Query& query);

}  // namespace eindb
