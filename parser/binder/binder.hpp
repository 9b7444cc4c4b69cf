#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parser/ast.hpp"
#include "parser/binder/bound_region.hpp"  // IWYU pragma: export
#include "parser/binder/name_source.hpp"   // IWYU pragma: export
#include "plan/ein_graph.hpp"

namespace eindb {

/// One result of a query, which is an output of its graph.
struct BoundResult {
  std::string name;                      ///< from the head: "Z"; "result" in subscript notation; "dW" for a derivative
  std::vector<std::string> label_names;  ///< of the result's dimensions, distinct
  DimensionNames index_names = {};       ///< of the indices of these
};

/// A query with every name resolved.
struct BoundQuery {
  EinGraph graph;
  /// Result n is graph.outputs()[n]; at least one. Behind those of an update are the indices of its regions.
  std::vector<BoundResult> results;
  std::vector<BoundRegion> regions;   ///< of updates that set parts of tensors
  std::string path_optimizer;         ///< of USING PATH 'greedy'; empty: the session's
  std::optional<double> path_weight;  ///< of USING PATH 'greedy' WITH WEIGHT 5; nullopt: the session's objective
  /// Of USING PARTITION: labels of the graph, each with its number of parts, "i 4"; empty: the session's strategy.
  std::vector<std::string> cuts;
};

/// Syntax tree to logical plan. The results of updates have the names, extents and types of the tensors that they
/// replace (Error{Shape} if extents differ). A definition becomes one vertex per aggregate and one for the expression
/// around them. A vertex may have any number of inputs until the optimizer orders contractions. Derivatives become
/// vertices too (derivatives/). `result_type` overrides the element type of every result. Throws Error with the place
/// in the statement: unknown names, wrong numbers of labels, unequal extents, labels that are neither in the head nor
/// aggregated, mismatched types.
BoundQuery bind_query(const ast::Query& query, const NameSource& names,
                      std::optional<DType> result_type = std::nullopt);

/// The same with the results `wanted`, in that order: results of the query, or definitions in it (CREATE TENSOR (Q, R)
/// AS). Error{UnknownName} with the nearest name.
BoundQuery bind_query(const ast::Query& query, const NameSource& names, const std::vector<ast::Identifier>& wanted);

}  // namespace eindb
