#include "optimizer/variable_elimination.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>

namespace eindb {
namespace {

using State = ChoiceNetwork::State;
using States = ChoiceNetwork::States;
using Variable = ChoiceNetwork::Variable;
using Classes = std::vector<std::uint32_t>;  // of each state

constexpr double kMostTableEntries = 1 << 24;

// Costs that depend on some variables, by classes of their states.
struct Factor {
  struct Axis {
    Variable variable;
    Classes class_of;
    std::size_t classes;
  };
  std::vector<Axis> axes;
  std::shared_ptr<const std::vector<double>> values;  // row-major over the axes

  const Axis* axis_of(Variable v) const {
    const auto found = std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.variable == v; });
    return found == axes.end() ? nullptr : &*found;
  }
};
using FactorPtr = std::shared_ptr<const Factor>;

// The coarsest classes of a variable's states that several factors tell apart.
struct JointClasses {
  Classes class_of;
  std::vector<State> first;  // state of each class

  std::size_t count() const { return first.size(); }
};

JointClasses joint_classes(std::size_t states, const std::vector<const Factor::Axis*>& axes) {
  JointClasses joint{Classes(states, 0), {0}};
  for (const auto* axis : axes) {
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    joint.first.clear();
    for (std::size_t s = 0; s < states; ++s) {
      const auto pair = (std::uint64_t{joint.class_of[s]} << 32U) | axis->class_of[s];
      const auto [entry, is_new] = known.try_emplace(pair, static_cast<std::uint32_t>(joint.first.size()));
      if (is_new) joint.first.push_back(static_cast<State>(s));
      joint.class_of[s] = entry->second;
    }
  }
  return joint;
}

// Eliminates one variable: the least of its costs for every combination of its neighbours' classes.
class Elimination {
 public:
  Elimination(const ChoiceNetwork& network, Variable v, const std::vector<FactorPtr>& factors)
      : network_(network), v_(v), factors_(factors) {
    own_ = joint_classes(network.costs(v).size(), axes_of(v));
    add_up_own_costs();
    std::set<Variable> neighbours;
    for (const auto& factor : factors)
      for (const auto& axis : factor->axes)
        if (axis.variable != v) neighbours.insert(axis.variable);
    for (const auto n : neighbours) {
      neighbours_.push_back(n);
      joint_.push_back(joint_classes(network.costs(n).size(), axes_of(n)));
    }
    for (const auto& factor : factors) {
      auto term = make_term(*factor);
      if (!term.neighbour.empty()) terms_.push_back(std::move(term));
      else add(term.values.data(), own_costs_);
    }
  }

  FactorPtr run() {
    std::size_t entries = 1;
    for (const auto& joint : joint_) entries *= joint.count();
    least_.reserve(entries);
    sums_.assign(neighbours_.size() + 1, own_costs_);
    visit(0);
    Factor out;
    for (std::size_t n = 0; n < neighbours_.size(); ++n)
      out.axes.push_back({neighbours_[n], std::move(joint_[n].class_of), joint_[n].count()});
    out.values = std::make_shared<const std::vector<double>>(std::move(least_));
    return std::make_shared<const Factor>(std::move(out));
  }

 private:
  // A factor with the variable's joint classes as its last axis, and what tells where in it a combination stands.
  struct Term {
    std::vector<double> values;
    std::vector<std::size_t> neighbour;            // per other axis: its number in neighbours_, ascending
    std::vector<std::vector<std::size_t>> offset;  // per other axis, of each joint class
    std::size_t at = 0;                            // of the combination being visited
  };

  std::vector<const Factor::Axis*> axes_of(Variable n) const {
    std::vector<const Factor::Axis*> axes;
    for (const auto& factor : factors_)
      if (const auto* axis = factor->axis_of(n)) axes.push_back(axis);
    return axes;
  }

  void add_up_own_costs() {
    own_costs_.assign(own_.count(), std::numeric_limits<double>::infinity());
    const auto& costs = network_.costs(v_);
    for (std::size_t s = 0; s < costs.size(); ++s) {
      auto& least = own_costs_[own_.class_of[s]];
      least = std::min(least, costs[s]);
    }
  }

  Term make_term(const Factor& factor) const {
    Term out;
    std::size_t own_stride = 0;
    std::vector<std::size_t> strides;
    std::vector<std::size_t> sizes;
    std::size_t stride = 1;
    // Axes are in ascending order of variables, as neighbours_ is.
    for (auto axis = factor.axes.rbegin(); axis != factor.axes.rend(); ++axis) {
      if (axis->variable == v_) own_stride = stride;
      else {
        strides.insert(strides.begin(), stride);
        sizes.insert(sizes.begin(), axis->classes);
      }
      stride *= axis->classes;
    }
    fill(out, factor, strides, sizes, own_stride);
    std::size_t offset = own_.count();
    for (auto n = strides.size(); n-- > 0; offset *= sizes[n]) add_offsets(out, factor, n, offset);
    return out;
  }

  // Lays the factor's values out with the variable last.
  void fill(Term& out, const Factor& factor, const std::vector<std::size_t>& strides,
            const std::vector<std::size_t>& sizes, std::size_t own_stride) const {
    const auto* own_axis = factor.axis_of(v_);
    std::vector<std::size_t> own_offset;
    for (const auto state : own_.first) own_offset.push_back(own_axis->class_of[state] * own_stride);
    out.values.reserve(factor.values->size() / own_axis->classes * own_.count());
    std::vector<std::size_t> at(sizes.size(), 0);
    for (;;) {
      std::size_t base = 0;
      for (std::size_t n = 0; n < at.size(); ++n) base += at[n] * strides[n];
      for (const auto offset : own_offset) out.values.push_back((*factor.values)[base + offset]);
      auto n = at.size();
      while (n > 0 && ++at[n - 1] == sizes[n - 1]) at[--n] = 0;
      if (n == 0) return;
    }
  }

  // Of the n-th axis that is not the variable's.
  void add_offsets(Term& out, const Factor& factor, std::size_t n, std::size_t stride) const {
    std::size_t other = 0;
    for (const auto& axis : factor.axes) {
      if (axis.variable == v_ || other++ != n) continue;
      const auto place = std::lower_bound(neighbours_.begin(), neighbours_.end(), axis.variable) - neighbours_.begin();
      out.neighbour.insert(out.neighbour.begin(), static_cast<std::size_t>(place));
      std::vector<std::size_t> offsets;
      for (const auto state : joint_[static_cast<std::size_t>(place)].first)
        offsets.push_back(axis.class_of[state] * stride);
      out.offset.insert(out.offset.begin(), std::move(offsets));
    }
  }

  // Combinations in order, the last neighbour fastest. sums_[depth] holds, per class of the variable, what the terms
  // cost whose neighbours are all among the first `depth`.
  void visit(std::size_t depth) {
    if (depth == neighbours_.size()) {
      least_.push_back(*std::min_element(sums_[depth].begin(), sums_[depth].end()));
      return;
    }
    for (std::size_t c = 0; c < joint_[depth].count(); ++c) {
      auto& sum = sums_[depth + 1];
      sum = sums_[depth];
      for (auto& term : terms_) add_term(term, depth, c, sum);
      visit(depth + 1);
      for (auto& term : terms_) move(term, depth, c, false);
    }
  }

  void add_term(Term& term, std::size_t depth, std::size_t c, std::vector<double>& sum) {
    move(term, depth, c, true);
    if (term.neighbour.back() == depth) add(term.values.data() + term.at, sum);
  }

  static void add(const double* row, std::vector<double>& sum) {
    for (std::size_t s = 0; s < sum.size(); ++s) sum[s] += row[s];
  }

  static void move(Term& term, std::size_t depth, std::size_t c, bool forward) {
    const auto axis = std::find(term.neighbour.begin(), term.neighbour.end(), depth);
    if (axis == term.neighbour.end()) return;
    const auto offset = term.offset[static_cast<std::size_t>(axis - term.neighbour.begin())][c];
    term.at = forward ? term.at + offset : term.at - offset;
  }

  const ChoiceNetwork& network_;
  const Variable v_;
  const std::vector<FactorPtr>& factors_;
  JointClasses own_;
  std::vector<double> own_costs_;
  std::vector<Variable> neighbours_;
  std::vector<JointClasses> joint_;
  std::vector<Term> terms_;
  std::vector<std::vector<double>> sums_;
  std::vector<double> least_;
};

// All of them, in an order that is cheap; then back, giving each its state.
class VariableEliminator {
 public:
  VariableEliminator(const ChoiceNetwork& network, double work)
      : network_(network), work_left_(work), factors_of_(network.size()), version_(network.size(), 0) {
    for (const auto& edge : network.edges()) add(factor(edge));
    for (Variable v = 0; v < network.size(); ++v) schedule(v);
  }

  std::optional<States> run() {
    while (!queue_.empty()) {
      const auto [work, v, version] = queue_.top();
      queue_.pop();
      if (version != version_[v]) continue;
      if (work > work_left_) return std::nullopt;
      work_left_ -= work;
      eliminate(v);
    }
    return states();
  }

 private:
  struct Step {
    Variable v;
    std::vector<FactorPtr> factors;
  };
  // Work, variable, version: what is not the variable's newest is out of date.
  using Candidate = std::tuple<double, Variable, std::size_t>;

  static FactorPtr factor(const ChoiceNetwork::Edge& edge) {
    Factor out;
    const auto& table = *edge.costs;
    if (edge.a < edge.b) {
      out.axes = {{edge.a, edge.class_of_a, table.rows}, {edge.b, edge.class_of_b, table.columns}};
      out.values = std::shared_ptr<const std::vector<double>>(edge.costs, &table.values);
      return std::make_shared<const Factor>(std::move(out));
    }
    out.axes = {{edge.b, edge.class_of_b, table.columns}, {edge.a, edge.class_of_a, table.rows}};
    std::vector<double> transposed(table.values.size());
    for (std::size_t r = 0; r < table.rows; ++r)
      for (std::size_t c = 0; c < table.columns; ++c)
        transposed[c * table.rows + r] = table.values[r * table.columns + c];
    out.values = std::make_shared<const std::vector<double>>(std::move(transposed));
    return std::make_shared<const Factor>(std::move(out));
  }

  void add(const FactorPtr& factor) {
    for (const auto& axis : factor->axes) factors_of_[axis.variable].push_back(factor);
  }

  void schedule(Variable v) { queue_.emplace(work_of(v), v, ++version_[v]); }

  // Sums that eliminating v takes at the most; infinite if the table would be too large.
  double work_of(Variable v) const {
    std::map<Variable, double> classes;
    for (const auto& factor : factors_of_[v])
      for (const auto& axis : factor->axes)
        classes.try_emplace(axis.variable, 1).first->second *= static_cast<double>(axis.classes);
    double entries = 1;
    double own = 1;
    for (const auto& [n, count] : classes) {
      const auto bounded = std::min(count, static_cast<double>(network_.costs(n).size()));
      (n == v ? own : entries) *= bounded;
    }
    if (entries > kMostTableEntries) return std::numeric_limits<double>::infinity();
    return own * entries + static_cast<double>(network_.costs(v).size());
  }

  void eliminate(Variable v) {
    version_[v] = 0;
    auto factors = std::move(factors_of_[v]);
    if (!factors.empty()) {
      const auto least = Elimination(network_, v, factors).run();
      for (const auto& axis : least->axes) {
        auto& list = factors_of_[axis.variable];
        list.erase(std::remove_if(list.begin(), list.end(), [&](const auto& f) { return f->axis_of(v) != nullptr; }),
                   list.end());
      }
      add(least);
      for (const auto& axis : least->axes) schedule(axis.variable);
    }
    steps_.push_back({v, std::move(factors)});
  }

  // The last eliminated chooses first; the neighbours that a variable had when it went have chosen before it.
  States states() const {
    States out(network_.size(), 0);
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      auto costs = network_.costs(step->v);
      for (const auto& factor : step->factors) add_costs(*factor, step->v, out, costs);
      out[step->v] = static_cast<State>(std::min_element(costs.begin(), costs.end()) - costs.begin());
    }
    return out;
  }

  static void add_costs(const Factor& factor, Variable v, const States& states, std::vector<double>& costs) {
    std::size_t base = 0;
    std::size_t stride = 1;
    std::size_t own_stride = 0;
    for (auto axis = factor.axes.rbegin(); axis != factor.axes.rend(); ++axis) {
      if (axis->variable == v) own_stride = stride;
      else base += axis->class_of[states[axis->variable]] * stride;
      stride *= axis->classes;
    }
    const auto& class_of = factor.axis_of(v)->class_of;
    for (std::size_t s = 0; s < costs.size(); ++s) costs[s] += (*factor.values)[base + class_of[s] * own_stride];
  }

  const ChoiceNetwork& network_;
  double work_left_;
  std::vector<std::vector<FactorPtr>> factors_of_;
  std::vector<std::size_t> version_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue_;
  std::vector<Step> steps_;
};

}  // namespace

std::optional<States> least_cost_states(const ChoiceNetwork& network, double work) {
  return VariableEliminator(network, work).run();
}

}  // namespace eindb
