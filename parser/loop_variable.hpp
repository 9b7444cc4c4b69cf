#pragma once

#include <cstddef>
#include <cstdint>

#include "parser/ast.hpp"

namespace eindb {

/// The variable of a REPEAT in one round of it.
struct LoopVariable {
  ast::Identifier name;       ///< as in AS t; told apart by case, as labels are
  std::int64_t value = 0;     ///< the number of the round, from 0
  std::size_t parameter = 0;  ///< the number, as of $1, of the parameter that stands for it in expressions; its value
                              ///< is an INT64
};

/// A statement of a loop's body as it is in one round. A pure function of the tree; places stay those of the text.
///
///     EINSUM Z[i] = X[t,i] * t      index and factor become parameter `parameter`, so that the plan of one round may
///                                   serve another
///     Z[i t], REPEAT t {...}        extents and counts become integers
///     VALUES (t, 0.5), EXECUTE p(t) what is no query has no plan: an integer
///     "layer.${t}.w", 'x.${t}.npy'  in quoted names and in strings the digits take the place of ${t}
///
/// In a loop inside the loop the same happens to its head and its body. Left alone are the text of SQL, where `:t` is
/// the engine's to bind, but not the queries in it; macros that are made; and bare names of tensors and functions.
ast::Statement with_loop_variable(ast::Statement statement, const LoopVariable& variable);

/// Likewise for an expression that stands alone, as UNTIL's does.
ast::Expression with_loop_variable(ast::Expression expression, const LoopVariable& variable);

}  // namespace eindb
