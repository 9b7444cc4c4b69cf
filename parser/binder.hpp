#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "parser/ast.hpp"
#include "parser/macro.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// The value of $1, $2, ...; monostate is NULL. That, text and bytes have no place in an EINSUM.
using ParameterValue =
    std::variant<std::monostate, std::int64_t, double, std::complex<double>, std::string, std::vector<std::byte>>;

/// What the binder asks the world about names. The functions must outlive the call.
struct NameSource {
  /// The tensor of this name (without regard to case), if there is one.
  std::function<std::optional<InputTensor>(const std::string&)> find_tensor;
  /// All tensors, for suggestions.
  std::function<std::vector<std::string>()> tensor_names;
  /// The user's macro of this name (without regard to case), or null. Built-in macros are found without it.
  FindMacro find_macro = [](const std::string&) { return MacroPtr(); };
  /// All macros of the user, for suggestions.
  std::function<std::vector<std::string>()> macro_names = [] { return std::vector<std::string>(); };
  /// Whether the name is that of an ordinary table or view, for the message that it is no tensor.
  std::function<bool(const std::string&)> is_table = [](const std::string&) { return false; };
  /// Value n is that of parameter $n + 1.
  std::vector<ParameterValue> parameters = {};
  /// Numbers of the parameters that stay in the graph's expressions, as ScalarExpression::Kind::Parameter, so that one
  /// plan serves all their values. They are given integers or reals, and nothing but the value of a cell may depend
  /// on them: no index, extent, seed or type.
  std::set<std::size_t> deferred_parameters = {};
};

/// What a query gives: one of its graph's outputs.
struct BoundResult {
  std::string name;                      ///< of the head: "Z"; "result" in subscript notation; "dW" of a derivative
  std::vector<std::string> label_names;  ///< of the result's dimensions, distinct
};

/// A query with every name resolved.
struct BoundQuery {
  EinGraph graph;
  std::vector<BoundResult> results;  ///< result n is graph.outputs()[n]; at least one
  std::string path_optimizer;        ///< of USING PATH 'greedy'; empty: the session's
};

/// Syntax tree to logical plan. Updates give results of the names, extents and types of the tensors that they replace
/// (Error{Shape} where extents differ). Every definition becomes one vertex per aggregate and one for what is around
/// them; a vertex may have any number of inputs until the optimizer has ordered contractions. Derivatives become
/// vertices, too (derivatives/). `result_type` overrides the element type of every result. Throws Error with the place
/// in the statement: unknown names, wrong numbers of labels, unequal extents, labels that are neither in the head nor
/// aggregated, types that do not fit.
BoundQuery bind_query(const ast::Query& query, const NameSource& names,
                      std::optional<DType> result_type = std::nullopt);

/// The same with results `wanted`, in that order: results of the query, or definitions in it (CREATE TENSOR (Q, R) AS).
/// Error{UnknownName} with the nearest name.
BoundQuery bind_query(const ast::Query& query, const NameSource& names, const std::vector<ast::Identifier>& wanted);

}  // namespace eindb
