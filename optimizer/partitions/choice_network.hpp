#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/check.hpp"

namespace eindb {

/// A choice of one state per variable that costs least, on plain values: what EinDecomp is once partition vectors are
/// listed and costed. A state costs something alone, and together with the states of variables that share an edge.
///
/// An edge sees classes of states: partition vectors that cut a tensor alike are one class to whoever reads it. Its
/// cost is that of a pair of classes. Example: a producer with states [4,1,1], [2,2,1], [2,1,2] over i, j, k and result
/// Z[i,k] has classes 0, 1, 2; with result Z[i] the second and the third would be one class.
class ChoiceNetwork {
 public:
  using Variable = std::size_t;
  using State = std::uint32_t;
  using States = std::vector<State>;

  /// Costs of pairs of classes, row-major: that of (a, b) is values[a * columns + b].
  struct Table {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<double> values;
  };
  struct Edge {
    Variable a = 0;  ///< another one than b
    Variable b = 0;
    std::vector<std::uint32_t> class_of_a;  ///< of each state of a; a row of the table
    std::vector<std::uint32_t> class_of_b;  ///< of each state of b; a column
    std::shared_ptr<const Table> costs;     ///< edges that are alike may share it

    double cost(State of_a, State of_b) const {
      DCHECK(of_a < class_of_a.size() && of_b < class_of_b.size(), "the states of an edge are those of its variables");
      return costs->values[class_of_a[of_a] * costs->columns + class_of_b[of_b]];
    }
  };

  /// `costs` of its states, at least one, none negative.
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

/// The network of some variables, numbered as they are listed, with the states in `kept[variable]`, in that order, or
/// all of them if `kept` is empty. With `fixed`, the states of all variables of the whole, an edge that leaves becomes
/// a cost of the state inside; without it such edges cost nothing.
ChoiceNetwork subnetwork(const ChoiceNetwork& network, const std::vector<ChoiceNetwork::Variable>& variables,
                         const ChoiceNetwork::States& fixed, const std::vector<ChoiceNetwork::States>& kept = {});

}  // namespace eindb
