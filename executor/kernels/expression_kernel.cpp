#include "executor/kernels/expression_kernel.hpp"

#include <algorithm>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "executor/kernels/box_evaluator.hpp"
#include "executor/kernels/index_search.hpp"
#include "executor/kernels/row_reduction.hpp"
#include "executor/kernels/strided_copy.hpp"

namespace eindb {
namespace {

// All registers of a box stay in the first-level cache. If there are few, boxes may be longer, which means fewer calls.
constexpr std::int64_t kBoxBytes = 4096;
constexpr std::int64_t kBoxBytesOfFew = 8192;
constexpr std::size_t kFewOperations = 3;
// With very many registers boxes are shorter, so that their memory stays negligible.
constexpr std::int64_t kMostRegisterBytes = std::int64_t{1} << 20U;
constexpr std::int64_t kLeastBoxBytes = 64;

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
        fuses_product_(aggregate == Aggregate::Sum && table_.multiply_along != nullptr &&
                       result_.kind == Instruction::Kind::Binary && result_.op == ScalarOp::Multiply),
        box_(level, program, operands, nest),
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
        DCHECK(offsets.size() == nest_.columns.loop.strides.size(), "each stream stands somewhere");
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

  // Folds the box into the accumulators, one per cell of the output that the box covers, row-major.
  void accumulate(const StreamOffsets& offsets, bool fresh) {
    const bool along = nest_.columns.loop.aggregated;
    // If both sides are of the same kind, the box is a single row.
    const bool one_row = nest_.rows.loop.aggregated == along;
    const auto rows = one_row ? 1 : rows_;
    const auto columns = one_row ? rows_ * columns_ : columns_;
    const auto rows_of = [&](Values values) { return Rows{values.data, values.step * columns, values.step}; };
    if (fuses_product_) {
      box_.evaluate_arguments(offsets, rows_, columns_);
      const auto a = rows_of(box_.value(result_.arguments[0]));
      const auto b = rows_of(box_.value(result_.arguments[1]));
      (along ? table_.multiply_along : table_.multiply_down)(wide_.data(), a, b, rows, columns, fresh);
    } else {
      box_.evaluate(offsets, rows_, columns_);
      const auto slot = slot_of(aggregate_);
      (along ? table_.along : table_.down)[slot](wide_.data(), rows_of(box_.result()), rows, columns, fresh);
    }
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

ExpressionKernel::ExpressionKernel(const EinSum& einsum, const LabelTable& labels,
                                   const std::vector<DType>& operand_types, DType compute)
    : aggregate_(einsum.aggregate),
      compute_(compute),
      program_(einsum, labels, operand_types),
      placed_(placed_registers(program_, einsum)) {
  CHECK(program_.instructions().back().type == compute, "an expression's value has the type that it is aggregated in");
  const auto labels_of_all = einsum.labels();
  for (const auto label : labels_of_all) aggregated_.push_back(contains(einsum.aggregated, label));
  if (einsum.user == nullptr || einsum.block) return;
  fold_.emplace(einsum.user, compute);
  for (const auto label : einsum.aggregated)
    fold_order_.push_back(
        static_cast<std::size_t>(std::find(labels_of_all.begin(), labels_of_all.end(), label) - labels_of_all.begin()));
}

std::vector<Stream> ExpressionKernel::streams(std::span<const LabelView> operands) const {
  std::vector<Stream> streams;
  for (const auto& instruction : program_.instructions()) {
    if (instruction.kind == Instruction::Kind::Operand) {
      const auto type = operands[instruction.operand].dtype;
      streams.push_back({Stream::Kind::Operand, static_cast<std::int64_t>(size_of(type)), type != instruction.type});
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

LoopNest ExpressionKernel::nest_in_order(const std::vector<Loop>& loops, std::span<const Stream> streams,
                                         std::int64_t elements) const {
  std::vector<Loop> output;
  std::vector<Loop> aggregated;
  for (const auto& loop : loops)
    if (!loop.aggregated) output.push_back(loop);
  for (const auto place : fold_order_) aggregated.push_back(loops[place]);
  return arrange_in_order(std::move(output), std::move(aggregated), streams, elements);
}

// The offsets of the streams before the first step.
StreamOffsets ExpressionKernel::begin(std::span<const PartRange> ranges) const {
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
  return begin;
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

void ExpressionKernel::run(const LevelTable& level, std::span<const LabelView> operands,
                           std::span<const PartRange> ranges, const MutableLabelView& accumulator, bool first) const {
  CHECK(accumulator.dtype == compute_, "a kernel accumulates in the type that it computes in");
  CHECK(ranges.size() == aggregated_.size(), "a kernel call has a range for every label");
  if (is_copy()) return copy(level, operands, ranges, accumulator);
  auto all_loops = loops(operands, ranges, accumulator);
  if (!fold_ && reduce_rows(level, program_, aggregate_, compute_, operands, all_loops, accumulator, first)) return;
  auto offsets = begin(ranges);
  if (!fold_ && search_index(level, program_, aggregate_, compute_, operands, all_loops, offsets, accumulator, first))
    return;
  if (placed_ &&
      (search_extreme(level, program_, *placed_, aggregate_, operands, all_loops, offsets, accumulator, first) ||
       place_computed(level, program_, *placed_, aggregate_, operands, all_loops, streams(operands), offsets,
                      accumulator, first)))
    return;
  const auto wanted = program_.operation_count() <= kFewOperations ? kBoxBytesOfFew : kBoxBytes;
  const auto affordable = kMostRegisterBytes / static_cast<std::int64_t>(program_.instructions().size());
  const auto box_bytes = std::clamp(affordable, kLeastBoxBytes, wanted);
  const auto box_elements = box_bytes / static_cast<std::int64_t>(program_.largest_element());
  const auto all_streams = streams(operands);
  if (fold_) {
    const auto nest = fold_->aggregate().may_split() ? arrange(std::move(all_loops), all_streams, box_elements, true)
                                                     : nest_in_order(all_loops, all_streams, box_elements);
    return FoldRun(level, *fold_, program_, operands, nest, accumulator, first).run(std::move(offsets));
  }
  const auto nest = arrange(std::move(all_loops), all_streams, box_elements);
  ExpressionRun(level, program_, aggregate_, compute_, operands, nest, accumulator, first).run(std::move(offsets));
}

}  // namespace eindb
