#pragma once

#include <string>
#include <vector>

#include "parser/ast.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// One factor of a contraction: a vertex read with one label per dimension; a repeated label is a diagonal.
struct ContractionOperand {
  VertexId vertex;
  Labels labels;
};

/// An order of contraction: operands are results 0 to n - 1, and step s contracts the results that it lists into result
/// n + s. The last step takes all remaining results. Without steps, the whole is one n-ary vertex for the optimizer to
/// order.
using ContractionSteps = std::vector<std::vector<std::size_t>>;

/// The steps of USING PATH ((0,1),(0,1)): positions in a shrinking list to which each result is appended, as in
/// opt_einsum. Throws Error{Value} with the place of a position that is repeated or beyond the list, and of a path that
/// leaves more than one operand.
ContractionSteps steps_of_path(const std::vector<ast::PathStep>& path, std::size_t operands, SourceSpan span);
/// Left to right: ((0,1),2),3 ...
ContractionSteps steps_from_left(std::size_t operands);
/// The steps of nested parentheses: '(ij,jk),kl->il' contracts operands 0 and 1 first.
ContractionSteps steps_of_nesting(const ast::SubscriptNesting& nesting, std::size_t operands);

/// Adds the SUM of the product of the operands, with `output` (distinct labels, all from operands) as head. Every step
/// becomes a vertex, computed in the type to which all operands promote; a label is summed in the step after which
/// nothing else has it. Linear in the operands.
VertexId contract(EinGraph& graph, const std::string& name, std::vector<ContractionOperand> operands,
                  const Labels& output, const ContractionSteps& steps);

}  // namespace eindb
