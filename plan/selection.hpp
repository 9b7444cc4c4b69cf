#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// The vertex that reads `vertex` with some dimensions held at one index: X[3,j]. `at` has one entry per dimension; a
/// set entry lies within the extent. The result has the free dimensions, in order.
///
/// A stored tensor becomes an input that reads only the tiles with the index. A computed vertex is computed as a whole,
/// and the index selected: SUM[a](CASE WHEN a = 3 THEN T[a,j] ELSE 0 END). `parameters` as in Selection; only for
/// stored tensors.
VertexId select(EinGraph& graph, VertexId vertex, const std::vector<std::optional<std::int64_t>>& at,
                const std::map<std::size_t, std::size_t>& parameters = {});

}  // namespace eindb
