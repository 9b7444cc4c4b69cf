#pragma once

#include <functional>

#include "parser/ast.hpp"
#include "parser/binder/contraction_binder.hpp"
#include "parser/binder/tensor_scope.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Adds the vertices of 'ij,jk->ik' (X, Y), as numpy.einsum and opt_einsum read it; labels are the string's own.
///
/// An ellipsis stands for the dimensions that the other labels leave over; those of different operands are aligned at
/// their right. A dimension of extent 1 fits any extent of its label: it is read at index 0. Without an output, it is
/// the ellipsis and then the labels that occur once, sorted. The order of operations: diagonals, sums of labels that
/// nothing else uses, contractions, embedding on diagonals, transposition. `steps` gives the order of contractions for
/// a number of operands; nested parentheses give it themselves.
VertexId bind_subscripts(const ast::Subscripts& subscripts, EinGraph& graph, TensorScope& tensors,
                         const std::function<ContractionSteps(std::size_t)>& steps);

/// Adds a vertex that spreads `vertex`, whose head is `distinct`, over a head in which labels stand twice: i -> ii puts
/// a vector on the diagonal of a matrix of zeros.
VertexId embed_diagonals(EinGraph& graph, VertexId vertex, const Labels& distinct, const Labels& places);

}  // namespace eindb
