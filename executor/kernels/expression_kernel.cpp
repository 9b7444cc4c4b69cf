#include "executor/kernels/expression_kernel.hpp"

#include <algorithm>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "executor/kernels/box_evaluator.hpp"
#include "executor/kernels/strided_copy.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kBoxBytes = 4096;

// Runs through the indices of some loops and keeps the streams' offsets.
class Odometer {
 public:
  explicit Odometer(const std::vector<Loop>& loops) : loops_(loops), index_(loops.size(), 0) {}

  // To the next index, the last loop fastest; false after the last, with everything back at the start.
  bool advance(StreamOffsets& offsets) {
    for (std::size_t n = loops_.size(); n-- > 0;) {
      const auto& loop = loops_[n];
      if (loop.size == 1) continue;
      if (++index_[n] < loop.size) {
        move(offsets, loop, 1);
        return true;
      }
      index_[n] = 0;
      move(offsets, loop, 1 - loop.size);
    }
    return false;
  }
  std::int64_t operator[](std::size_t loop) const { return index_[loop]; }

 private:
  static void move(StreamOffsets& offsets, const Loop& loop, std::int64_t steps) {
    for (std::size_t s = 0; s < offsets.size(); ++s)
      offsets[s] += static_cast<std::uint64_t>(loop.strides[s]) * static_cast<std::uint64_t>(steps);
  }

  const std::vector<Loop>& loops_;
  std::vector<std::int64_t> index_;
};

// One kernel call. The last stream is the output.
class ExpressionRun {
 public:
  ExpressionRun(const LevelTable& level, const ExpressionProgram& program, Aggregate aggregate, DType compute,
                std::span<const LabelView> operands, const LoopNest& nest, const MutableLabelView& accumulator,
                bool first)
      : nest_(nest),
        table_(level.of(compute)),
        aggregate_(aggregate),
        compute_(compute),
        output_(static_cast<std::byte*>(accumulator.data)),
        element_size_(size_of(compute)),
        first_(first),
        result_(program.instructions().back()),
        fuses_product_(aggregate == Aggregate::Sum && table_.multiply_across != nullptr &&
                       result_.kind == Instruction::Kind::Binary && result_.op == ScalarOp::Multiply),
        box_(level, program, compute, operands, nest),
        wide_(static_cast<std::size_t>(nest.rows.chunk * nest.columns.chunk) * size_of(wide_of(compute))) {}

  void run(StreamOffsets offsets) {
    Odometer output(nest_.output);
    Odometer aggregated(nest_.aggregated);
    const auto& row_odometer = nest_.rows.loop.aggregated ? aggregated : output;
    const auto& column_odometer = nest_.columns.loop.aggregated ? aggregated : output;
    do {
      bool fresh = true;
      do {
        if (++boxes_ % kBoxesPerPoll == 0) poll_cancellation();
        rows_ = nest_.rows.extent(row_odometer[nest_.row_loop]);
        columns_ = nest_.columns.extent(column_odometer[nest_.column_loop]);
        if (aggregate_ == Aggregate::None) store(offsets);
        else accumulate(offsets, fresh);
        fresh = false;
      } while (aggregated.advance(offsets));
      if (aggregate_ != Aggregate::None) settle(offsets);
    } while (output.advance(offsets));
  }

 private:
  MatrixView cells(const StreamOffsets& offsets) const {
    return {output_ + static_cast<std::int64_t>(offsets.back()) * static_cast<std::int64_t>(element_size_),
            nest_.rows.loop.strides.back(), nest_.columns.loop.strides.back()};
  }

  void store(const StreamOffsets& offsets) {
    const auto to = cells(offsets);
    const bool contiguous = (columns_ == 1 || to.column_stride == 1) && (rows_ == 1 || to.row_stride == columns_);
    if (contiguous && box_.computes_box()) {
      box_.evaluate(offsets, rows_, columns_, to.data);
      return;
    }
    box_.evaluate(offsets, rows_, columns_);
    const auto value = box_.result();
    table_.move[slot_of(compute_)](to, {value.data, value.step * columns_, value.step}, rows_, columns_);
  }

  // Folds the box into the accumulators: one per cell of the output that the box covers, row-major.
  void accumulate(const StreamOffsets& offsets, bool fresh) {
    if (fuses_product_) {
      box_.evaluate_arguments(offsets, rows_, columns_);
      const auto a = box_.value(result_.arguments[0]);
      const auto b = box_.value(result_.arguments[1]);
      fold([&](auto* wide, std::int64_t begin, std::int64_t count,
               bool start) { table_.multiply_across(wide, at(a, begin), at(b, begin), count, start); },
           [&](auto* wide, std::int64_t rows, std::int64_t columns, bool start) {
             table_.multiply_along(wide, a, b, rows, columns, start);
           },
           fresh);
    } else {
      box_.evaluate(offsets, rows_, columns_);
      const auto a = box_.result();
      fold([&](auto* wide, std::int64_t begin, std::int64_t count,
               bool start) { table_.across[slot_of(aggregate_)](wide, at(a, begin), count, start); },
           [&](auto* wide, std::int64_t rows, std::int64_t columns, bool start) {
             table_.along[slot_of(aggregate_)](wide, a, rows, columns, start);
           },
           fresh);
    }
  }

  template <class Across, class Along>
  void fold(const Across& across, const Along& along, bool fresh) {
    auto* wide = wide_.data();
    const bool fold_rows = nest_.rows.loop.aggregated;
    if (nest_.columns.loop.aggregated) {
      if (fold_rows) along(wide, 1, rows_ * columns_, fresh);
      else along(wide, rows_, columns_, fresh);
    } else if (!fold_rows) {
      across(wide, 0, rows_ * columns_, fresh);
    } else {
      for (std::int64_t r = 0; r < rows_; ++r) across(wide, r * columns_, columns_, fresh && r == 0);
    }
  }

  Values at(Values values, std::int64_t begin) const {
    return {static_cast<const std::byte*>(values.data) + begin * values.step * static_cast<std::int64_t>(element_size_),
            values.step};
  }

  void settle(const StreamOffsets& offsets) {
    const auto rows = nest_.rows.loop.aggregated ? 1 : rows_;
    const auto columns = nest_.columns.loop.aggregated ? 1 : columns_;
    table_.settle[slot_of(aggregate_)](cells(offsets), wide_.data(), rows, columns, first_);
  }

  static constexpr unsigned kBoxesPerPoll = 128;

  const LoopNest& nest_;
  const ElementTable& table_;
  Aggregate aggregate_;
  DType compute_;
  std::byte* output_;
  std::size_t element_size_;
  bool first_;
  const Instruction& result_;
  bool fuses_product_;
  BoxEvaluator box_;
  Scratch wide_;
  std::int64_t rows_ = 1;
  std::int64_t columns_ = 1;
  unsigned boxes_ = 0;
};

}  // namespace

ExpressionKernel::ExpressionKernel(const EinSum& einsum, const LabelTable& labels, DType compute)
    : aggregate_(einsum.aggregate), compute_(compute), program_(einsum, labels, compute) {
  for (const auto label : einsum.labels()) aggregated_.push_back(contains(einsum.aggregated, label));
}

std::vector<Stream> ExpressionKernel::streams(std::span<const LabelView> operands) const {
  std::vector<Stream> streams;
  for (const auto& instruction : program_.instructions()) {
    if (instruction.kind == Instruction::Kind::Operand) {
      const auto type = operands[instruction.operand].dtype;
      streams.push_back({Stream::Kind::Operand, static_cast<std::int64_t>(size_of(type)), type != compute_});
    } else if (instruction.reads_number()) {
      streams.push_back({Stream::Kind::Number, 8, false});
    }
  }
  streams.push_back({Stream::Kind::Output, static_cast<std::int64_t>(size_of(compute_)), false});
  return streams;
}

std::vector<Loop> ExpressionKernel::loops(std::span<const LabelView> operands, std::span<const PartRange> ranges,
                                          const MutableLabelView& accumulator) const {
  std::vector<Loop> loops;
  for (std::size_t n = 0; n < ranges.size(); ++n) {
    Loop loop{ranges[n].size, aggregated_[n], {}};
    for (const auto& instruction : program_.instructions()) {
      if (instruction.kind == Instruction::Kind::Operand)
        loop.strides.push_back(operands[instruction.operand].strides[n]);
      else if (instruction.reads_number()) loop.strides.push_back(instruction.number.coefficients[n]);
    }
    loop.strides.push_back(accumulator.strides[n]);
    loops.push_back(std::move(loop));
  }
  return loops;
}

bool ExpressionKernel::is_copy() const {
  return aggregate_ == Aggregate::None && program_.instructions().back().kind == Instruction::Kind::Operand;
}

void ExpressionKernel::copy(const LevelTable& level, std::span<const LabelView> operands,
                            std::span<const PartRange> ranges, const MutableLabelView& to) const {
  const auto& from = operands[program_.instructions().back().operand];
  std::vector<std::int64_t> extents;
  for (const auto& range : ranges) extents.push_back(range.size);
  copy_strided(level, {to.dtype, to.data, to.strides}, {from.dtype, from.data, from.strides}, extents);
}

// Whole rows at a time from where they lie, some of them side by side, into accumulators that stay in the cache.
bool ExpressionKernel::reduce_rows(const LevelTable& level, std::span<const LabelView> operands,
                                   std::span<const PartRange> ranges, const MutableLabelView& accumulator,
                                   bool first) const {
  constexpr std::int64_t kRowsAtOnce = 16;
  constexpr std::int64_t kColumnsAtOnce = 4096;
  constexpr std::int64_t kFewestColumns = 16;
  const auto& code = program_.instructions();
  if (aggregate_ == Aggregate::None || code.size() != 1 || code[0].kind != Instruction::Kind::Operand) return false;
  const auto& operand = operands[code[0].operand];
  if (operand.dtype != compute_) return false;

  auto all = loops(operands, ranges, accumulator);
  merge(all);
  const auto take = [&](auto wanted) {
    const auto found = std::find_if(all.begin(), all.end(), wanted);
    if (found == all.end()) return Loop{0, false, {}};
    auto loop = std::move(*found);
    all.erase(found);
    return loop;
  };
  const auto columns = take([](const Loop& loop) { return !loop.aggregated && loop.strides[0] == 1; });
  if (columns.size < kFewestColumns) return false;
  std::stable_sort(all.begin(), all.end(), [](const Loop& a, const Loop& b) { return a.strides[0] < b.strides[0]; });
  const auto rows = take([](const Loop& loop) { return loop.aggregated; });
  if (rows.size == 0) return false;
  std::vector<Loop> outer;
  std::vector<Loop> inner;
  for (auto loop = all.rbegin(); loop != all.rend(); ++loop) (loop->aggregated ? inner : outer).push_back(*loop);

  const auto& table = level.of(compute_);
  const auto size = static_cast<std::int64_t>(size_of(compute_));
  const Scratch wide(static_cast<std::size_t>(std::min(columns.size, kColumnsAtOnce)) * size_of(wide_of(compute_)));
  StreamOffsets offsets(2, 0);
  Odometer cells(outer);
  Odometer sums(inner);
  do {
    for (std::int64_t column = 0; column < columns.size; column += kColumnsAtOnce) {
      const auto count = std::min(kColumnsAtOnce, columns.size - column);
      bool fresh = true;
      do {
        const auto* from =
            static_cast<const std::byte*>(operand.data) + (static_cast<std::int64_t>(offsets[0]) + column) * size;
        for (std::int64_t row = 0; row < rows.size; row += kRowsAtOnce, fresh = false)
          table.down[slot_of(aggregate_)](wide.data(), from + row * rows.strides[0] * size, rows.strides[0],
                                          std::min(kRowsAtOnce, rows.size - row), count, fresh);
      } while (sums.advance(offsets));
      auto* to = static_cast<std::byte*>(accumulator.data) +
                 (static_cast<std::int64_t>(offsets[1]) + column * columns.strides[1]) * size;
      table.settle[slot_of(aggregate_)]({to, 0, columns.strides[1]}, wide.data(), 1, count, first);
    }
  } while (cells.advance(offsets));
  return true;
}

void ExpressionKernel::run(const LevelTable& level, std::span<const LabelView> operands,
                           std::span<const PartRange> ranges, const MutableLabelView& accumulator, bool first) const {
  CHECK(accumulator.dtype == compute_, "a kernel accumulates in the type that it computes in");
  if (is_copy()) return copy(level, operands, ranges, accumulator);
  if (reduce_rows(level, operands, ranges, accumulator, first)) return;
  const auto box_elements = kBoxBytes / static_cast<std::int64_t>(size_of(compute_));
  const auto all_streams = streams(operands);
  const auto nest = arrange(loops(operands, ranges, accumulator), all_streams, box_elements);

  StreamOffsets begin;
  for (const auto& instruction : program_.instructions()) {
    if (instruction.kind == Instruction::Kind::Operand) begin.push_back(0);
    if (!instruction.reads_number()) continue;
    std::uint64_t number = 0;
    for (std::size_t n = 0; n < ranges.size(); ++n)
      number +=
          static_cast<std::uint64_t>(instruction.number.coefficients[n]) * static_cast<std::uint64_t>(ranges[n].begin);
    begin.push_back(number);
  }
  begin.push_back(0);
  ExpressionRun(level, program_, aggregate_, compute_, operands, nest, accumulator, first).run(std::move(begin));
}

}  // namespace eindb
