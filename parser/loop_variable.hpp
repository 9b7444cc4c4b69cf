#pragma once

#include <cstddef>
#include <cstdint>

#include "parser/ast.hpp"

namespace eindb {

/// The variable of a REPEAT in one round.
struct LoopVariable {
  ast::Identifier name;       ///< as in AS t; told apart by case, as labels are
  std::int64_t value = 0;     ///< the number of the round, from 0
  std::size_t parameter = 0;  ///< the number, as of $1, of the parameter that stands for it in expressions; its value
                              ///< is an INT64
};

/// A statement of a loop's body for one round. A pure function of the tree; spans still refer to the loop's text.
///
///     EINSUM Z[i] = X[t,i] * t      index and factor become parameter `parameter`, so that rounds can share a plan
///     Z[i t], REPEAT t {...}        extents and counts become integers
///     VALUES (t, 0.5), EXECUTE p(t) outside queries, which have plans, t becomes an integer
///     "layer.${t}.w", 'x.${t}.npy'  in quoted names and strings, ${t} becomes the digits
///
/// A nested loop has its head and body rewritten in the same way. The text of SQL is unchanged, since the engine binds
/// its `:t`, except for embedded queries; so are macros being created, and bare names of tensors and functions.
ast::Statement with_loop_variable(ast::Statement statement, const LoopVariable& variable);

/// The same for a single expression, such as that of UNTIL.
ast::Expression with_loop_variable(ast::Expression expression, const LoopVariable& variable);

}  // namespace eindb
