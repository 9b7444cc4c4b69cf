#include "executor/kept_operators.hpp"

#include <utility>

namespace eindb {

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
