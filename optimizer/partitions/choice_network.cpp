#include "optimizer/partitions/choice_network.hpp"

#include <algorithm>
#include <unordered_map>

#include "common/check.hpp"

namespace eindb {
namespace {

using State = ChoiceNetwork::State;
using States = ChoiceNetwork::States;
using Variable = ChoiceNetwork::Variable;

// The entries of `values` at the places in `kept`, or all of them if `kept` is null.
template <class Value>
std::vector<Value> picked(const std::vector<Value>& values, const States* kept) {
  if (kept == nullptr) return values;
  std::vector<Value> out;
  out.reserve(kept->size());
  for (const auto state : *kept) out.push_back(values[state]);
  return out;
}

// Renumbers the classes that occur from 0; returns the old number of each.
std::vector<std::uint32_t> compact(std::vector<std::uint32_t>& class_of) {
  std::unordered_map<std::uint32_t, std::uint32_t> number;
  std::vector<std::uint32_t> old;
  for (auto& c : class_of) {
    const auto [entry, is_new] = number.try_emplace(c, static_cast<std::uint32_t>(old.size()));
    if (is_new) old.push_back(c);
    c = entry->second;
  }
  return old;
}

// The edge restricted to fewer states, with a table of the classes that remain.
ChoiceNetwork::Edge narrowed(const ChoiceNetwork::Edge& edge, const States& of_a, const States& of_b) {
  ChoiceNetwork::Edge out{edge.a, edge.b, picked(edge.class_of_a, &of_a), picked(edge.class_of_b, &of_b), nullptr};
  const auto rows = compact(out.class_of_a);
  const auto columns = compact(out.class_of_b);
  auto table = std::make_shared<ChoiceNetwork::Table>();
  *table = {rows.size(), columns.size(), {}};
  table->values.reserve(rows.size() * columns.size());
  for (const auto row : rows)
    for (const auto column : columns) table->values.push_back(edge.costs->values[row * edge.costs->columns + column]);
  out.costs = std::move(table);
  return out;
}

}  // namespace

Variable ChoiceNetwork::add_variable(std::vector<double> costs) {
  CHECK(!costs.empty(), "a variable has a state");
  DCHECK(std::none_of(costs.begin(), costs.end(), [](double cost) { return cost < 0; }),
         "no state costs less than none");
  costs_.push_back(std::move(costs));
  edges_of_.emplace_back();
  return costs_.size() - 1;
}

void ChoiceNetwork::add_edge(Edge edge) {
  CHECK(edge.a < size() && edge.b < size() && edge.a != edge.b, "an edge joins two variables of its network");
  CHECK(edge.class_of_a.size() == costs_[edge.a].size() && edge.class_of_b.size() == costs_[edge.b].size(),
        "an edge has a class for every state");
  CHECK(edge.costs != nullptr && edge.costs->values.size() == edge.costs->rows * edge.costs->columns,
        "an edge costs something for every pair of classes");
  DCHECK(
      std::all_of(edge.class_of_a.begin(), edge.class_of_a.end(), [&](auto c) { return c < edge.costs->rows; }) &&
          std::all_of(edge.class_of_b.begin(), edge.class_of_b.end(), [&](auto c) { return c < edge.costs->columns; }),
      "the classes of an edge are rows and columns of its table");
  edges_of_[edge.a].push_back(edges_.size());
  edges_of_[edge.b].push_back(edges_.size());
  edges_.push_back(std::move(edge));
}

double ChoiceNetwork::cost_of(const States& states) const {
  CHECK(states.size() == size(), "every variable of a network has a state");
  double cost = 0;
  for (Variable v = 0; v < size(); ++v) cost += costs_[v][states[v]];
  for (const auto& edge : edges_) cost += edge.cost(states[edge.a], states[edge.b]);
  return cost;
}

double ChoiceNetwork::cost_at(Variable v, State state, const States& others) const {
  DCHECK(others.size() == size() && state < costs_[v].size(), "a state that is costed is one of its variable's");
  double cost = costs_[v][state];
  for (const auto e : edges_of_[v]) {
    const auto& edge = edges_[e];
    cost += edge.a == v ? edge.cost(state, others[edge.b]) : edge.cost(others[edge.a], state);
  }
  return cost;
}

ChoiceNetwork subnetwork(const ChoiceNetwork& network, const std::vector<Variable>& variables, const States& fixed,
                         const std::vector<States>& kept) {
  std::unordered_map<Variable, Variable> number;
  for (const auto v : variables) number.emplace(v, number.size());
  CHECK(number.size() == variables.size(), "no variable is twice in a subnetwork");
  CHECK(fixed.empty() || fixed.size() == network.size(), "states that are fixed are those of all variables");
  CHECK(kept.empty() || kept.size() == network.size(), "every variable keeps some of its states");
  const auto kept_of = [&](Variable v) { return kept.empty() ? nullptr : &kept[v]; };

  ChoiceNetwork out;
  for (const auto v : variables) {
    auto costs = picked(network.costs(v), kept_of(v));
    for (const auto e : network.edges_of(v)) {
      const auto& edge = network.edges()[e];
      const auto other = edge.a == v ? edge.b : edge.a;
      if (fixed.empty() || number.contains(other)) continue;
      for (std::size_t s = 0; s < costs.size(); ++s) {
        const auto state = kept.empty() ? static_cast<State>(s) : kept[v][s];
        costs[s] += edge.a == v ? edge.cost(state, fixed[other]) : edge.cost(fixed[other], state);
      }
    }
    out.add_variable(std::move(costs));
  }
  for (const auto v : variables) {
    for (const auto e : network.edges_of(v)) {
      const auto& edge = network.edges()[e];
      const auto b = number.find(edge.b);
      if (edge.a != v || b == number.end()) continue;
      auto inside = kept.empty() ? edge : narrowed(edge, kept[edge.a], kept[edge.b]);
      inside.a = number.at(v);
      inside.b = b->second;
      out.add_edge(std::move(inside));
    }
  }
  return out;
}

}  // namespace eindb
