#include "optimizer/choice_descent.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "optimizer/variable_elimination.hpp"

namespace eindb {
namespace {

using State = ChoiceNetwork::State;
using States = ChoiceNetwork::States;
using Variable = ChoiceNetwork::Variable;

// Costs are added up in other orders: what is better by rounding alone is no better.
constexpr double kRounding = 1 - 1e-12;
constexpr int kForestsWithoutGain = 4;
constexpr auto kNoLimit = std::numeric_limits<double>::infinity();

// Which variables hang together.
class Components {
 public:
  explicit Components(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }

  std::size_t of(std::size_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void unite(std::size_t a, std::size_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<std::size_t> parent_;
};

class Descent {
 public:
  Descent(const ChoiceNetwork& network, States start, double work)
      : network_(network), states_(std::move(start)), cost_(network.cost_of(states_)), work_left_(work) {
    order_.resize(network.size());
    std::iota(order_.begin(), order_.end(), Variable{0});
  }

  States run() {
    for (int without_gain = 0; without_gain < kForestsWithoutGain && work_left_ > 0; ++without_gain)
      if (improve_forest(next_forest())) without_gain = -1;
    while (work_left_ > 0 && improve_one()) {
    }
    return std::move(states_);
  }

 private:
  // Greedily in order_. What is left out stands first the next time.
  std::vector<Variable> next_forest() {
    Components components(network_.size());
    std::vector<bool> inside(network_.size(), false);
    std::vector<Variable> forest;
    std::vector<Variable> left_out;
    for (const auto v : order_) {
      const auto around = neighbours_inside(v, inside);
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

  static bool all_apart(const std::vector<Variable>& variables, Components& components) {
    std::vector<std::size_t> of;
    for (const auto v : variables) of.push_back(components.of(v));
    std::sort(of.begin(), of.end());
    return std::adjacent_find(of.begin(), of.end()) == of.end();
  }

  bool improve_forest(const std::vector<Variable>& forest) {
    const auto part = subnetwork(network_, forest, states_);
    for (const auto& edge : part.edges()) work_left_ -= static_cast<double>(edge.costs->values.size());
    const auto chosen = least_cost_states(part, kNoLimit);
    if (!chosen) return false;
    auto changed = states_;
    for (std::size_t n = 0; n < forest.size(); ++n) changed[forest[n]] = (*chosen)[n];
    const double cost = network_.cost_of(changed);
    if (cost >= cost_ * kRounding) return false;
    cost_ = cost;
    states_ = std::move(changed);
    return true;
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
