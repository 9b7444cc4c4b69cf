#pragma once

#include <string>
#include <vector>

#include "parser/ast.hpp"
#include "parser/binder/tensor_scope.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// A derivative that has been added to the graph.
struct BoundDerivative {
  ast::Identifier name;
  VertexId vertex;
  std::vector<std::string> label_names;  ///< those of the variable (gradient), or of the function (JVP)
  DimensionNames index_names;            ///< likewise
};

/// Adds the derivatives of `loss`, the function of `gradient`, with respect to its variables, in their order. Throws
/// Error with the place: a loss that is no real scalar, variables that are unknown, integers or repeated; and the
/// errors of derivatives/reverse_mode.
std::vector<BoundDerivative> bind_gradient(const ast::Gradient& gradient, VertexId loss, EinGraph& graph,
                                           TensorScope& tensors);

/// Adds the derivative of `result`, the function of `jvp`, along its directions. Throws likewise, and Error{Shape} for
/// a direction whose extents differ from its variable's.
BoundDerivative bind_jvp(const ast::Jvp& jvp, VertexId result, EinGraph& graph, TensorScope& tensors);

}  // namespace eindb
