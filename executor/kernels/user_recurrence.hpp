#pragma once

#include <cstddef>
#include <cstdint>

#include "executor/kernels/level_table.hpp"
#include "executor/kernels/scratch.hpp"
#include "executor/kernels/user_fold.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {

/// The functions of the recurrence h[t] = f(a[t] o h[t-1], x[t]) of a user's aggregate. Immutable, thread-safe.
struct RecurrenceFolds {
  RecurrenceFolds(const UserAggregatePtr& aggregate, DType compute);

  UserFold join;     ///< o
  UserFold combine;  ///< f
};

/// Lines that recur side by side; distances in elements.
struct RecurrenceLines {
  struct Moves {
    std::int64_t along = 0;
    std::int64_t lane = 0;
  };

  const std::byte* x = nullptr;
  const std::byte* a = nullptr;
  std::byte* h = nullptr;
  Moves of_x, of_a, of_h;
  std::int64_t steps = 0;  ///< at least one
  std::int64_t lanes = 0;
  bool backward = false;  ///< h[t] = f(a[t+1] o h[t+1], x[t]) from the last one on
};

/// One call. Many lines are computed side by side; of few ones segments are, each from its own first value on, and then
/// what comes before a segment is joined with the product of its factors and combined with its results, since f
/// distributes over o.
class UserRecurrence {
 public:
  UserRecurrence(const LevelTable& level, const RecurrenceFolds& folds);

  void run(const RecurrenceLines& lines);

 private:
  std::byte* at(const Scratch& of, std::int64_t element) const { return of.data() + element * size_; }
  void move(MatrixView to, ConstMatrixView from, std::int64_t rows, std::int64_t columns) const;
  void step(void* to, const void* factors, const void* before, const void* values, std::int64_t count);
  void run_lanes(const RecurrenceLines& lines);
  void run_line(const RecurrenceLines& line);
  void run_chunk(const RecurrenceLines& line, std::int64_t first, std::int64_t length);

  const LevelTable& level_;
  DType type_;
  std::int64_t size_;
  VectorCombiner join_;
  VectorCombiner combine_;
  Scratch values_, factors_, held_, joined_, before_;  // of lines side by side, or of a chunk of one line
};

}  // namespace eindb
