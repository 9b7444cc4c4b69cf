#include "parser/binder/contraction_binder.hpp"

#include <algorithm>
#include <numeric>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

// Adds the contractions of the node's subtree; returns the result that stands for the node.
class NestingWalk {
 public:
  explicit NestingWalk(std::size_t operands) : next_(operands) {}

  ContractionSteps run(const ast::SubscriptNesting& root) {
    visit(root);
    return std::move(steps_);
  }

 private:
  std::size_t visit(const ast::SubscriptNesting& node) {
    if (node.operand) return *node.operand;
    std::vector<std::size_t> step;
    for (const auto& child : node.children) step.push_back(visit(child));
    if (step.size() == 1) return step.front();
    steps_.push_back(std::move(step));
    return next_++;
  }

  ContractionSteps steps_;
  std::size_t next_;
};

void check_step(const ast::PathStep& step, std::size_t left) {
  auto positions = step.positions;
  std::sort(positions.begin(), positions.end());
  if (const auto twice = std::adjacent_find(positions.begin(), positions.end()); twice != positions.end()) {
    throw Error(ErrorKind::Value, "position " + std::to_string(*twice) + " is given twice in one step of the path",
                step.span, "a step takes different operands; its result goes last and can be taken after it");
  }
  if (positions.back() < left) return;
  throw Error(ErrorKind::Value,
              "position " + std::to_string(positions.back()) + " is beyond the operands: " + std::to_string(left) +
                  (left == 1 ? " is left" : " are left") + " at this step of the path",
              step.span, "positions count from 0; the result of each step goes last");
}

// Removes the positions from the list, keeping its order, and appends `result`.
std::vector<std::size_t> take(std::vector<std::size_t>& list, std::vector<std::size_t> positions, std::size_t result) {
  std::vector<std::size_t> taken;
  for (const auto position : positions) taken.push_back(list[position]);
  std::sort(positions.begin(), positions.end(), std::greater<>());
  for (const auto position : positions) list.erase(list.begin() + static_cast<std::ptrdiff_t>(position));
  list.push_back(result);
  return taken;
}

// Formats the operands remaining on the list: ": no step takes operand 0, 2".
std::string skipped(const std::vector<std::size_t>& list, std::size_t operands) {
  std::string out;
  for (const auto number : list)
    if (number < operands) out += (out.empty() ? ": no step takes operand " : ", ") + std::to_string(number);
  return out;
}

// Carries out the steps. `holders_` counts, for each label, the remaining results that have it, plus one for the
// output.
class Contraction {
 public:
  Contraction(EinGraph& graph, const std::string& name, std::vector<ContractionOperand> operands, const Labels& output)
      : graph_(graph), name_(name), output_(output), results_(std::move(operands)), left_(results_.size()) {
    for (const auto& operand : results_) hold(operand.labels, 1);
    hold(output_, 1);
    // Operands that adapt have a say only where all of them do.
    std::optional<DType> type;
    for (const auto& operand : results_) {
      const auto& vertex = graph_.vertex(operand.vertex);
      if (!vertex.adapts()) type = type ? promote(*type, vertex.dtype) : vertex.dtype;
    }
    type_ = type.value_or(DType::Int64);
  }

  VertexId run(const ContractionSteps& steps) {
    keeps_order_ = !steps.empty();
    for (const auto& step : steps) {
      left_ -= step.size() - 1;
      add_step(step);
    }
    if (steps.empty()) {
      std::vector<std::size_t> all(results_.size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      left_ = 1;
      add_step(all);
    }
    CHECK(left_ == 1, "the steps of a contraction leave one result");
    return results_.back().vertex;
  }

 private:
  void hold(const Labels& labels, int by) {
    const DistinctLabels distinct(labels);
    for (const auto label : distinct.labels()) {
      if (label.index() >= holders_.size()) holders_.resize(label.index() + 1, 0);
      holders_[label.index()] += by;
    }
  }

  // The labels of a step's result: those that something else has; for the last step, the output.
  Labels kept(const Labels& labels) const {
    if (left_ == 1) return output_;
    Labels kept;
    std::copy_if(labels.begin(), labels.end(), std::back_inserter(kept),
                 [&](Label label) { return holders_[label.index()] > 0; });
    return kept;
  }

  // Converts operands first, so that the order of the steps does not affect the types of computation.
  ScalarPtr in_common_type(ScalarPtr operand, DType type) const {
    return type == type_ ? operand : ScalarExpression::call(conversion_to(type_), {std::move(operand)});
  }

  void add_step(const std::vector<std::size_t>& step) {
    EinSum einsum;
    std::vector<VertexId> inputs;
    std::vector<ScalarPtr> factors;
    DistinctLabels all;
    for (const auto number : step) {
      auto& operand = results_[number];
      hold(operand.labels, -1);
      all.add(operand.labels);
      factors.push_back(in_common_type(ScalarExpression::operand(inputs.size()), graph_.vertex(operand.vertex).dtype));
      inputs.push_back(operand.vertex);
      einsum.inputs.push_back(std::move(operand.labels));
    }
    einsum.output = kept(all.labels());
    einsum.aggregated = difference(all.labels(), einsum.output);
    einsum.aggregate = einsum.aggregated.empty() ? Aggregate::None : Aggregate::Sum;
    einsum.expression = factors.size() == 1 ? factors[0] : ScalarExpression::call(ScalarOp::Multiply, factors);
    const auto labels = einsum.output;
    hold(labels, 1);
    auto vertex = make_vertex(graph_, left_ == 1 ? name_ : name_ + "." + std::to_string(++made_), std::move(inputs),
                              std::move(einsum), type_);
    vertex.keeps_order = keeps_order_;
    results_.push_back({graph_.add(std::move(vertex)), labels});
  }

  EinGraph& graph_;
  const std::string& name_;
  const Labels& output_;
  std::vector<ContractionOperand> results_;
  std::size_t left_;
  DType type_ = DType::Float64;
  std::vector<int> holders_;  // by label number
  int made_ = 0;
  bool keeps_order_ = false;
};

}  // namespace

ContractionSteps steps_of_path(const std::vector<ast::PathStep>& path, std::size_t operands, SourceSpan span) {
  std::vector<std::size_t> list(operands);
  std::iota(list.begin(), list.end(), std::size_t{0});
  ContractionSteps steps;
  for (const auto& step : path) {
    check_step(step, list.size());
    steps.push_back(take(list, step.positions, operands + steps.size()));
  }
  if (list.size() == 1) return steps;
  throw Error(ErrorKind::Value,
              "the path leaves " + std::to_string(list.size()) + " operands that are not contracted with each other" +
                  skipped(list, operands),
              span, "n operands take n - 1 pairs");
}

ContractionSteps steps_from_left(std::size_t operands) {
  ContractionSteps steps;
  for (std::size_t n = 1; n < operands; ++n) steps.push_back({n == 1 ? 0 : operands + n - 2, n});
  return steps;
}

ContractionSteps steps_of_nesting(const ast::SubscriptNesting& nesting, std::size_t operands) {
  return NestingWalk(operands).run(nesting);
}

VertexId contract(EinGraph& graph, const std::string& name, std::vector<ContractionOperand> operands,
                  const Labels& output, const ContractionSteps& steps) {
  return Contraction(graph, name, std::move(operands), output).run(steps);
}

}  // namespace eindb
