#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

namespace eindb {

class PlanRun;            // executor/plan_run.hpp
struct Fragment;          // plan/fragment.hpp
struct ExecutionContext;  // executor/execution_context.hpp

/// Keeps the tasks, operators and lists that an execution of a plan has made for the next execution of the same plan,
/// which take most of the time where tensors are small. It is lent to one execution at a time; another that runs
/// meanwhile makes its own.
///
/// Thread-safe. A run refers to its plan, so this belongs to the plan, and a copy of it is empty.
class KeptRuns {
 public:
  /// The bytes that are kept for a plan with so many joins.
  static std::size_t approximate_bytes(std::size_t joins);

  KeptRuns();
  KeptRuns(const KeptRuns& /*other*/) : KeptRuns() {}
  KeptRuns& operator=(const KeptRuns&) = delete;
  ~KeptRuns();

  /// A run of this plan under the conditions of the context: the one that is kept, if it was made under the same ones
  /// and nobody has it, else a new one.
  std::unique_ptr<PlanRun> take(const Fragment& plan, const ExecutionContext& context);
  /// Keeps a run that has ended in place of another one, if it may run again and is not too large.
  void give(std::unique_ptr<PlanRun> run);

 private:
  std::mutex mutex_;  // guards the next member
  std::unique_ptr<PlanRun> run_;
};

}  // namespace eindb
