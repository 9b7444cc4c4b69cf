#include "optimizer/paths/refined_path.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "common/check.hpp"
#include "optimizer/paths/all_subsets.hpp"
#include "optimizer/paths/contraction_tree.hpp"

namespace eindb {
namespace {

using Node = ContractionTree::Node;

constexpr std::size_t kLeavesOfPiece = 8;
// The cost of a piece beside the labels of its nodes: its dynamic program and other fixed work.
constexpr std::uint64_t kUnitsPerPiece = 4000;
constexpr std::uint64_t kUnitsPerOperandLabel = 16;
// The cost of building the tree and converting it back to a path.
constexpr std::uint64_t kUnitsPerOperand = 100;
// Rounds stop once one gains less than this.
constexpr double kLeastGain = 1e-3;

class PathRefinement {
 public:
  PathRefinement(const ContractionProblem& problem, const ResultPairs& start, const SearchContext& context)
      : problem_(problem),
        context_(context),
        price_(context.objective),
        tree_(problem, start, context.objective),
        best_(start),
        best_value_(tree_.value()),
        number_(problem.extents.size(), kNone) {}

  ResultPairs run(std::uint64_t units) && {
    double before = std::numeric_limits<double>::infinity();
    for (double cost = tree_.cost(); spent_ < units && cost < before * (1 - kLeastGain); cost = tree_.cost()) {
      before = cost;
      refine_all(units);
      if (const auto value = tree_.value(); value.is_less(best_value_)) {
        best_value_ = value;
        best_ = tree_.pairs();
      }
    }
    return std::move(best_);
  }

 private:
  static constexpr auto kNone = std::numeric_limits<std::size_t>::max();

  void refine_all(std::uint64_t units) {
    std::vector<Node> roots(tree_.node_count() - tree_.leaf_count());
    std::iota(roots.begin(), roots.end(), static_cast<Node>(tree_.leaf_count()));
    for (auto n = roots.size(); n > 1; --n) std::swap(roots[n - 1], roots[random_() % n]);
    for (const auto root : roots) {
      if (spent_ >= units) return;
      context_.poll();
      take_piece(root);
      if (leaves_.size() > 2) refine(root);
    }
  }

  // Opens random nodes below the root until there are enough leaves.
  void take_piece(Node root) {
    DCHECK(!tree_.is_leaf(root), "a piece has a step at its root");
    leaves_.assign(1, root);
    opened_.clear();
    std::vector<std::size_t> closed{0};  // places in leaves_ that can be opened
    while (leaves_.size() < kLeavesOfPiece && !closed.empty()) {
      std::swap(closed[random_() % closed.size()], closed.back());
      const auto place = closed.back();
      closed.pop_back();
      const auto node = leaves_[place];
      opened_.push_back(node);
      leaves_[place] = tree_.child(node, 0);
      leaves_.push_back(tree_.child(node, 1));
      for (const auto n : {place, leaves_.size() - 1})
        if (!tree_.is_leaf(leaves_[n])) closed.push_back(n);
    }
    CHECK(opened_.size() + 1 == leaves_.size(), "a piece has a leaf more than nodes that were opened");
  }

  void refine(Node root) {
    std::vector<std::uint32_t> labels;
    const auto piece = problem_of_piece(root, labels);
    double cost = 0;
    for (const auto node : opened_) cost += tree_.cost_of(node);
    cost -= price_(tree_.size_of(root));  // the same for every tree
    const auto better = best_over_all_subsets(piece, price_, {.cost = cost}, context_);
    if (!better || !(priced_cost(piece, *better, price_) < cost * (1 - 1e-9))) return;
    CHECK(opened_.front() == root, "the root of a piece is opened first");
    opened_.erase(opened_.begin());  // the root stays, the other nodes are replaced
    tree_.replace(root, leaves_, opened_, piece, labels, *better);
  }

  // Sets `labels[l]` to the label that l of the piece stands for.
  ContractionProblem problem_of_piece(Node root, std::vector<std::uint32_t>& labels) {
    ContractionProblem piece;
    const auto number_of = [&](std::uint32_t label) {
      if (number_[label] == kNone) {
        number_[label] = labels.size();
        labels.push_back(label);
        piece.extents.push_back(problem_.extents[label]);
      }
      return number_[label];
    };
    spent_ += kUnitsPerPiece;
    for (const auto leaf : leaves_) {
      auto& operand = piece.operands.emplace_back();
      for (const auto label : tree_.labels_of(leaf)) operand.push_back(number_of(label));
      spent_ += operand.size() * kUnitsPerOperandLabel;
    }
    for (const auto label : tree_.labels_of(root)) piece.output.push_back(number_of(label));
    for (const auto label : labels) number_[label] = kNone;
    return piece;
  }

  const ContractionProblem& problem_;
  const SearchContext& context_;
  IntermediatePrice price_;
  ContractionTree tree_;
  ResultPairs best_;
  PathValue best_value_;
  std::vector<std::size_t> number_;  // the number of each label in the current piece
  std::vector<Node> leaves_;
  std::vector<Node> opened_;  // the root first
  std::mt19937_64 random_{3};
  std::uint64_t spent_ = 0;
};

}  // namespace

ResultPairs refined_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                          const SearchContext& context) {
  const auto operands = problem.operands.size();
  if (operands < 3 || budget.units < operands * kUnitsPerOperand) return start;
  return PathRefinement(problem, start, context).run(budget.units);
}

std::uint64_t units_of_refined_round(const ContractionProblem& problem) {
  const std::uint64_t labels = kLeavesOfPiece * kUnitsPerOperandLabel;
  return problem.operands.size() * (kUnitsPerPiece + labels);
}

}  // namespace eindb
