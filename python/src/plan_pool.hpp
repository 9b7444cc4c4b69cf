#pragma once

#include <cstddef>
#include <eindb/eindb.hpp>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "python/src/contraction.hpp"

namespace eindb_python {

/// A database in memory that computes contractions, and keeps what it prepared for them: one statement for each
/// sequence of labels, types and extents, with the operands attached under names of its own. Used by one thread at a
/// time.
///
/// To attach an operand takes longer than a small product. So a small operand is copied to a place that stays attached,
/// and a larger one stays attached where it lies until the same statement gets another one in its place. What is
/// attached is read while run() computes with it, and only then.
class PlanWorker {
 public:
  PlanWorker();

  /// The result, with the dimensions in the order of contraction.output. Call without the GIL.
  /// data[n] is where operand n lies, in place of Operand::data.
  eindb::TensorResult run(const Contraction& contraction, std::span<const void* const> data);
  /// Stops run() with ErrorCode::Cancelled; from any thread.
  void cancel() noexcept { connection_.cancel(); }
  eindb::Connection& connection() { return connection_; }

 private:
  struct Input {
    std::string name;
    bool is_named = false;       // whether a tensor of this name is attached, be it another statement's of before
    eindb::TensorView attached;  // as it is now; of no extents and no data: not at all
    bool is_attached = false;
    std::vector<std::byte> staged;  // room for a small operand, and alignment
    // Of the call at hand, and in parts of that before it:
    eindb::TensorView view;
    std::vector<std::int64_t> strides;  // of `view`, in bytes; empty before the first call
    std::int64_t staged_bytes = -1;     // of a small operand, else -1
    bool is_row_major = false;
  };
  struct Plan {
    std::string key;
    std::vector<Input> inputs;
    eindb::Statement statement;
  };
  using Plans = std::list<Plan>;  // the latest first

  Plan& plan_of(const Contraction& contraction);
  Plan made(const Contraction& contraction, std::string key);
  static void look_at(const Operand& operand, const Contraction& contraction, Input& input);
  void attach(Input& input, const eindb::TensorView& view);
  void replace(Input& input, const eindb::TensorView& view);
  void forget(Plan& plan);

  eindb::Connection connection_;
  Plans plans_;
  std::unordered_map<std::string, Plans::iterator> by_key_;
  std::size_t names_ = 0;                 // so far
  std::vector<std::string> spare_names_;  // under which tensors are attached that no statement reads any more
};

/// The workers that are free. A thread takes one for a call, or makes one, so that there are as many as threads compute
/// at the same time. Thread-safe.
class PlanPool {
 public:
  std::unique_ptr<PlanWorker> take();
  void give_back(std::unique_ptr<PlanWorker> worker);

 private:
  std::mutex mutex_;  // guards free_
  std::vector<std::unique_ptr<PlanWorker>> free_;
};

/// The pool of the process.
PlanPool& plan_pool();
/// In a child of fork(), which has one thread: a new pool takes the place of the parent's, whose workers have threads,
/// and whose mutex may be held, in the parent alone. What it has is left where it is.
void renew_plan_pool();

std::size_t size_of(eindb::ElementType type);

}  // namespace eindb_python
