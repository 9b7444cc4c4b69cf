#include "optimizer/paths/annealed_path.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "common/check.hpp"
#include "optimizer/paths/contraction_tree.hpp"
#include "optimizer/paths/random_share.hpp"

namespace eindb {
namespace {

// The fixed cost of a rotation, in labels looked at.
constexpr std::uint64_t kUnitsPerRotation = 16;
// More work finds nothing better: thousands of sweeps of a tree of a hundred operands.
constexpr std::uint64_t kMostUnitsPerOperand = 2'000'000;
// From "twice the flops is accepted one time in eight" to "no loss is accepted"; beta grows geometrically between them.
constexpr double kFirstBeta = 3;
constexpr double kLastBeta = 100;
// Losses accepted less often than this are rejected without a draw.
constexpr double kHopeless = 1e-9;
constexpr std::size_t kRotationsPerPoll = 256;

class Annealing {
 public:
  Annealing(const ContractionProblem& problem, const ResultPairs& start, const SearchContext& context)
      : context_(context), tree_(problem, start, context.objective), best_(start), best_value_(tree_.value()) {}

  ResultPairs run(std::uint64_t units) && {
    while (spent() < units) {
      warm(static_cast<double>(spent()) / static_cast<double>(units));
      context_.report(static_cast<std::int64_t>(spent()), static_cast<std::int64_t>(units));
      for (auto n = tree_.leaf_count(); n < tree_.node_count(); ++n) {
        if ((n - tree_.leaf_count()) % kRotationsPerPoll == 0) context_.poll();
        try_rotation();
      }
      keep_if_best();
    }
    return std::move(best_);
  }

 private:
  std::uint64_t spent() const { return tries_ * kUnitsPerRotation + tree_.labels_seen(); }

  void warm(double progress) {
    beta_ = kFirstBeta * std::pow(kLastBeta / kFirstBeta, progress);
    hopeless_ratio_ = std::pow(kHopeless, -1 / beta_);
  }

  // Tries a random rotation below a random node; does nothing if the node's children are leaves.
  void try_rotation() {
    ++tries_;
    const auto draw = random_();
    const auto steps = tree_.node_count() - tree_.leaf_count();
    const auto parent = static_cast<ContractionTree::Node>(tree_.leaf_count() + (draw >> 32U) * steps / (1ULL << 32U));
    std::size_t side = draw & 1U;
    if (tree_.is_leaf(tree_.child(parent, side))) side = 1 - side;
    if (tree_.is_leaf(tree_.child(parent, side))) return;
    DCHECK(parent < tree_.node_count(), "a rotation is drawn below a node of the tree");
    const auto rotation = tree_.look_at(parent, side, (draw >> 1U) & 1U);
    if (accepts(rotation.cost_after / rotation.cost_before)) tree_.apply(rotation);
  }

  bool accepts(double ratio) {
    if (ratio <= 1) return true;
    if (!(ratio < hopeless_ratio_)) return false;
    return random_share(random_) < std::pow(ratio, -beta_);
  }

  void keep_if_best() {
    const auto value = tree_.value();
    if (!value.is_less(best_value_)) return;
    best_value_ = value;
    best_ = tree_.pairs();
    CHECK(best_.size() + 1 == tree_.leaf_count(), "rotations keep the number of steps");
  }

  const SearchContext& context_;
  ContractionTree tree_;
  ResultPairs best_;
  PathValue best_value_;
  std::mt19937_64 random_{1};
  double beta_ = kFirstBeta;
  double hopeless_ratio_ = 0;
  std::uint64_t tries_ = 0;
};

}  // namespace

ResultPairs annealed_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                           const SearchContext& context) {
  const auto operands = problem.operands.size();
  if (operands < 3) return start;
  return Annealing(problem, start, context).run(std::min(budget.units, operands * kMostUnitsPerOperand));
}

}  // namespace eindb
