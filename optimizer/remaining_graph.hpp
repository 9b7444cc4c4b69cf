#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// What is left to compute of a graph.
struct RemainingGraph {
  EinGraph graph;
  std::vector<std::size_t> results;  ///< output n of `graph` is this output of the whole
};

/// The part of a graph behind some of its vertices, which are inputs of it, with the names of their vertices: the
/// tensors of `computed` stand for them. `results` are the outputs that are still wanted, ascending; none is in
/// `computed`. What was chosen for the whole graph (cells, chains, slices) is not in it; the names of labels and
/// vertices are. Functions of aggregated values are vertices of their own, as for passes. Pure.
///
/// Example: of T[i,k] = SUM(A[i,j] * B[j,k]), U[i,l] = SUM(T[i,k] * C[k,l]), Z[i] = SUM(U[i,l]) behind T is left
/// U[i,l] = SUM(T[i,k] * C[k,l]), Z[i] = SUM(U[i,l]) with the inputs T and C.
RemainingGraph remaining_graph(const EinGraph& whole, const std::map<VertexId, InputTensor>& computed,
                               std::span<const std::size_t> results);

}  // namespace eindb
