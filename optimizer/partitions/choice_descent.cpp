#include "optimizer/partitions/choice_descent.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "common/check.hpp"
#include "common/disjoint_sets.hpp"
#include "common/poll_steps.hpp"
#include "optimizer/partitions/variable_elimination.hpp"

namespace eindb {
namespace {

using State = ChoiceNetwork::State;
using States = ChoiceNetwork::States;
using Variable = ChoiceNetwork::Variable;

// Costs are added up in different orders, so an improvement within rounding does not count.
constexpr double kRounding = 1 - 1e-12;
constexpr int kForestsWithoutGain = 4;
constexpr std::size_t kMostPromising = 256;
constexpr double kShareOfPromising = 0.5;  // of the remaining work
constexpr double kSumsPerEdge = 200;       // the time of copying an edge to another network, in sums
constexpr auto kNoLimit = std::numeric_limits<double>::infinity();

class Descent {
 public:
  Descent(const ChoiceNetwork& network, States start, double work)
      : network_(network), states_(std::move(start)), cost_(network.cost_of(states_)), work_left_(work) {
    order_ = all_variables();
  }

  States run() {
    do improve_forests();
    while (improve_promising());
    while (work_left_ > 0 && improve_one()) {
    }
    return std::move(states_);
  }

 private:
  void improve_forests() {
    for (int without_gain = 0; without_gain < kForestsWithoutGain && work_left_ > 0; ++without_gain)
      if (improve_forest(next_forest())) without_gain = -1;
  }

  // Chosen greedily in order_. The variables left out come first in the next forest.
  std::vector<Variable> next_forest() {
    CHECK(order_.size() == network_.size(), "every variable is in the order in which forests grow");
    DisjointSets components(network_.size());
    std::vector<bool> inside(network_.size(), false);
    std::vector<Variable> forest;
    std::vector<Variable> left_out;
    for (const auto v : order_) {
      const auto around = neighbours_inside(v, inside);
      poll_cancellation_after(1 + around.size());
      if (!all_apart(around, components)) {
        left_out.push_back(v);
        continue;
      }
      inside[v] = true;
      forest.push_back(v);
      for (const auto other : around) components.unite(v, other);
    }
    auto rest = forest;
    std::shuffle(rest.begin(), rest.end(), random_);
    order_ = std::move(left_out);
    order_.insert(order_.end(), rest.begin(), rest.end());
    return forest;
  }

  std::vector<Variable> neighbours_inside(Variable v, const std::vector<bool>& inside) const {
    std::vector<Variable> out;
    for (const auto e : network_.edges_of(v)) {
      const auto& edge = network_.edges()[e];
      const auto other = edge.a == v ? edge.b : edge.a;
      if (inside[other]) out.push_back(other);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  static bool all_apart(const std::vector<Variable>& variables, DisjointSets& components) {
    std::vector<std::size_t> of;
    for (const auto v : variables) of.push_back(components.find(v));
    std::sort(of.begin(), of.end());
    return std::adjacent_find(of.begin(), of.end()) == of.end();
  }

  bool improve_forest(std::vector<Variable> forest) {
    std::sort(forest.begin(), forest.end());
    const auto part = subnetwork(network_, forest, states_);
    for (const auto& edge : part.edges()) work_left_ -= static_cast<double>(edge.costs->values.size());
    const auto chosen = least_cost_states(part, kNoLimit);
    CHECK(chosen, "a forest has no table of more than one dimension");
    CHECK(chosen->size() == forest.size(), "every variable of a forest gets a state");
    auto changed = states_;
    for (std::size_t n = 0; n < forest.size(); ++n) changed[forest[n]] = (*chosen)[n];
    return take_if_better(std::move(changed));
  }

  bool take_if_better(States changed) {
    const double cost = network_.cost_of(changed);
    if (cost >= cost_ * kRounding) return false;
    CHECK(changed.size() == states_.size(), "states are changed and not left out");
    cost_ = cost;
    states_ = std::move(changed);
    return true;
  }

  // Chooses all variables at once, each among its most promising states, as many of them as the work allows.
  bool improve_promising() {
    const auto all = all_variables();
    const auto by_promise = states_by_promise();
    for (std::size_t count = kMostPromising; count > 1 && work_left_ > 0; count /= 2) {
      const auto kept = promising(by_promise, count);
      work_left_ -= kSumsPerEdge * static_cast<double>(network_.edges().size());
      const auto chosen = least_cost_states(subnetwork(network_, all, {}, kept), work_left_ * kShareOfPromising);
      if (!chosen) continue;
      work_left_ -= work_left_ * kShareOfPromising;
      States changed;
      for (const auto v : all) {
        DCHECK((*chosen)[v] < kept[v].size(), "a state is chosen among those that promise most");
        changed.push_back(kept[v][(*chosen)[v]]);
      }
      return take_if_better(std::move(changed));
    }
    return false;
  }

  std::vector<Variable> all_variables() const {
    std::vector<Variable> all(network_.size());
    std::iota(all.begin(), all.end(), Variable{0});
    return all;
  }

  // For each variable, its states sorted by their cost if all neighbours adapt to them.
  std::vector<States> states_by_promise() {
    std::vector<States> out;
    for (Variable v = 0; v < network_.size(); ++v) {
      auto costs = network_.costs(v);
      for (const auto e : network_.edges_of(v)) add_least(network_.edges()[e], v, costs);
      auto& states = out.emplace_back(costs.size());
      std::iota(states.begin(), states.end(), State{0});
      std::stable_sort(states.begin(), states.end(), [&](State a, State b) { return costs[a] < costs[b]; });
    }
    return out;
  }

  // Adds to the cost of each state of v the least cost that the edge can have with it.
  void add_least(const ChoiceNetwork::Edge& edge, Variable v, std::vector<double>& costs) {
    const auto& table = *edge.costs;
    const bool is_a = edge.a == v;
    std::vector<double> least(is_a ? table.rows : table.columns, std::numeric_limits<double>::infinity());
    for (std::size_t r = 0; r < table.rows; ++r)
      for (std::size_t c = 0; c < table.columns; ++c)
        least[is_a ? r : c] = std::min(least[is_a ? r : c], table.values[r * table.columns + c]);
    const auto& class_of = is_a ? edge.class_of_a : edge.class_of_b;
    DCHECK(class_of.size() == costs.size(), "an edge knows the class of every state");
    for (std::size_t s = 0; s < costs.size(); ++s) costs[s] += least[class_of[s]];
    work_left_ -= static_cast<double>(table.values.size());
  }

  std::vector<States> promising(const std::vector<States>& by_promise, std::size_t count) const {
    std::vector<States> kept;
    for (Variable v = 0; v < network_.size(); ++v) {
      auto& states = kept.emplace_back(by_promise[v]);
      if (states.size() <= count) continue;
      if (std::find(states.begin(), states.begin() + static_cast<long>(count), states_[v]) ==
          states.begin() + static_cast<long>(count))
        states[count - 1] = states_[v];
      states.resize(count);
    }
    return kept;
  }

  bool improve_one() {
    bool improved = false;
    for (Variable v = 0; v < network_.size(); ++v) {
      double least = network_.cost_at(v, states_[v], states_);
      for (State s = 0; s < network_.costs(v).size(); ++s) {
        const double cost = network_.cost_at(v, s, states_);
        if (cost >= least * kRounding) continue;
        least = cost;
        states_[v] = s;
        improved = true;
      }
      work_left_ -= static_cast<double>(network_.costs(v).size() * network_.edges_of(v).size());
    }
    return improved;
  }

  const ChoiceNetwork& network_;
  States states_;
  double cost_;
  double work_left_;
  std::vector<Variable> order_;
  std::mt19937_64 random_{1};
};

}  // namespace

States descend(const ChoiceNetwork& network, States start, double work) {
  return Descent(network, std::move(start), work).run();
}

}  // namespace eindb
