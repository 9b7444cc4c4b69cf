#pragma once

#include "parser/ast.hpp"
#include "parser/label_scope.hpp"
#include "parser/tensor_scope.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// 'ij,jk->ik' (X, Y): one vertex with all operands, SUM of their product over the labels that the output does not
/// have. Without "->" the output has the labels that occur once, in alphabetical order, as in numpy.einsum.
VertexId bind_subscripts(const ast::Subscripts& subscripts, EinGraph& graph, TensorScope& tensors, LabelScope& labels);

/// Spreads a result over diagonals: gives a vertex with one dimension per entry of `places`, whose cells are those of
/// `vertex` (over `distinct`) where equal labels have equal indices, and 0 elsewhere. Example: places = [i, i].
VertexId embed_diagonals(EinGraph& graph, VertexId vertex, const Labels& distinct, const Labels& places);

}  // namespace eindb
