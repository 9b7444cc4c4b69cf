#include "optimizer/partitions/variable_elimination.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <set>
#include <unordered_map>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "optimizer/partitions/elimination_order.hpp"

namespace eindb {
namespace {

using State = ChoiceNetwork::State;
using States = ChoiceNetwork::States;
using Variable = ChoiceNetwork::Variable;
using Classes = std::vector<std::uint32_t>;  // of each state

// A table of costs over some variables, indexed by classes of their states.
struct CostFactor {
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
using FactorPtr = std::shared_ptr<const CostFactor>;

// The coarsest classes of a variable's states that all given factors can distinguish.
struct JointClasses {
  Classes class_of;
  std::vector<State> first;  // one state of each class

  std::size_t count() const { return first.size(); }
};

JointClasses joint_classes(std::size_t states, const std::vector<const CostFactor::Axis*>& axes) {
  JointClasses joint{Classes(states, 0), {0}};
  for (const auto* axis : axes) {
    DCHECK(axis->class_of.size() == states, "an axis has a class for every state of its variable");
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

// min over n of costs[n] + row[n]. Computed in lanes so that it is vectorised.
double least_sum(const double* row, const std::vector<double>& costs) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> least;
  least.fill(std::numeric_limits<double>::infinity());
  std::size_t n = 0;
  for (; n + kLanes <= costs.size(); n += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      least[lane] = std::min(least[lane], costs[n + lane] + row[n + lane]);
  for (; n < costs.size(); ++n) least[0] = std::min(least[0], costs[n] + row[n]);
  return *std::min_element(least.begin(), least.end());
}

// Eliminates one variable: computes its least cost for every combination of its neighbours' classes.
class VariableElimination {
 public:
  VariableElimination(const ChoiceNetwork& network, Variable v, const std::vector<FactorPtr>& factors)
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
    for (const auto& term : terms_) last_terms_ += term.neighbour.back() + 1 == neighbours_.size() ? 1 : 0;
    sums_.assign(neighbours_.size() + 1, own_costs_);
    visit(0);
    CHECK(least_.size() == entries, "there is a least cost for every combination of classes");
    DCHECK(std::all_of(terms_.begin(), terms_.end(), [](const Term& term) { return term.at == 0; }),
           "terms are back where they began");
    CostFactor out;
    for (std::size_t n = 0; n < neighbours_.size(); ++n)
      out.axes.push_back({neighbours_[n], std::move(joint_[n].class_of), joint_[n].count()});
    out.values = std::make_shared<const std::vector<double>>(std::move(least_));
    return std::make_shared<const CostFactor>(std::move(out));
  }

 private:
  // A factor with the variable's joint classes as its last axis, and the offsets of combinations in it.
  struct Term {
    std::vector<double> values;
    std::vector<std::size_t> neighbour;            // for each other axis, its place in neighbours_, ascending
    std::vector<std::vector<std::size_t>> offset;  // for each other axis, the offset of each joint class
    std::size_t at = 0;                            // offset of the combination being visited
  };

  std::vector<const CostFactor::Axis*> axes_of(Variable n) const {
    std::vector<const CostFactor::Axis*> axes;
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

  Term make_term(const CostFactor& factor) const {
    Term out;
    std::size_t own_stride = 0;
    std::vector<std::size_t> strides;
    std::vector<std::size_t> sizes;
    std::size_t stride = 1;
    // Axes are in ascending order of variables, like neighbours_.
    for (auto axis = factor.axes.rbegin(); axis != factor.axes.rend(); ++axis) {
      if (axis->variable == v_) own_stride = stride;
      else {
        strides.insert(strides.begin(), stride);
        sizes.insert(sizes.begin(), axis->classes);
      }
      stride *= axis->classes;
    }
    CHECK(stride == factor.values->size(), "a factor has a cost for every combination of classes");
    fill(out, factor, strides, sizes, own_stride);
    std::size_t offset = own_.count();
    for (auto n = strides.size(); n-- > 0; offset *= sizes[n]) add_offsets(out, factor, n, offset);
    return out;
  }

  // Lays the factor's values out with the variable last.
  void fill(Term& out, const CostFactor& factor, const std::vector<std::size_t>& strides,
            const std::vector<std::size_t>& sizes, std::size_t own_stride) const {
    const auto* own_axis = factor.axis_of(v_);
    CHECK(own_axis != nullptr, "a variable is eliminated from factors that depend on it");
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

  // Adds the offsets of the n-th axis other than the variable's own.
  void add_offsets(Term& out, const CostFactor& factor, std::size_t n, std::size_t stride) const {
    std::size_t other = 0;
    for (const auto& axis : factor.axes) {
      if (axis.variable == v_ || other++ != n) continue;
      const auto place = std::lower_bound(neighbours_.begin(), neighbours_.end(), axis.variable) - neighbours_.begin();
      DCHECK(neighbours_.at(static_cast<std::size_t>(place)) == axis.variable,
             "the variables of a factor are neighbours");
      out.neighbour.insert(out.neighbour.begin(), static_cast<std::size_t>(place));
      std::vector<std::size_t> offsets;
      for (const auto state : joint_[static_cast<std::size_t>(place)].first)
        offsets.push_back(axis.class_of[state] * stride);
      out.offset.insert(out.offset.begin(), std::move(offsets));
    }
  }

  // Visits combinations in order, the last neighbour fastest. sums_[depth] holds, per class of the variable, the sum of
  // the terms whose neighbours are all among the first `depth`. The usual case, a single term that ends with the last
  // neighbour, is added and minimised in one pass.
  void visit(std::size_t depth) {
    poll_cancellation_after(sums_[depth].size());
    if (depth == neighbours_.size()) {
      least_.push_back(*std::min_element(sums_[depth].begin(), sums_[depth].end()));
      return;
    }
    if (depth + 1 == neighbours_.size() && last_terms_ == 1) return visit_last(depth);
    for (std::size_t c = 0; c < joint_[depth].count(); ++c) {
      auto& sum = sums_[depth + 1];
      sum = sums_[depth];
      for (auto& term : terms_) add_term(term, depth, c, sum);
      visit(depth + 1);
      for (auto& term : terms_) move(term, depth, c, false);
    }
  }

  void visit_last(std::size_t depth) {
    auto& term =
        *std::find_if(terms_.begin(), terms_.end(), [&](const Term& t) { return t.neighbour.back() == depth; });
    DCHECK(term.at + term.offset.back().back() + sums_[depth].size() <= term.values.size(),
           "every class of the last neighbour has its costs in the term");
    for (const auto offset : term.offset.back())
      least_.push_back(least_sum(term.values.data() + term.at + offset, sums_[depth]));
  }

  void add_term(Term& term, std::size_t depth, std::size_t c, std::vector<double>& sum) {
    move(term, depth, c, true);
    DCHECK(term.at + sum.size() <= term.values.size(), "a combination of classes has its costs in the term");
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
  int last_terms_ = 0;  // terms over the last neighbour
};

// Eliminates a variable with exactly one neighbour: for each class of the neighbour, the least sum of the factor that
// joins them and of the variable's own costs. The table is traversed along its rows in both orientations.
class VectorElimination {
 public:
  VectorElimination(const ChoiceNetwork& network, Variable v, const std::vector<FactorPtr>& factors)
      : network_(network), v_(v), factors_(factors) {}

  // Null if the factors do not have this form.
  FactorPtr run() const {
    const CostFactor* pair = nullptr;
    for (const auto& factor : factors_) {
      if (factor->axes.size() == 1) continue;
      if (pair != nullptr || factor->axes.size() > 2) return nullptr;
      pair = factor.get();
    }
    if (pair == nullptr) return nullptr;
    CHECK(pair->values->size() == pair->axes[0].classes * pair->axes[1].classes,
          "a factor of two variables is a table");
    const bool own_first = pair->axes[0].variable == v_;
    const auto own = own_costs(pair->axes[own_first ? 0 : 1]);
    const auto& other = pair->axes[own_first ? 1 : 0];
    CostFactor out;
    out.values = std::make_shared<const std::vector<double>>(own_first ? least_of_rows(*pair, own, other.classes)
                                                                       : least_in_rows(*pair, own, other.classes));
    out.axes = {other};
    return std::make_shared<const CostFactor>(std::move(out));
  }

 private:
  std::vector<double> own_costs(const CostFactor::Axis& axis) const {
    auto costs = network_.costs(v_);
    for (const auto& factor : factors_) {
      if (factor->axes.size() > 1) continue;
      for (std::size_t s = 0; s < costs.size(); ++s) costs[s] += (*factor->values)[factor->axes[0].class_of[s]];
    }
    std::vector<double> least(axis.classes, std::numeric_limits<double>::infinity());
    for (std::size_t s = 0; s < costs.size(); ++s)
      least[axis.class_of[s]] = std::min(least[axis.class_of[s]], costs[s]);
    return least;
  }

  static std::vector<double> least_of_rows(const CostFactor& pair, const std::vector<double>& own,
                                           std::size_t columns) {
    std::vector<double> least(columns, std::numeric_limits<double>::infinity());
    for (std::size_t r = 0; r < own.size(); ++r) {
      const double* row = pair.values->data() + r * columns;
      for (std::size_t c = 0; c < columns; ++c) least[c] = std::min(least[c], own[r] + row[c]);
    }
    return least;
  }

  static std::vector<double> least_in_rows(const CostFactor& pair, const std::vector<double>& own, std::size_t rows) {
    std::vector<double> least;
    least.reserve(rows);
    for (std::size_t r = 0; r < rows; ++r) least.push_back(least_sum(pair.values->data() + r * own.size(), own));
    return least;
  }

  const ChoiceNetwork& network_;
  const Variable v_;
  const std::vector<FactorPtr>& factors_;
};

FactorPtr eliminated(const ChoiceNetwork& network, Variable v, const std::vector<FactorPtr>& factors) {
  if (auto vector = VectorElimination(network, v, factors).run()) return vector;
  return VariableElimination(network, v, factors).run();
}

// Eliminates all variables in a given order, then assigns the states in reverse order.
class VariableEliminator {
 public:
  explicit VariableEliminator(const ChoiceNetwork& network) : network_(network), factors_of_(network.size()) {
    for (const auto& edge : network.edges()) add(factor(edge));
  }

  States run(const std::vector<Variable>& order) {
    CHECK(order.size() == network_.size(), "all variables of a network are eliminated");
    for (const auto v : order) eliminate(v);
    return states(order);
  }

 private:
  static CostFactor factor(const ChoiceNetwork::Edge& edge) {
    CostFactor out;
    const auto& table = *edge.costs;
    if (edge.a < edge.b) {
      out.axes = {{edge.a, edge.class_of_a, table.rows}, {edge.b, edge.class_of_b, table.columns}};
      out.values = std::shared_ptr<const std::vector<double>>(edge.costs, &table.values);
      return out;
    }
    out.axes = {{edge.b, edge.class_of_b, table.columns}, {edge.a, edge.class_of_a, table.rows}};
    std::vector<double> transposed(table.values.size());
    for (std::size_t r = 0; r < table.rows; ++r)
      for (std::size_t c = 0; c < table.columns; ++c)
        transposed[c * table.rows + r] = table.values[r * table.columns + c];
    out.values = std::make_shared<const std::vector<double>>(std::move(transposed));
    return out;
  }

  // Without the axes of one class, on which nothing depends: a tensor that thousands of vertices read would otherwise
  // join all of them.
  void add(CostFactor factor) {
    std::erase_if(factor.axes, [](const auto& axis) { return axis.classes == 1; });
    const auto shared = std::make_shared<const CostFactor>(std::move(factor));
    for (const auto& axis : shared->axes) factors_of_[axis.variable].push_back(shared);
  }

  // The variable's factors are kept for the assignment of states.
  void eliminate(Variable v) {
    if (factors_of_[v].empty()) return;
    const auto least = eliminated(network_, v, factors_of_[v]);
    CHECK(least->axis_of(v) == nullptr, "nothing that is left depends on what was eliminated");
    for (const auto& axis : least->axes) {
      auto& list = factors_of_[axis.variable];
      list.erase(std::remove_if(list.begin(), list.end(), [&](const auto& f) { return f->axis_of(v) != nullptr; }),
                 list.end());
    }
    add(*least);
  }

  // The variable eliminated last chooses first, so the neighbours of each variable have chosen before it.
  States states(const std::vector<Variable>& order) const {
    States out(network_.size(), 0);
    for (auto v = order.rbegin(); v != order.rend(); ++v) {
      auto costs = network_.costs(*v);
      for (const auto& factor : factors_of_[*v]) add_costs(*factor, *v, out, costs);
      out[*v] = static_cast<State>(std::min_element(costs.begin(), costs.end()) - costs.begin());
    }
    return out;
  }

  static void add_costs(const CostFactor& factor, Variable v, const States& states, std::vector<double>& costs) {
    std::size_t base = 0;
    std::size_t stride = 1;
    std::size_t own_stride = 0;
    for (auto axis = factor.axes.rbegin(); axis != factor.axes.rend(); ++axis) {
      if (axis->variable == v) own_stride = stride;
      else base += axis->class_of[states[axis->variable]] * stride;
      stride *= axis->classes;
    }
    DCHECK(factor.axis_of(v) != nullptr && stride == factor.values->size(),
           "a variable keeps factors that depend on it");
    const auto& class_of = factor.axis_of(v)->class_of;
    for (std::size_t s = 0; s < costs.size(); ++s) costs[s] += (*factor.values)[base + class_of[s] * own_stride];
  }

  const ChoiceNetwork& network_;
  std::vector<std::vector<FactorPtr>> factors_of_;  // an eliminated variable keeps the factors it was eliminated with
};

}  // namespace

std::optional<States> least_cost_states(const ChoiceNetwork& network, double work) {
  const auto order = elimination_order(network, work);
  if (!order) return std::nullopt;
  return VariableEliminator(network).run(*order);
}

}  // namespace eindb
