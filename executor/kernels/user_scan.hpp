#pragma once

#include <cstddef>
#include <cstdint>

#include "executor/kernels/level_table.hpp"
#include "executor/kernels/scan_lines.hpp"
#include "executor/kernels/scratch.hpp"
#include "executor/kernels/user_fold.hpp"

namespace eindb {

/// One call of the scan of a user's aggregate, which is associative. Many lines are combined side by side; of few ones
/// segments are, and then what comes before each of them is combined with its results.
class UserScan {
 public:
  /// Without `forward` cells are taken from the last one on, and are combined in their order all the same. Without
  /// `first` results are combined with those that are there, which are of other cells; the aggregate is then
  /// commutative.
  UserScan(const LevelTable& level, const UserFold& fold, const ScanLines& lines, bool forward, bool first);

  void run();

 private:
  std::byte* at(const Scratch& of, std::int64_t element) const { return of.data() + element * size_; }
  void move(MatrixView to, ConstMatrixView from, std::int64_t rows, std::int64_t columns) const;
  void take(void* to, const void* so_far, const void* next, std::int64_t count);
  void scan_lanes(const std::byte* source, std::byte* output, std::int64_t lanes);
  void scan_line(const std::byte* source, std::byte* output);
  void scan_chunk(const std::byte* source, std::int64_t cells);
  void put(std::byte* to, std::int64_t stride, const void* values, std::int64_t step, std::int64_t count);

  const LevelTable& level_;
  const UserFold& fold_;
  const ScanLines& lines_;
  bool forward_;
  bool first_;
  std::int64_t size_;
  VectorCombiner combiner_;
  Scratch steps_, sums_, results_, old_;  // of a chunk of a line
  Scratch held_, other_, next_;           // of lines side by side; of segments
};

}  // namespace eindb
