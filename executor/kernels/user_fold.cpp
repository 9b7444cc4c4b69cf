#include "executor/kernels/user_fold.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/cancellation.hpp"
#include "common/check.hpp"

namespace eindb {
namespace {

using Kind = Instruction::Kind;

// The registers of a combination stay in the first-level cache.
constexpr std::int64_t kVector = 512;
constexpr std::size_t kVectorAlignment = 64;
// Fewer results than these are folded as pairs of neighbours, if the aggregate is associative.
constexpr std::int64_t kFewResults = 32;
constexpr std::int64_t kSegments = 64;
constexpr unsigned kFoldBoxesPerPoll = 128;

std::size_t vector_bytes(std::size_t size) {
  return (static_cast<std::size_t>(kVector) * size + kVectorAlignment - 1) / kVectorAlignment * kVectorAlignment;
}

// The combination as an EinSum over single cells.
EinSum einsum_of(const UserAggregate& aggregate, DType compute) {
  return {.inputs = {{}, {}},
          .output = {},
          .aggregated = {},
          .expression = typed_combination(aggregate, compute),
          .aggregate = Aggregate::None};
}

std::vector<std::byte> bytes_of(const ScalarValue& value, DType type) {
  std::vector<std::byte> bytes(size_of(type));
  dispatch(type, [&](auto t) {
    const auto converted = value.as<typename decltype(t)::type>();
    std::memcpy(bytes.data(), &converted, sizeof converted);
  });
  return bytes;
}

}  // namespace

UserFold::UserFold(UserAggregatePtr aggregate, DType compute)
    : aggregate_(std::move(aggregate)),
      compute_(compute),
      program_(einsum_of(*aggregate_, compute), LabelTable(), {compute, compute}),
      initial_(bytes_of(initial_value(*aggregate_, compute), compute)) {}

VectorCombiner::VectorCombiner(const LevelTable& level, const UserFold& fold)
    : level_(level),
      fold_(fold),
      code_(fold.program().instructions()),
      registers_(code_.size()),
      scratch_(vector_bytes(fold.program().largest_element()) * (code_.size() + 1)) {
  place_registers();
}

// Values of constants are computed once.
void VectorCombiner::place_registers() {
  const auto bytes = vector_bytes(fold_.program().largest_element());
  for (std::size_t n = 0; n < code_.size(); ++n) {
    const auto& instruction = code_[n];
    auto& reg = registers_[n];
    reg.table = &level_.of(instruction.type);
    reg.slot = scratch_.data() + n * bytes;
    reg.data = reg.slot;
    reg.step = instruction.kind == Kind::Operand ? 1 : 0;
    CHECK(!instruction.reads_number(), "a combination depends on two values alone");
    for (std::size_t a = 0; a < instruction.argument_count(); ++a)
      reg.step = std::max(reg.step, registers_[instruction.arguments[a]].step);
    if (instruction.kind == Kind::Integer || instruction.kind == Kind::Real) {
      const bool integer = instruction.kind == Kind::Integer;
      const void* value = integer ? static_cast<const void*>(&instruction.integer) : &instruction.real;
      reg.table->move[slot_of(integer ? DType::Int64 : DType::Float64)]({reg.slot, 0, 1}, {value, 0, 1}, 1, 1);
    }
  }
  spare_ = scratch_.data() + code_.size() * bytes;
  for (std::size_t n = 0; n < code_.size(); ++n)
    if (registers_[n].step == 0 && code_[n].argument_count() > 0) compute(n, registers_[n].slot, 1);
}

void VectorCombiner::combine(void* to, const void* before, Values next, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(fold_.element_size());
  const auto* from = static_cast<const std::byte*>(next.data);
  // The last operation writes to its destination, unless that is one of its arguments.
  const auto last = code_.size() - 1;
  const bool direct = to != before && code_[last].argument_count() > 0 && registers_[last].step == 1;
  for (std::int64_t begin = 0; begin < count; begin += kVector) {
    const auto now = std::min(kVector, count - begin);
    auto* here = static_cast<std::byte*>(to) + begin * size;
    const auto* so_far = static_cast<const std::byte*>(before) + begin * size;
    for (std::size_t n = 0; n < code_.size(); ++n) {
      if (code_[n].kind == Kind::Operand && code_[n].operand == 0) load(n, so_far, 1, now);
      else if (code_[n].kind == Kind::Operand) load(n, from + begin * next.step * size, next.step, now);
      else if (code_[n].argument_count() > 0 && registers_[n].step != 0)
        compute(n, direct && n == last ? here : registers_[n].slot, now);
    }
    if (direct) continue;
    const auto& result = registers_.back();
    if (result.step == 0) result.table->move[slot_of(fold_.compute())]({here, 0, 1}, {result.data, 0, 0}, 1, now);
    else if (result.data != here) std::memmove(here, result.data, static_cast<std::size_t>(now * size));
  }
}

void VectorCombiner::load(std::size_t number, const std::byte* from, std::int64_t step, std::int64_t count) {
  auto& reg = registers_[number];
  const bool converted = code_[number].type != fold_.compute();
  if (converted || step == 0) {
    reg.table->move[slot_of(fold_.compute())]({reg.slot, 0, 1}, {from, 0, step}, 1, count);
    reg.data = reg.slot;
  } else {
    reg.data = from;
  }
}

void VectorCombiner::compute(std::size_t number, void* to, std::int64_t count) {
  const auto& instruction = code_[number];
  const auto& [a, b, c] = instruction.arguments;
  const auto value = [&](std::size_t n) { return Values{registers_[n].data, registers_[n].step}; };
  const auto& reg = registers_[number];
  const auto& table = *reg.table;
  switch (instruction.kind) {
    case Kind::Convert: table.move[slot_of(code_[a].type)]({to, 0, 1}, {registers_[a].data, 0, 1}, 1, count); break;
    case Kind::Unary: table.unary[slot_of(instruction.op)](to, registers_[a].data, count); break;
    case Kind::Binary: table.binary[slot_of(instruction.op)](to, value(a), value(b), count); break;
    default: table.select(to, at_every_element(a, count), value(b), value(c), count); break;
  }
}

const void* VectorCombiner::at_every_element(std::size_t number, std::int64_t count) {
  const auto& reg = registers_[number];
  if (reg.step == 1) return reg.data;
  reg.table->move[slot_of(code_[number].type)]({spare_, 0, 1}, {reg.data, 0, 0}, 1, count);
  return spare_;
}

FoldRun::FoldRun(const LevelTable& level, const UserFold& fold, const ExpressionProgram& program,
                 std::span<const LabelView> operands, const LoopNest& nest, const MutableLabelView& accumulator,
                 bool first)
    : nest_(nest),
      fold_(fold),
      table_(level.of(fold.compute())),
      size_(fold.element_size()),
      output_(static_cast<std::byte*>(accumulator.data)),
      first_(first),
      in_order_(!fold.aggregate().may_split()),
      box_(level, program, operands, nest),
      combiner_(level, fold),
      box_bytes_(static_cast<std::size_t>(nest.rows.chunk * nest.columns.chunk) * size_),
      one_(box_bytes_),
      two_(box_bytes_),
      second_(box_bytes_),
      third_(box_bytes_),
      fourth_(box_bytes_),
      fifth_(box_bytes_),
      held_(one_.data()),
      other_(two_.data()) {}

void FoldRun::run(StreamOffsets offsets) {
  Odometer output(nest_.output);
  Odometer aggregated(nest_.aggregated);
  const auto& row_odometer = nest_.rows.loop.aggregated ? aggregated : output;
  const auto& column_odometer = nest_.columns.loop.aggregated ? aggregated : output;
  unsigned boxes = 0;
  do {
    bool fresh = true;
    do {
      if (++boxes % kFoldBoxesPerPoll == 0) poll_cancellation();
      rows_ = nest_.rows.extent(row_odometer[nest_.row_loop]);
      columns_ = nest_.columns.extent(column_odometer[nest_.column_loop]);
      if (!in_order_) {
        take_box(offsets, fresh);
      } else {
        if (fresh) begin_in_order(offsets);
        fold_in_order(offsets);
      }
      fresh = false;
    } while (aggregated.advance(offsets));
    finish(offsets);
  } while (output.advance(offsets));
}

MatrixView FoldRun::cells(const StreamOffsets& offsets) const {
  return {at(output_, static_cast<std::int64_t>(offsets.back())), nest_.rows.loop.strides.back(),
          nest_.columns.loop.strides.back()};
}

void FoldRun::move(MatrixView to, ConstMatrixView from, std::int64_t rows, std::int64_t columns) const {
  table_.move[slot_of(fold_.compute())](to, from, rows, columns);
}

// ---- In order

// The accumulator begins with the initial value, or with the aggregate of earlier calls.
void FoldRun::begin_in_order(const StreamOffsets& offsets) {
  const auto from = cells(offsets);
  const MatrixView held{held_, 0, 1};
  if (first_) move(held, {fold_.initial().data(), 0, 0}, 1, columns_);
  else move(held, {from.data, 0, from.column_stride}, 1, columns_);
}

void FoldRun::fold_in_order(const StreamOffsets& offsets) {
  box_.evaluate(offsets, rows_, columns_);
  const auto box = box_.result();
  const bool associative = fold_.aggregate().associative;
  if (associative && columns_ == 1 && box.step == 1 && rows_ >= kSegments * 4) return combine_segments(box);
  if (associative && columns_ < kFewResults && rows_ > 2) return combine_neighbours(box, rows_);
  const auto* from = static_cast<const std::byte*>(box.data);
  for (std::int64_t r = 0; r < rows_; ++r) {
    combiner_.combine(other_, held_, {from + r * columns_ * box.step * static_cast<std::int64_t>(size_), box.step},
                      columns_);
    std::swap(held_, other_);
  }
}

// Values of one result: segments of consecutive ones are folded side by side, then with each other, and last the rest.
void FoldRun::combine_segments(Values box) {
  const auto length = rows_ / kSegments;
  const auto* from = static_cast<const std::byte*>(box.data);
  auto* steps = second_.data();
  move({steps, kSegments, 1}, {from, 1, length}, length, kSegments);
  for (std::int64_t n = 1; n < length; ++n) combiner_.combine(steps, steps, {at(steps, n * kSegments), 1}, kSegments);
  combine_neighbours({steps, 1}, kSegments);
  const auto folded = length * kSegments;
  if (folded < rows_) combine_neighbours({from + folded * static_cast<std::int64_t>(size_), 1}, rows_ - folded);
}

// Rows 0 and 1, 2 and 3, ... until one row is left.
void FoldRun::combine_neighbours(Values box, std::int64_t rows) {
  auto* values = third_.data();
  auto* first = fourth_.data();
  auto* second = fifth_.data();
  move({values, columns_, 1}, {box.data, columns_ * box.step, box.step}, rows, columns_);
  for (auto left = rows; left > 1; left = (left + 1) / 2) {
    const auto pairs = left / 2;
    move({first, columns_, 1}, {values, 2 * columns_, 1}, left - pairs, columns_);
    move({second, columns_, 1}, {at(values, columns_), 2 * columns_, 1}, pairs, columns_);
    combiner_.combine(first, first, {second, 1}, pairs * columns_);
    std::swap(values, first);
  }
  combiner_.combine(held_, held_, {values, 1}, columns_);
}

// ---- In any order

void FoldRun::take_box(const StreamOffsets& offsets, bool fresh) {
  if (fresh) {
    held_rows_ = rows_;
    held_columns_ = columns_;
  }
  box_.evaluate(offsets, rows_, columns_);
  const auto box = box_.result();
  if (fresh) return move({held_, columns_, 1}, {box.data, box.step * columns_, box.step}, rows_, columns_);
  DCHECK(rows_ <= held_rows_ && columns_ <= held_columns_, "the first box is the largest one");
  if (columns_ == held_columns_ && rows_ == held_rows_) {
    combiner_.combine(other_, held_, box, rows_ * columns_);
    return std::swap(held_, other_);
  }
  const auto* from = static_cast<const std::byte*>(box.data);
  for (std::int64_t r = 0; r < rows_; ++r)
    combiner_.combine(at(held_, r * held_columns_), at(held_, r * held_columns_),
                      {from + r * columns_ * box.step * static_cast<std::int64_t>(size_), box.step}, columns_);
}

// Combines `count` vectors of `width` values into the first of them.
void FoldRun::fold_halves(std::byte* values, std::int64_t count, std::int64_t width) {
  while (count > 1) {
    const auto half = (count + 1) / 2;
    combiner_.combine(values, values, {at(values, half * width), 1}, (count - half) * width);
    count = half;
  }
}

// The aggregate of what is held for each cell of the result, row-major.
const void* FoldRun::fold_box() {
  const bool rows = nest_.rows.loop.aggregated && held_rows_ > 1;
  const bool columns = nest_.columns.loop.aggregated && held_columns_ > 1;
  if (columns && !rows && held_rows_ > 1) {
    move({second_.data(), held_rows_, 1}, {held_, 1, held_columns_}, held_columns_, held_rows_);
    fold_halves(second_.data(), held_columns_, held_rows_);
    return second_.data();
  }
  if (columns) fold_halves(held_, held_rows_ * held_columns_, 1);
  else if (rows) fold_halves(held_, held_rows_, held_columns_);
  return held_;
}

void FoldRun::finish(const StreamOffsets& offsets) {
  const auto to = cells(offsets);
  if (in_order_) return move({to.data, 0, to.column_stride}, {held_, 0, 1}, 1, columns_);
  const auto rows = nest_.rows.loop.aggregated ? 1 : held_rows_;
  const auto columns = nest_.columns.loop.aggregated ? 1 : held_columns_;
  const auto* folded = fold_box();
  if (first_) return move(to, {folded, columns, 1}, rows, columns);
  move({third_.data(), columns, 1}, {to.data, to.row_stride, to.column_stride}, rows, columns);
  combiner_.combine(third_.data(), third_.data(), {folded, 1}, rows * columns);
  move(to, {third_.data(), columns, 1}, rows, columns);
}

}  // namespace eindb
