#pragma once

#include <string>
#include <vector>

#include "parser/ast.hpp"
#include "parser/binder/tensor_scope.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// A derivative that has become vertices of the graph.
struct BoundDerivative {
  ast::Identifier name;
  VertexId vertex;
  std::vector<std::string> label_names;  ///< those of what it is derived by, or of what is derived along it
};

/// Adds the derivatives of `loss`, which is what `gradient` derives, with respect to its variables, in their order.
/// Throws Error with the place: a loss that is no real scalar, variables that do not exist, are integers or are given
/// twice; and what derivatives/reverse_mode throws.
std::vector<BoundDerivative> bind_gradient(const ast::Gradient& gradient, VertexId loss, EinGraph& graph,
                                           TensorScope& tensors);

/// Adds the derivative of `result`, which is what `jvp` derives, along its directions. Throws likewise, and
/// Error{Shape} for a direction that has not the extents of its variable.
BoundDerivative bind_jvp(const ast::Jvp& jvp, VertexId result, EinGraph& graph, TensorScope& tensors);

}  // namespace eindb
