#pragma once

#include <optional>
#include <vector>

#include "optimizer/rewrites/factors.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/algebra.hpp"

namespace eindb {

/// The argument of a vertex's aggregate as factors over which the aggregate distributes.
struct JoinedFactors {
  const Semiring* semiring;
  std::vector<Factor> factors;
};

/// nullopt if the aggregate distributes over no join function of the expression, or is none of SUM and aggregates no
/// cell. A vertex that aggregates nothing has the factors of AND, OR,
/// LEAST or GREATEST, and is taken for a SUM otherwise. A SUM of truth values counts, and the number of cells
/// where a AND b holds is the SUM of the product of both as numbers.
std::optional<JoinedFactors> joined_factors(const VertexSplitter& splitter);

/// Whether f(a AGGREGATE b) = f(a) AGGREGATE f(b) for operand n of the vertex's expression f, which has it as a factor
/// once, by itself; the vertex has that aggregate or none. Nothing is known here of factors that must not be negative.
/// SUM distributes over CASE WHEN c THEN x ELSE 0 END as over x.
bool distributes(const Vertex& vertex, std::size_t n, Aggregate aggregate);

}  // namespace eindb
