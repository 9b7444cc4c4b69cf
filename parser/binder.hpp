#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parser/ast.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// What the binder asks the world about names. The functions must outlive the call.
struct NameSource {
  /// The tensor of this name (without regard to case), if there is one.
  std::function<std::optional<InputTensor>(const std::string&)> find_tensor;
  /// All tensors, for suggestions.
  std::function<std::vector<std::string>()> tensor_names;
};

/// A query with every name resolved.
struct BoundQuery {
  EinGraph graph;
  std::string name;                      ///< of the head: "Z"; "result" in subscript notation
  std::vector<std::string> label_names;  ///< of the result's dimensions, distinct
};

/// Syntax tree to logical plan. Every definition becomes one vertex per aggregate and one for what is around them;
/// a vertex may have any number of inputs until the optimizer has ordered contractions. `result_type` overrides the
/// element type of the result. Throws Error with the place in the statement: unknown names, wrong numbers of labels,
/// unequal extents, labels that are neither in the head nor aggregated, types that do not fit.
BoundQuery bind_query(const ast::Query& query, const NameSource& names,
                      std::optional<DType> result_type = std::nullopt);

}  // namespace eindb
