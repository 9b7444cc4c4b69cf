#pragma once

#include <set>
#include <string>
#include <vector>

#include "parser/ast.hpp"
#include "parser/label_scope.hpp"
#include "parser/tensor_scope.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Turns the expression of one definition into vertices of the graph.
///
/// Every aggregate becomes a vertex of its own, and so does every CAST; what is around them becomes one scalar
/// expression over their results. Example, with head Z[i]:
///     EXP(MAX(X[i,j])) / SUM(Y[i,k])
/// gives T[i] = MAX(X[i,j]), U[i] = SUM(Y[i,k]) and Z[i] = EXP(T[i]) / U[i].
class ExpressionBinder {
 public:
  /// `name` names the vertices that are made.
  ExpressionBinder(EinGraph& graph, TensorScope& tensors, LabelScope& labels, std::string name);

  /// Binds the labels of all references in `e` to the extents of the tensors. To be called before `bind`: the head
  /// may take its extents from them.
  void bind_labels(const ast::Expression& e);
  /// Adds the vertices for `e`; the last one has `head`, labels in order and distinct, as output.
  VertexId bind(const ast::Expression& e, Labels head);

 private:
  // A vertex in the making: the operands of its expression, and labels it runs over.
  struct Draft {
    std::vector<VertexId> inputs;
    std::vector<Labels> labels;
    Labels visible;  // labels that an aggregate inside leaves alone: the head's and those of enclosing aggregates
    Labels cell;     // the labels that number a cell, for RANDOM
  };

  ScalarPtr lower(const ast::Expression& e, Draft& draft);
  ScalarPtr lower(const ast::Integer& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Real& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Parameter& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Name& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Reference& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Aggregate& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Call& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Prefix& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Infix& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Case& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Cast& e, SourceSpan span, Draft& draft);
  ScalarPtr lower_random(const ast::Call& e, ScalarExpression::Kind kind, const Draft& draft);

  /// Adds the vertex of an aggregate, whose result has the labels `output` gives for the labels left free.
  VertexId add_aggregate(const ast::Aggregate& e, SourceSpan span, const Draft& outer, const Labels* output);
  VertexId add_vertex(Draft draft, EinSum einsum, SourceSpan span);
  /// X[3,j]: a vertex that picks the constant places out of X; the labels left are in `labels`.
  VertexId add_selection(VertexId tensor, const ast::Reference& e, Labels& labels);
  ScalarPtr operand(VertexId vertex, Labels labels, Draft& draft);

  // Labels that occur in e and that nothing in e aggregates, in order of first occurrence.
  void collect_free_labels(const ast::Expression& e, const Labels& visible, Labels& out) const;
  Labels aggregated_labels(const ast::Aggregate& e, const Labels& visible) const;
  static Labels free_labels(const ScalarExpression& lowered_body, const Draft& draft);
  const Label* label_named(const std::string& name) const;
  void require_in_head(const ast::Expression& e, const Labels& used) const;
  SourceSpan find_label(const ast::Expression& e, const std::string& name) const;
  std::string next_name();

  EinGraph& graph_;
  TensorScope& tensors_;
  LabelScope& labels_;
  std::string name_;
  Labels head_;
  std::set<std::string> own_labels_;  // names of the labels of this definition
  int made_ = 0;
};

}  // namespace eindb
