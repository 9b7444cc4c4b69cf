#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/check.hpp"

namespace eindb {

/// The choice of one state per variable with the least total cost, on plain values. EinDecomp reduces to this once
/// partition vectors are listed and costed. A state has a cost of its own, and a cost with the state at the other end
/// of each edge.
///
/// An edge sees classes of states: partition vectors that cut a tensor alike are one class for its reader, and the cost
/// of the edge is that of a pair of classes. Example: a producer with states [4,1,1], [2,2,1], [2,1,2] over i, j, k and
/// result Z[i,k] has classes 0, 1, 2; with result Z[i] the second and the third would be one class.
class ChoiceNetwork {
 public:
  using Variable = std::size_t;
  using State = std::uint32_t;
  using States = std::vector<State>;

  /// Costs of pairs of classes, row-major: the cost of (a, b) is values[a * columns + b].
  struct Table {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<double> values;
  };
  struct Edge {
    Variable a = 0;  ///< different from b
    Variable b = 0;
    std::vector<std::uint32_t> class_of_a;  ///< for each state of a, its row of the table
    std::vector<std::uint32_t> class_of_b;  ///< for each state of b, its column
    std::shared_ptr<const Table> costs;     ///< shared by edges that are alike

    double cost(State of_a, State of_b) const {
      DCHECK(of_a < class_of_a.size() && of_b < class_of_b.size(), "the states of an edge are those of its variables");
      return costs->values[class_of_a[of_a] * costs->columns + class_of_b[of_b]];
    }
  };

  /// `costs` has one entry per state; at least one, none negative.
  Variable add_variable(std::vector<double> costs);
  /// Any number of edges may join the same two variables.
  void add_edge(Edge edge);

  std::size_t size() const { return costs_.size(); }
  const std::vector<double>& costs(Variable v) const { return costs_[v]; }
  const std::vector<Edge>& edges() const { return edges_; }
  /// Numbers of the edges of a variable.
  const std::vector<std::size_t>& edges_of(Variable v) const { return edges_of_[v]; }

  double cost_of(const States& states) const;
  /// The cost of one variable's state and of its edges, given the states of the other variables.
  double cost_at(Variable v, State state, const States& others) const;

 private:
  std::vector<std::vector<double>> costs_;
  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> edges_of_;
};

/// The network of the given variables, renumbered in their order, with the states `kept[variable]`, in that order, or
/// all states if `kept` is empty. `fixed` has a state for every variable of the whole network; an edge to a variable
/// outside becomes a cost of the state inside. If `fixed` is empty, such edges are dropped.
ChoiceNetwork subnetwork(const ChoiceNetwork& network, const std::vector<ChoiceNetwork::Variable>& variables,
                         const ChoiceNetwork::States& fixed, const std::vector<ChoiceNetwork::States>& kept = {});

}  // namespace eindb
