#include "parser/binder/subscript_binder.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "common/error.hpp"
#include "parser/binder/label_scope.hpp"
#include "parser/binder/result_binder.hpp"
#include "plan/selection.hpp"

namespace eindb {
namespace {

std::string plural(std::size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

// Separates the labels of ellipses from those that users write.
constexpr std::uint32_t kEllipsisScope = UINT32_MAX;

// Dimension `from_right` (from 0, counted from the right) of the ellipsis.
ast::Identifier ellipsis_label(std::size_t from_right, SourceSpan span) {
  return {.text = "e" + std::to_string(from_right + 1), .span = span, .quoted = false, .scope = kEllipsisScope};
}

// One operand: its vertex and a label name for each dimension.
struct Operand {
  VertexId vertex;
  std::vector<ast::Identifier> names;
};

class SubscriptBinder {
 public:
  SubscriptBinder(const ast::Subscripts& subscripts, EinGraph& graph, TensorScope& tensors)
      : subscripts_(subscripts), graph_(graph), tensors_(tensors), labels_(graph.labels()) {}

  VertexId run(const std::function<ContractionSteps(std::size_t)>& steps) {
    require_operands();
    for (std::size_t n = 0; n < subscripts_.operands.size(); ++n) add_operand(n);
    for (const auto& operand : operands_) bind_extents(operand);
    std::vector<ContractionOperand> contracted;
    for (const auto& operand : operands_) contracted.push_back(read(operand));
    const auto places = subscripts_.output ? explicit_output(*subscripts_.output) : implicit_output();
    const DistinctLabels distinct(places);
    const auto order =
        subscripts_.nesting ? steps_of_nesting(*subscripts_.nesting, contracted.size()) : steps(contracted.size());
    const auto vertex = contract(graph_, "result", std::move(contracted), distinct.labels(), order);
    if (distinct.labels().size() == places.size()) return vertex;
    return embed_diagonals(graph_, vertex, distinct.labels(), places);
  }

 private:
  void require_operands() const {
    if (subscripts_.inputs.size() == subscripts_.operands.size()) return;
    throw Error(ErrorKind::Label,
                "the subscripts describe " + plural(subscripts_.inputs.size(), "operand") + ", but " +
                    std::to_string(subscripts_.operands.size()) +
                    (subscripts_.operands.size() == 1 ? " is given" : " are given"),
                subscripts_.text_span, "subscripts have one term for each operand, with commas between them");
  }

  void add_operand(std::size_t n) {
    const auto& term = subscripts_.inputs[n];
    Operand operand{tensors_.get(subscripts_.operands[n]), {}};
    const auto& tensor = graph_.vertex(operand.vertex);
    const auto is_ellipsis = [](const ast::SubscriptItem& item) { return item.is_ellipsis(); };
    const bool has_ellipsis = std::any_of(term.items.begin(), term.items.end(), is_ellipsis);
    const auto named = term.items.size() - (has_ellipsis ? 1 : 0);
    const auto rank = tensor.bound.rank();
    if (named > rank || (named < rank && !has_ellipsis)) {
      throw Error(
          ErrorKind::Label,
          tensor.name + " has " + plural(rank, "dimension") + ", but its subscripts give " + plural(named, "label"),
          term.span, named < rank ? "an ellipsis, '...', stands for the dimensions left over" : "");
    }
    for (const auto& item : term.items) {
      if (!item.is_ellipsis()) {
        operand.names.push_back({.text = item.label, .span = item.span, .quoted = false, .scope = 0});
        continue;
      }
      for (auto left = rank - named; left-- > 0;) operand.names.push_back(ellipsis_label(left, item.span));
      ellipsis_rank_ = std::max(ellipsis_rank_, rank - named);
    }
    operands_.push_back(std::move(operand));
  }

  // Dimensions of extent 1 adapt to others, so they determine a label's extent only if nothing else does.
  void bind_extents(const Operand& operand) {
    const auto& tensor = graph_.vertex(operand.vertex);
    const auto names = index_names(graph_, operand.vertex);
    for (std::size_t d = 0; d < operand.names.size(); ++d)
      if (tensor.bound[d] != 1) labels_.bind(operand.names[d], tensor.bound[d], tensor.name, d, names.at(d));
  }

  ContractionOperand read(const Operand& operand) {
    const auto bound = graph_.vertex(operand.vertex).bound;
    Labels labels;
    std::vector<std::optional<std::int64_t>> at(bound.rank());
    std::unordered_map<Label, std::int64_t> extents;  // of this operand's dimensions: both sides of a diagonal agree
    for (std::size_t d = 0; d < bound.rank(); ++d) {
      const auto& name = operand.names[d];
      const auto* known = labels_.find(name);
      const auto label = known != nullptr ? *known : labels_.bind(name, 1, graph_.vertex(operand.vertex).name, d);
      const auto first = extents.try_emplace(label, bound[d]).first->second;
      if (first != bound[d]) {
        throw Error(ErrorKind::Shape,
                    "label " + name.text + " has extents " + std::to_string(first) + " and " +
                        std::to_string(bound[d]) + " in one operand",
                    name.span, "a diagonal needs dimensions of one extent");
      }
      ++occurrences_[label];
      if (bound[d] != graph_.labels().extent(label)) at[d] = 0;
      else labels.push_back(label);
    }
    if (labels.size() == bound.rank()) return {operand.vertex, std::move(labels)};
    return {select(graph_, operand.vertex, at), std::move(labels)};
  }

  Labels ellipsis() const {
    Labels out;
    for (auto left = ellipsis_rank_; left-- > 0;) out.push_back(*labels_.find(ellipsis_label(left, {})));
    return out;
  }

  Labels implicit_output() const {
    std::map<std::string, Label> once;
    for (const auto& operand : operands_)
      for (const auto& name : operand.names)
        if (const auto label = *labels_.find(name); name.scope == 0 && occurrences_.at(label) == 1)
          once.emplace(name.text, label);
    auto output = ellipsis();
    for (const auto& [name, label] : once) output.push_back(label);
    return output;
  }

  Labels explicit_output(const ast::SubscriptTerm& term) const {
    Labels output;
    bool has_ellipsis = false;
    for (const auto& item : term.items) {
      if (item.is_ellipsis()) {
        has_ellipsis = true;
        const auto dimensions = ellipsis();
        output.insert(output.end(), dimensions.begin(), dimensions.end());
        continue;
      }
      const auto* label = labels_.find({.text = item.label, .span = item.span, .quoted = false, .scope = 0});
      if (label == nullptr) {
        throw Error(ErrorKind::Label, "label " + item.label + " of the output occurs in no operand", item.span,
                    "use labels of the operands");
      }
      output.push_back(*label);
    }
    if (ellipsis_rank_ > 0 && !has_ellipsis) {
      throw Error(
          ErrorKind::Label,
          "the output has no ellipsis, but those of the operands stand for " + plural(ellipsis_rank_, "dimension"),
          term.span, "write '...' in the output too, or labels in place of the ellipsis to sum over them");
    }
    return output;
  }

  const ast::Subscripts& subscripts_;
  EinGraph& graph_;
  TensorScope& tensors_;
  LabelScope labels_;
  std::vector<Operand> operands_;
  std::size_t ellipsis_rank_ = 0;
  std::unordered_map<Label, int> occurrences_;
};

}  // namespace

VertexId bind_subscripts(const ast::Subscripts& subscripts, EinGraph& graph, TensorScope& tensors,
                         const std::function<ContractionSteps(std::size_t)>& steps) {
  return SubscriptBinder(subscripts, graph, tensors).run(steps);
}

VertexId embed_diagonals(EinGraph& graph, VertexId vertex, const Labels& distinct, const Labels& places) {
  EinSum einsum{
      .inputs = {distinct}, .output = {}, .aggregated = {}, .expression = nullptr, .aggregate = Aggregate::None};
  ScalarPtr on_diagonal;
  for (const auto label : places) {
    if (!contains(einsum.output, label)) {
      einsum.output.push_back(label);
      continue;
    }
    const auto copy = graph.labels().add(graph.labels().name(label), graph.labels().extent(label));
    graph.labels().set_index_names(copy, graph.labels().index_names(label));
    einsum.output.push_back(copy);
    auto same = ScalarExpression::call(ScalarOp::Equal,
                                       {ScalarExpression::label_index(label), ScalarExpression::label_index(copy)});
    on_diagonal = on_diagonal == nullptr ? same : ScalarExpression::call(ScalarOp::And, {on_diagonal, same});
  }
  einsum.expression =
      ScalarExpression::call(ScalarOp::Case, {on_diagonal, ScalarExpression::operand(0), ScalarExpression::integer(0)});
  return graph.add(make_vertex(graph, graph.vertex(vertex).name + ".diagonal", {vertex}, std::move(einsum)));
}

}  // namespace eindb
