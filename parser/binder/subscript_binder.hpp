#pragma once

#include <functional>

#include "parser/ast.hpp"
#include "parser/binder/contraction_binder.hpp"
#include "parser/binder/tensor_scope.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Adds the vertices of 'ij,jk->ik' (X, Y), with the semantics of numpy.einsum and opt_einsum; labels are local to the
/// string.
///
/// An ellipsis stands for the dimensions without a label; those of different operands are aligned on the right. A
/// dimension of extent 1 matches any extent of its label: it is read at index 0. The implicit output is the ellipsis,
/// then the labels that occur once, sorted. The order of operations: diagonals, sums of labels that nothing else uses,
/// contractions, embedding on diagonals, transposition. `steps` returns the order of contractions for a number of
/// operands; nested parentheses override it.
VertexId bind_subscripts(const ast::Subscripts& subscripts, EinGraph& graph, TensorScope& tensors,
                         const std::function<ContractionSteps(std::size_t)>& steps);

/// Adds a vertex that spreads `vertex`, whose head is `distinct`, over a head with repeated labels: i -> ii puts a
/// vector on the diagonal of a matrix of zeros.
VertexId embed_diagonals(EinGraph& graph, VertexId vertex, const Labels& distinct, const Labels& places);

}  // namespace eindb
