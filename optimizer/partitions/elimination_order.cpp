#include "optimizer/partitions/elimination_order.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <queue>
#include <tuple>

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
      : network_(network), tables_of_(network.size()), version_(network.size(), 0) {
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
  using Sizes = std::map<Variable, double>;  // for each variable of a table, an upper bound on its classes
  using SizesPtr = std::shared_ptr<const Sizes>;
  // (sums, variable, version); outdated unless the version is the variable's newest.
  using Candidate = std::tuple<double, Variable, std::size_t>;

  void add(Sizes sizes) {
    const auto table = std::make_shared<const Sizes>(std::move(sizes));
    for (const auto& [n, classes] : *table) tables_of_[n].push_back(table);
  }

  void schedule(Variable v) { queue_.emplace(sums_of(v), v, ++version_[v]); }

  // The sizes of all tables of the variable joined; joint classes are bounded by the number of states.
  Sizes joint_sizes(Variable v) const {
    Sizes joint;
    for (const auto& table : tables_of_[v]) {
      poll_cancellation_after(table->size());
      looked_at_ += static_cast<double>(table->size());
      for (const auto& [n, classes] : *table) joint.try_emplace(n, 1).first->second *= classes;
    }
    for (auto& [n, classes] : joint) classes = std::min(classes, static_cast<double>(network_.costs(n).size()));
    return joint;
  }

  double sums_of(Variable v) const {
    double entries = 1;
    double own = 1;
    for (const auto& [n, classes] : joint_sizes(v)) (n == v ? own : entries) *= classes;
    if (entries > kMostTableEntries) return std::numeric_limits<double>::infinity();
    return own * entries + static_cast<double>(network_.costs(v).size());
  }

  void eliminate(Variable v) {
    version_[v] = 0;
    auto rest = joint_sizes(v);
    rest.erase(v);
    const auto tables = std::move(tables_of_[v]);
    for (const auto& [n, classes] : rest) {
      auto& list = tables_of_[n];
      list.erase(std::remove_if(list.begin(), list.end(), [&](const auto& table) { return table->contains(v); }),
                 list.end());
    }
    if (rest.empty()) return;
    add(rest);
    for (const auto& [n, classes] : rest) {
      CHECK(version_[n] > 0, "no table is left of what was eliminated");
      schedule(n);
    }
  }

  const ChoiceNetwork& network_;
  mutable double looked_at_ = 0;  // variables of tables
  std::vector<std::vector<SizesPtr>> tables_of_;
  std::vector<std::size_t> version_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue_;
};

}  // namespace

std::optional<std::vector<Variable>> elimination_order(const ChoiceNetwork& network, double work) {
  return EliminationOrder(network).run(work);
}

}  // namespace eindb
