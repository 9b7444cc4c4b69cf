#include "optimizer/partitions/elimination_order.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "common/check.hpp"
#include "common/poll_steps.hpp"

namespace eindb {
namespace {

using Variable = ChoiceNetwork::Variable;

constexpr double kMostTableEntries = 1 << 24;
constexpr double kSumsPerEntry = 50;  // the time of looking at one variable of a table, in sums

class EliminationOrder {
 public:
  explicit EliminationOrder(const ChoiceNetwork& network)
      : network_(network),
        tables_of_(network.size()),
        gone_(network.size(), 0),
        version_(network.size(), 0),
        joint_(network.size(), 0) {
    for (const auto& edge : network.edges())
      add({{edge.a, static_cast<double>(edge.costs->rows)}, {edge.b, static_cast<double>(edge.costs->columns)}});
    for (Variable v = 0; v < network.size(); ++v) schedule(v);
  }

  // nullopt if it takes more than `work` sums, counting those that finding the order takes the time of.
  std::optional<std::vector<Variable>> run(double work) {
    std::vector<Variable> order;
    looked_at_ = 0;
    while (!queue_.empty()) {
      const auto [sums, v, version] = queue_.top();
      queue_.pop();
      if (version != version_[v]) continue;
      work -= sums;
      if (!(work >= kSumsPerEntry * looked_at_)) return std::nullopt;  // also if both were infinite
      eliminate(v);
      order.push_back(v);
    }
    CHECK(order.size() == network_.size(), "every variable is eliminated once");
    return order;
  }

 private:
  // For each variable of a table that has several classes, an upper bound on them.
  using Sizes = std::vector<std::pair<Variable, double>>;
  struct Table {
    Sizes sizes;
    bool is_gone = false;  // joined with others when a variable of it was eliminated
  };
  // (sums, variable, version); outdated unless the version is the variable's newest.
  using Candidate = std::tuple<double, Variable, std::size_t>;

  // A variable of one class adds no entries to any table, and is left out.
  void add(Sizes sizes) {
    std::erase_if(sizes, [](const auto& entry) { return entry.second == 1; });
    for (const auto& [n, classes] : sizes) tables_of_[n].push_back(tables_.size());
    tables_.push_back({std::move(sizes)});
  }

  void schedule(Variable v) { queue_.emplace(sums_of(v), v, ++version_[v]); }

  // The sizes of all tables of the variable joined; joint classes are bounded by the number of states. A
  // variable may be in thousands of tables: nullopt as soon as the join has more than `most` entries beside its
  // classes.
  std::optional<Sizes> joint_sizes(Variable v, double most) {
    Sizes joint;
    double entries = 1;
    for (const auto t : tables_of_[v]) {
      const auto& table = tables_[t];
      if (table.is_gone) continue;
      poll_cancellation_after(table.sizes.size());
      looked_at_ += static_cast<double>(table.sizes.size());
      for (const auto& [n, classes] : table.sizes) {
        if (joint_[n] == 0) joint.emplace_back(n, joint_[n] = 1);
        const double before = std::exchange(joint_[n], std::min(joint_[n] * classes, states_of(n)));
        if (n != v) entries *= joint_[n] / before;
      }
      if (entries > kMargin * most) break;
    }
    for (auto& [n, classes] : joint) classes = std::exchange(joint_[n], 0);
    if (entries > kMargin * most) return std::nullopt;
    return joint;
  }

  double states_of(Variable n) const { return static_cast<double>(network_.costs(n).size()); }

  double sums_of(Variable v) {
    const auto joint = joint_sizes(v, kMostTableEntries);
    if (!joint) return std::numeric_limits<double>::infinity();
    double entries = 1;
    double own = 1;
    for (const auto& [n, classes] : *joint) (n == v ? own : entries) *= classes;
    if (entries > kMostTableEntries) return std::numeric_limits<double>::infinity();
    return own * entries + states_of(v);
  }

  void eliminate(Variable v) {
    version_[v] = 0;
    auto rest = *joint_sizes(v, std::numeric_limits<double>::infinity());
    std::erase_if(rest, [&](const auto& entry) { return entry.first == v; });
    std::sort(rest.begin(), rest.end());
    for (const auto t : std::exchange(tables_of_[v], {})) forget(t);
    if (rest.empty()) return;
    add(rest);
    for (const auto& [n, classes] : rest) {
      CHECK(version_[n] > 0, "no table is left of what was eliminated");
      schedule(n);
    }
  }

  void forget(std::size_t t) {
    if (std::exchange(tables_[t].is_gone, true)) return;
    for (const auto& [n, classes] : tables_[t].sizes) {
      auto& list = tables_of_[n];
      if (2 * ++gone_[n] <= list.size()) continue;
      std::erase_if(list, [&](std::size_t other) { return tables_[other].is_gone; });
      gone_[n] = 0;
    }
  }

  static constexpr double kMargin = 2;  // for rounding

  const ChoiceNetwork& network_;
  double looked_at_ = 0;  // variables of tables
  std::vector<Table> tables_;
  std::vector<std::vector<std::size_t>> tables_of_;
  std::vector<std::size_t> gone_;  // of the tables of each variable, an upper bound
  std::vector<std::size_t> version_;
  std::vector<double> joint_;  // by variable; 0 between calls
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue_;
};

}  // namespace

std::optional<std::vector<Variable>> elimination_order(const ChoiceNetwork& network, double work) {
  return EliminationOrder(network).run(work);
}

}  // namespace eindb
