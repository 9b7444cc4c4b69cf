#include "executor/kept_operators.hpp"

#include <utility>

namespace eindb {

std::shared_ptr<const TaskGraph> KeptOperators::graph(std::int64_t memory_limit) {
  const std::lock_guard lock(mutex_);
  return graph_limit_ == memory_limit ? graph_ : nullptr;
}

void KeptOperators::keep(std::int64_t memory_limit, std::shared_ptr<const TaskGraph> graph) {
  if (!keeps(graph->stages().size())) return;
  const std::lock_guard lock(mutex_);
  graph_limit_ = memory_limit;
  std::swap(graph_, graph);
}

KeptOperators::Joins KeptOperators::take(const Conditions& conditions, std::size_t stages) {
  {
    const std::lock_guard lock(mutex_);
    if (conditions == conditions_ && joins_.size() == stages) return std::exchange(joins_, {});
  }
  return Joins(stages);
}

void KeptOperators::give(const Conditions& conditions, Joins joins) {
  const std::lock_guard lock(mutex_);
  conditions_ = conditions;
  std::swap(joins_, joins);
}

}  // namespace eindb
