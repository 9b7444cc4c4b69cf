#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "executor/kernels/box_evaluator.hpp"
#include "executor/kernels/expression_program.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/loop_nest.hpp"
#include "executor/kernels/scratch.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {

/// A user's aggregate as a program over values of one type. Immutable, thread-safe.
class UserFold {
 public:
  UserFold(UserAggregatePtr aggregate, DType compute);

  const UserAggregate& aggregate() const { return *aggregate_; }
  DType compute() const { return compute_; }
  const ExpressionProgram& program() const { return program_; }
  /// The size of a value in bytes, and the bytes of the aggregate of no cells.
  std::size_t element_size() const { return initial_.size(); }
  const std::vector<std::byte>& initial() const { return initial_; }

 private:
  UserAggregatePtr aggregate_;
  DType compute_;
  ExpressionProgram program_;
  std::vector<std::byte> initial_;
};

/// Combines vectors of values. The state of one kernel call, not shared between threads.
class VectorCombiner {
 public:
  VectorCombiner(const LevelTable& level, const UserFold& fold);

  /// to[i] = combination of before[i] and next[i]. `to` may be `before`, and overlaps nothing otherwise.
  void combine(void* to, const void* before, Values next, std::int64_t count);

 private:
  struct Register {
    const ElementTable* table = nullptr;  // of its type
    std::byte* slot = nullptr;
    const void* data = nullptr;
    std::int64_t step = 1;  // 0: a single value
  };

  void place_registers();
  void load(std::size_t number, const std::byte* from, std::int64_t step, std::int64_t count);
  void compute(std::size_t number, void* to, std::int64_t count);
  const void* at_every_element(std::size_t number, std::int64_t count);

  const LevelTable& level_;
  const UserFold& fold_;
  const std::vector<Instruction>& code_;
  std::vector<Register> registers_;
  Scratch scratch_;
  std::byte* spare_ = nullptr;  // one vector
};

/// Folds the values of a program over the cells of a nest into an accumulator.
///
/// An aggregate that may be taken in any order has an accumulator for each element of a box: boxes are combined as
/// vectors, and the accumulators with each other at the end. Otherwise `nest` visits the cells of each result in the
/// order of the fold (arrange_in_order), a box has one row for each step, and its columns are different results; what
/// has been aggregated is combined with one row after the other. Where the results are few and the aggregate is
/// associative, neighbouring rows are combined first, pair by pair, and segments of the values of one result are folded
/// side by side.
class FoldRun {
 public:
  FoldRun(const LevelTable& level, const UserFold& fold, const ExpressionProgram& program,
          std::span<const LabelView> operands, const LoopNest& nest, const MutableLabelView& accumulator, bool first);

  void run(StreamOffsets offsets);

 private:
  std::byte* at(std::byte* from, std::int64_t element) const {
    return from + element * static_cast<std::int64_t>(size_);
  }
  MatrixView cells(const StreamOffsets& offsets) const;
  void begin_in_order(const StreamOffsets& offsets);
  void fold_in_order(const StreamOffsets& offsets);
  void combine_segments(Values box);
  void combine_neighbours(Values box, std::int64_t rows);
  void take_box(const StreamOffsets& offsets, bool fresh);
  const void* fold_box();
  void fold_halves(std::byte* values, std::int64_t count, std::int64_t width);
  void finish(const StreamOffsets& offsets);
  void move(MatrixView to, ConstMatrixView from, std::int64_t rows, std::int64_t columns) const;

  const LoopNest& nest_;
  const UserFold& fold_;
  const ElementTable& table_;
  std::size_t size_;
  std::byte* output_;
  bool first_;
  bool in_order_;
  BoxEvaluator box_;
  VectorCombiner combiner_;
  std::size_t box_bytes_;
  Scratch one_, two_, second_, third_, fourth_, fifth_;  // a box each
  std::byte* held_;   // what has been aggregated: one value for each column, or for each element of a box
  std::byte* other_;  // takes what comes next
  std::int64_t rows_ = 1;
  std::int64_t columns_ = 1;
  std::int64_t held_rows_ = 1;  // of the first box of the cells that are being aggregated
  std::int64_t held_columns_ = 1;
};

}  // namespace eindb
