#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "executor/join_operator.hpp"
#include "executor/task_graph.hpp"

namespace eindb {

/// The graph of tasks and the operators that an execution of a plan has made, kept for the next execution of the same
/// plan: for small tensors they take a third of the time. Operators are lent to one execution at a time; another that
/// runs meanwhile makes its own. All share the graph.
///
/// Thread-safe. Operators refer to their plan, so this belongs to the plan, and a copy of it is empty.
class KeptOperators {
 public:
  /// By stage of the plan's TaskGraph; null where there is none yet.
  using Joins = std::vector<std::unique_ptr<JoinOperator>>;

  /// The conditions under which operators were made and found to fit.
  struct Conditions {
    std::int64_t workspace_bound = 0;  ///< bytes
    std::int64_t memory_limit = 0;     ///< bytes
    friend bool operator==(const Conditions&, const Conditions&) = default;
  };

  /// Whether operators are kept of a plan with so many stages. Where there are more, computing takes much longer than
  /// making them.
  static bool keeps(std::size_t stages) { return stages <= 64; }

  /// Of the operators and the tasks of a plan with so many joins.
  static std::size_t approximate_bytes(std::size_t joins) { return keeps(joins) ? joins * 3072 : 0; }

  KeptOperators() = default;
  KeptOperators(const KeptOperators& /*other*/) : KeptOperators() {}
  KeptOperators& operator=(const KeptOperators&) = delete;

  /// The graph of tasks that was made under this limit in bytes; null if there is none.
  std::shared_ptr<const TaskGraph> graph(std::int64_t memory_limit);
  /// Keeps the graph in place of another, unless it is too large.
  void keep(std::int64_t memory_limit, std::shared_ptr<const TaskGraph> graph);

  /// One entry per stage: those kept under the same conditions, else none.
  Joins take(const Conditions& conditions, std::size_t stages);
  /// Keeps the operators in place of others.
  void give(const Conditions& conditions, Joins joins);

 private:
  std::mutex mutex_;
  std::int64_t graph_limit_ = 0;
  std::shared_ptr<const TaskGraph> graph_;
  Conditions conditions_;
  Joins joins_;
};

}  // namespace eindb
