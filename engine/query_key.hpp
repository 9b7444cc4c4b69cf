#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "parser/ast.hpp"

namespace eindb {

/// What a query says, apart from how it is written: the part of a plan's key that the statement gives.
struct QueryKey {
  /// Bytes. Two queries have equal ones exactly if their syntax trees are equal but for places: white space, comments,
  /// the case of keywords and functions, and ways to write a number make no difference; names are told apart by case.
  std::string text;
  /// Numbers of all parameters; true: its value shapes the plan. Example: in
  ///     EINSUM Z[j] = $2 * X[$1,j] ^ $3
  /// $1 is an index and $3 decides about types, but one plan serves every $2.
  std::map<std::size_t, bool> parameters;
};

/// Time and memory are linear in the query. Thread-safe, no state.
QueryKey key_of(const ast::Query& query);

}  // namespace eindb
