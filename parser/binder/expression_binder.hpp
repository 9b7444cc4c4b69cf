#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "parser/ast.hpp"
#include "parser/binder/bound_region.hpp"
#include "parser/binder/contraction_binder.hpp"
#include "parser/binder/label_scope.hpp"
#include "parser/binder/matrix_functions.hpp"
#include "parser/binder/packed_index.hpp"
#include "parser/binder/parameter_scope.hpp"
#include "parser/binder/result_binder.hpp"
#include "parser/binder/tensor_scope.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// The extents of a tensor that a statement refers to, and the names of its indices.
struct NamedShape {
  Shape shape;
  DimensionNames names;
};

/// Turns the expression of one definition into vertices of the graph.
///
/// Every aggregate and every CAST becomes a vertex; the rest becomes one scalar expression over their results. Example,
/// with head Z[i]:
///     EXP(MAX(X[i,j])) / SUM(Y[i,k])
/// gives T[i] = MAX(X[i,j]), U[i] = SUM(Y[i,k]) and Z[i] = EXP(T[i]) / U[i].
class ExpressionBinder {
 public:
  /// `name` is the base of the names of new vertices; `macro_names` is for suggestions. `scope` is the number of
  /// a scope of labels that nothing else has, for labels without a name.
  ExpressionBinder(EinGraph& graph, TensorScope& tensors, LabelScope& labels, const ParameterScope& parameters,
                   std::string name, std::function<std::vector<std::string>()> macro_names, std::uint32_t scope);

  /// Binds the labels of all references in `e` to the extents of the tensors, and gives labels that occur in computed
  /// indices alone the greatest extents for which these are inside. Must be called before `bind`, since the head may
  /// take its extents from them. Ranges stand for labels of `head` (docs/language.md).
  void bind_labels(const ast::Expression& e, const std::vector<ast::Dimension>& head);
  /// Rejects unknown functions and tensors without their labels. To be called after bind_labels and before the head is
  /// checked, so that a label left without an extent by such a mistake is not reported instead.
  void check_names(const ast::Expression& e);
  /// The same for `e` and the cells of a region of a tensor with the shape `bound` that get its values. Ranges in `e`
  /// stand for those of the region.
  void bind_region_labels(const ast::Reference& cells, const NamedShape& bound, SourceSpan span,
                          const ast::Expression& e);
  /// The labels of a region's values, in the order of its indices.
  Labels region_labels(const ast::Reference& cells) const;
  /// Where the values go. Indices that are not affine functions of a label become vertices, for which `add_result`
  /// returns numbers of results. Error{Value} for indices outside.
  std::vector<RegionPlace> bind_places(const ast::Reference& cells, const NamedShape& bound,
                                       const std::function<std::size_t(VertexId)>& add_result);
  /// Adds the vertices for `e`; the last one has `head` as its output labels, in order and distinct.
  VertexId bind(const ast::Expression& e, Labels head);
  /// Adds the vertices of a definition that is a function of matrices (find_matrix_function) with one result. The
  /// labels of `head` that the argument's matrix is not one of number the result's dimensions, in order.
  VertexId bind_matrix(const ast::Expression& e, const std::vector<ast::Dimension>& head);
  /// The same for one with several results, in their order.
  std::vector<VertexId> bind_matrices(const ast::Expression& e);
  /// Like bind, for a product or a SUM of a product, contracted in the order that `steps` returns for the number of
  /// factors. Error{Value} at `place` for other expressions.
  VertexId bind_contraction(const ast::Expression& e, Labels head,
                            const std::function<ContractionSteps(std::size_t)>& steps, SourceSpan place);

 private:
  // A vertex under construction: the operands of its expression and the labels that it runs over.
  struct Draft {
    std::vector<VertexId> inputs;
    std::vector<Labels> labels;
    Labels visible;  // labels that inner aggregates keep: the head's and those of enclosing aggregates
    Labels cell;     // labels that number a cell, for RANDOM
    std::unordered_map<std::string, std::size_t> numbers;  // of the operands, keyed by vertex and labels
  };
  // The vertex of an aggregate, and its kind if its values adapt to their context (ScalarType).
  struct Reduced {
    VertexId vertex;
    std::optional<DType> adapting = {};
  };
  // The dimensions of a reference that are held at an index, and those whose index is known when the plan runs.
  struct HeldIndices {
    std::vector<std::optional<std::int64_t>> at;
    std::map<std::size_t, std::size_t> deferred;
  };
  // An affine function of labels that may not be bound yet, and of bound ones.
  struct NamedAffine {
    std::vector<std::pair<const ast::Identifier*, std::int64_t>> coefficients;
    std::int64_t offset = 0;
  };
  struct LabelAffine {
    std::vector<std::pair<Label, std::int64_t>> coefficients;
    std::int64_t offset = 0;
  };
  // The indices begin + n * step for n < count.
  struct Range {
    std::int64_t begin = 0;
    std::int64_t step = 1;
    std::int64_t count = 0;
  };
  // A computed index that must stay below an extent.
  struct IndexConstraint {
    const ast::Expression* index;
    std::int64_t extent;
  };
  struct AffineIndex {
    NamedAffine affine;
    std::int64_t extent;
  };
  struct Access;
  // A dimension of a tensor that has the cells that padding reads: its extent, and the index of the first one.
  struct Frame {
    std::int64_t extent;
    std::int64_t first;
  };
  // A function of matrices with its operands in double precision.
  struct MatrixCall {
    BlockOp op = BlockOp::Inverse;
    DType type = DType::Float64;  // of the results
    Label rows = {};
    Label columns = {};
    Labels batch = {};
    Labels right = {};  // of several right sides: one label, or none
    std::vector<ContractionOperand> operands = {};
  };
  // Lowers the argument of an aggregate into its vertex's draft.
  using LowerArgument = std::function<ScalarPtr(Draft&)>;

  // ---- expression_binder.cpp: scalars and references ----
  ScalarPtr lower(const ast::Expression& e, Draft& draft);
  ScalarPtr lower(const ast::Integer& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Real& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Parameter& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Text& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Name& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Reference& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Aggregate& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Call& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Prefix& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Infix& e, SourceSpan span, Draft& draft);
  ScalarPtr lower_logic(const ast::Infix& e, Draft& draft);
  ScalarPtr compared(ast::InfixOp op, const ast::Expression& left, const ast::Expression& right, Draft& draft);
  const std::string* text_of(const ast::Expression& e) const;
  ScalarPtr compared_with_name(ast::InfixOp op, const ast::Expression& label, const std::string& name,
                               SourceSpan span) const;
  ScalarPtr lower(const ast::Case& e, SourceSpan span, Draft& draft);
  ScalarPtr lower(const ast::Cast& e, SourceSpan span, Draft& draft);
  [[noreturn]] void unknown_name(const ast::Identifier& name, SourceSpan span) const;
  [[noreturn]] void unknown_function(const ast::Identifier& function);
  void convert(VertexId vertex, DType type, SourceSpan place);
  ScalarPtr lower_random(const ast::Call& e, ScalarExpression::Kind kind, const Draft& draft);
  NamedShape bound_of(VertexId vertex) const { return {graph_.vertex(vertex).bound, index_names(graph_, vertex)}; }
  static std::int64_t index_called(const std::string& name, const IndexNames::Ptr& names, SourceSpan span,
                                   const std::string& place);
  std::optional<std::int64_t> held_index(const ast::IndexTerm& term, std::int64_t extent, const IndexNames::Ptr& names,
                                         const std::string& place) const;
  HeldIndices held_indices(const ast::Reference& e, const NamedShape& bound) const;
  VertexId selected(VertexId tensor, const std::vector<std::optional<std::int64_t>>& at,
                    const std::map<std::size_t, std::size_t>& deferred);
  std::optional<std::int64_t> constant_integer(const ast::Expression& e) const;
  ScalarPtr operand(VertexId vertex, Labels labels, Draft& draft);
  ScalarPtr operand(VertexId vertex, Draft& draft);
  ScalarPtr adapting_operand(VertexId vertex, DType kind, Draft& draft);

  // ---- access_binder.cpp: ranges and computed indices ----
  void name_ranges(const ast::Expression& e, const std::vector<ast::Dimension>& head);
  ast::Identifier range_label(std::size_t number, SourceSpan span) const;
  template <class Number>
  std::int64_t range_number(const Number& number) const;
  std::int64_t extent_of(const ast::Extent& extent) const;
  std::optional<std::string> name_of_bound(const ast::RangeBound& bound, const IndexNames::Ptr& names) const;
  Range range_of(const ast::IndexRange& range, SourceSpan span, std::int64_t extent, const IndexNames::Ptr& names,
                 const std::string& place) const;
  void sweep_labels(const ast::Expression& e);
  void sweep_labels(const ast::Reference& reference, const NamedShape& bound, SourceSpan span);
  std::optional<NamedAffine> affine_of(const ast::Expression& e) const;
  bool names_scalar(const ast::Identifier& name) const;
  bool add_affine(const ast::Expression& e, std::int64_t factor, NamedAffine& sum) const;
  bool add_affine_product(const ast::Infix& product, std::int64_t factor, NamedAffine& sum) const;
  std::optional<std::int64_t> longest_range(const NamedAffine& affine, const ast::Identifier& wanted,
                                            std::int64_t extent) const;
  std::optional<std::int64_t> longest_range(const std::vector<AffineIndex>& indices, const ast::Identifier& wanted,
                                            bool all) const;
  bool infer_extent(const std::vector<AffineIndex>& indices, bool all);
  void infer_merged_extents();
  void infer_extents_of_results();
  void infer_extents();
  ScalarPtr lower_access(const ast::Reference& e, SourceSpan span, Draft& draft);
  LabelAffine with_bound_labels(const NamedAffine& affine) const;
  static ScalarPtr affine_expression(const LabelAffine& affine);
  LabelAffine merged_index(const ast::MergedIndex& merged, SourceSpan span, std::int64_t extent,
                           const std::string& place) const;
  static void add_condition(Access& access, const ScalarPtr& condition);
  static void add_equation(Access& access, Label determined, const ScalarPtr& index);
  void add_computed(Access& access, const ast::Reference& e, std::size_t d, std::int64_t extent, bool& spread,
                    Draft& draft);
  std::map<std::size_t, Frame> add_frames(const ast::Reference& e, const std::vector<std::optional<std::int64_t>>& at,
                                          VertexId& base);
  void add_framed(Access& access, const ast::Reference& e, std::size_t d, const Frame& frame, bool& spread);
  void add_labels_of_index(Access& access, const LabelAffine& index, bool& spread) const;
  static void add_inside(Access& access, const ScalarPtr& index, std::int64_t extent);
  void require_inside(const LabelAffine& index, SourceSpan span, std::int64_t extent, const std::string& place,
                      std::size_t labels) const;
  void add_gathered(Access& access, const ast::Reference& e, std::size_t d, Label determined, bool& spread,
                    Draft& draft);
  void require_index_type(const ScalarExpression& index, const Draft& draft, SourceSpan span) const;
  VertexId index_vertex(Draft draft, ScalarPtr index, Labels over, SourceSpan span);
  void add_operand_equation(Access& access, Label determined, VertexId index);
  PackedIndex packed_index(const Access& access) const;
  VertexId packed_vertex(const Access& access, const PackedIndex& packed, SourceSpan span);
  void add_operand_equations(Access& access, SourceSpan span);
  ScalarPtr finish_access(Access access, const ast::Reference& e, SourceSpan span, Draft& draft);

  // ---- frame_binder.cpp: tensors with the cells that padding reads ----
  std::optional<std::pair<std::int64_t, std::int64_t>> bounds_of(const LabelAffine& index) const;
  std::optional<VertexId> with_frame(VertexId base, std::size_t dimension, ast::Padding::Kind kind,
                                     const LabelAffine& index, std::pair<std::int64_t, std::int64_t> bounds);

  // ---- region_binder.cpp: the cells that an update sets ----
  std::optional<RegionPlace> affine_place(const ast::Reference& cells, std::size_t d, std::int64_t extent,
                                          const Labels& values) const;
  VertexId bind_index(const ast::Expression& index, const std::string& name);

  // ---- aggregate_binder.cpp: aggregates, and vertices for parts of an expression ----
  VertexId bind_aggregate(const ast::Aggregate& e, SourceSpan span);
  ScalarPtr log_sum_exp(const ast::Aggregate& e, const Labels& over, SourceSpan span, Draft& draft);
  ScalarPtr extreme_index(const ast::Aggregate& e, const Labels& over, SourceSpan span, Draft& draft);
  ScalarPtr truths(Aggregate how, ScalarOp wanted, const ast::Expression& argument, const Labels& over, SourceSpan span,
                   Draft& draft);
  ScalarPtr count_true(const ast::Aggregate& e, const Labels& over, SourceSpan span, Draft& draft);
  ScalarPtr norm(const ast::Expression& argument, const Labels& over, SourceSpan span, Draft& draft);
  ContractionOperand in_type(const ContractionOperand& values, DType type, SourceSpan span);
  // ---- running_binder.cpp: scans and recurrences ----
  ScalarPtr running(const ast::Aggregate& e, SourceSpan span, Draft& draft);
  ScalarPtr scan(Aggregate how, UserAggregatePtr user, Label along, ContractionOperand values, SourceSpan span,
                 Draft& draft);
  ScalarPtr recurrence(const ast::Aggregate& e, Label along, SourceSpan span, Draft& draft);
  UserAggregatePtr recurring_aggregate(const ast::Aggregate& e, DType& type, SourceSpan span);
  // ---- block_binder.cpp: functions of whole vectors, and variances ----
  ContractionOperand converted(const ast::Expression& e, const Draft& outer,
                               const std::function<std::optional<ScalarOp>(DType)>& convert);
  Label label_along(const ast::Aggregate& e, const Draft& draft, DistinctLabels& free, SourceSpan span) const;
  VertexId add_block(const BlockFunction& block, const ContractionOperand& values, const Labels& over, Labels output,
                     DType compute, SourceSpan span);
  void require_ordered(const ContractionOperand& values, const std::string& word, SourceSpan span) const;
  ScalarPtr in_order(const ast::Aggregate& e, SourceSpan span, Draft& draft);
  double share_of(const ast::Aggregate& e) const;
  ScalarPtr statistic(const ast::Aggregate& e, const Labels& over, SourceSpan span, Draft& draft);
  ScalarPtr fourier(const ast::Aggregate& e, SourceSpan span, Draft& draft);
  Label label_of_numbers(const ast::Aggregate& e, const std::string& word, Label along, const Labels& free,
                         const std::string& what, SourceSpan span) const;
  ScalarPtr at_indices(const ContractionOperand& values, Label along, VertexId indices, const Labels& head,
                       SourceSpan span, Draft& draft);
  ScalarPtr unique(const ast::Aggregate& e, SourceSpan span, Draft& draft);
  ScalarPtr half_fourier(const ast::Aggregate& e, SourceSpan span, Draft& draft);
  ScalarPtr variance(const ast::Aggregate& e, const Labels& over, SourceSpan span, Draft& draft);

  // ---- join_binder.cpp: several tensors as one ----
  ScalarPtr concatenation(const ast::Aggregate& e, SourceSpan span, Draft& draft);
  ScalarPtr moved(const ast::Expression& e, const ast::Identifier& own, Label along, std::int64_t offset,
                  SourceSpan span, Draft& draft);
  ScalarPtr stack(const ast::Aggregate& e, SourceSpan span, Draft& draft);

  // ---- matrix_binder.cpp: functions of matrices ----
  ContractionOperand matrix_operand(const ast::Expression& e, const Labels& core, DType& type);
  MatrixCall bind_matrix_call(const ast::Expression& e, const MatrixFunction& function,
                              const std::vector<ast::Dimension>& head);
  VertexId add_matrix_block(const MatrixCall& call, Labels output, SourceSpan span);
  std::vector<VertexId> factors_of(const MatrixCall& call, SourceSpan span);
  // ---- low_rank_binder.cpp: SVD(A, k) ----
  std::vector<VertexId> low_rank(const ast::Expression& e, const MatrixCall& call);
  ContractionOperand basis_of(const ContractionOperand& values, Label rows, Label columns, const MatrixCall& call,
                              SourceSpan span);
  ContractionOperand matrix_product(const ContractionOperand& left, bool conjugated, const ContractionOperand& right,
                                    Label over, Labels output, SourceSpan span);
  VertexId unpacked(VertexId packed, Label stacked, std::int64_t first, std::optional<Label> rows, const Labels& output,
                    SourceSpan span);

  ScalarPtr count_cells(const ast::Aggregate& e, const Labels& over, SourceSpan span, Draft& draft);
  void require_labels(const ast::Aggregate& e, const Labels& over, SourceSpan span, const Labels& visible) const;
  /// Adds the vertex of an aggregate over `over`; its result has the free labels of the argument, or `head`.
  Reduced reduce(Aggregate how, const Labels& over, const LowerArgument& argument, SourceSpan span, const Draft& outer,
                 const Labels* head = nullptr, UserAggregatePtr user = nullptr);
  /// Adds an element-wise vertex for `e`; a plain reference returns its own vertex.
  ContractionOperand materialize(const ast::Expression& e, const Draft& outer);
  ContractionOperand materialize(const LowerArgument& argument, SourceSpan span, const Draft& outer);
  VertexId add_vertex(Draft draft, EinSum einsum, SourceSpan span, std::optional<DType> computed_in = std::nullopt);
  Draft draft_inside(const Draft& outer, const Labels& over) const;
  Labels in_order_of_head(const Labels& labels) const;

  // ---- user_aggregate_binder.cpp: aggregates of users ----
  void require_defined(const ast::Aggregate& e) const;
  UserAggregatePtr user_aggregate(const ast::Aggregate& e);
  Reduced reduce_by(UserAggregatePtr user, EinSum einsum, Draft inner, SourceSpan span);

  // ---- expression_labels_binder.cpp: the labels of an expression ----
  // Labels that occur in e and are not aggregated inside it, in order of first occurrence.
  void collect_free_labels(const ast::Expression& e, const Labels& visible, DistinctLabels& out) const;
  Labels aggregated_labels(const ast::Aggregate& e, const Labels& visible) const;
  Labels named_labels(const std::vector<ast::Dimension>& dimensions) const;
  static Labels free_labels(const ScalarExpression& lowered_body, const Draft& draft);
  const Label* label_named(const ast::Identifier& name) const;
  void require_in_head(const ast::Expression& e, const Labels& used) const;
  SourceSpan find_label(const ast::Expression& e, Label label) const;
  std::string next_name();

  EinGraph& graph_;
  TensorScope& tensors_;
  LabelScope& labels_;
  const ParameterScope& parameters_;
  std::string name_;
  std::function<std::vector<std::string>()> macro_names_;
  Labels head_;
  Labels matrix_visible_;                                 // labels of the head around an argument that is a matrix
  const ast::Aggregate* whole_ = nullptr;                 // the definition, if it is an aggregate alone
  DistinctLabels own_labels_;                             // of this definition
  std::unordered_map<std::string, VertexId> selections_;  // by tensor and held indices
  std::uint32_t scope_;
  std::set<std::string> head_names_;
  std::vector<ast::Identifier> range_labels_;  // those of the head that ranges stand for, in its order
  std::vector<IndexConstraint> constraints_;   // of computed indices without padding
  std::vector<std::pair<const ast::MergedIndex*, std::int64_t>> merged_;  // with the extents that they number
  std::vector<const ast::Aggregate*>
      sized_;  // whose results have a label with an extent of their own, inner ones first
  int made_ = 0;
};

/// The function of matrices that an expression is a call of; null if it is none.
const MatrixFunction* find_matrix_function(const ast::Expression& e);

/// Whether an aggregate keeps its label: SCAN, SORT, FFT and the like.
bool keeps_label(const ast::Aggregate& e);
/// Whether the second label of an aggregate numbers what it takes along the first: TOPK, UNIQUE, RFFT and the like.
bool is_numbered(ast::AggregateOp op);
/// Whether it makes one tensor of its arguments: CONCAT and STACK.
bool joins_arguments(ast::AggregateOp op);
/// "SUM", ...
std::string word_of(ast::AggregateOp op);
/// The same, or the name of a user's aggregate; of running ones "CUMSUM" and the like, or "SCAN".
std::string word_of(const ast::Aggregate& e);

/// Error{Label} if the tensor's number of dimensions differs from the number of labels given.
void require_rank(const Shape& shape, std::size_t given, const std::string& name, SourceSpan span);

/// Error{Type} if complex numbers would be converted to a real type.
void require_convertible(DType from, DType to, SourceSpan place);

}  // namespace eindb
