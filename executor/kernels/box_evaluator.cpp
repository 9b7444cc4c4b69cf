#include "executor/kernels/box_evaluator.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "tensor/random.hpp"

namespace eindb {
namespace {

using Kind = Instruction::Kind;

constexpr std::size_t kSlotAlignment = 64;

std::size_t slot_bytes(std::int64_t elements, std::size_t size) {
  return (static_cast<std::size_t>(elements) * size + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

std::int64_t signed_offset(std::uint64_t offset) { return static_cast<std::int64_t>(offset); }

}  // namespace

BoxEvaluator::BoxEvaluator(const LevelTable& level, const ExpressionProgram& program,
                           std::span<const LabelView> operands, const LoopNest& nest)
    : level_(level),
      code_(program.instructions()),
      operands_(operands),
      registers_(code_.size()),
      box_elements_(nest.rows.chunk * nest.columns.chunk),
      scratch_((slot_bytes(box_elements_, program.largest_element()) +
                slot_bytes(nest.rows.chunk, program.largest_element())) *
                   (code_.size() + 1) +
               slot_bytes(box_elements_, sizeof(double))) {
  place_registers(nest);
}

void BoxEvaluator::place_registers(const LoopNest& nest) {
  auto* free = scratch_.data();
  const auto take = [&](std::int64_t elements, std::size_t size) {
    auto* taken = free;
    free += slot_bytes(elements, size);
    return taken;
  };
  std::size_t stream = 0;
  std::size_t largest = 0;
  for (const auto& instruction : code_) largest = std::max(largest, size_of(instruction.type));
  for (std::size_t n = 0; n < code_.size(); ++n) {
    const auto& instruction = code_[n];
    auto& reg = registers_[n];
    const auto size = size_of(instruction.type);
    reg.table = &level_.of(instruction.type);
    reg.spread = Spread::Single;
    if (instruction.kind == Kind::Operand || instruction.reads_number()) {
      reg.stream = stream++;
      reg.row_stride = nest.rows.chunk == 1 ? 0 : nest.rows.loop.strides[reg.stream];
      reg.column_stride = nest.columns.chunk == 1 ? 0 : nest.columns.loop.strides[reg.stream];
      if (reg.column_stride != 0 || (reg.row_stride != 0 && nest.columns.chunk == 1)) reg.spread = Spread::Box;
      else if (reg.row_stride != 0) reg.spread = Spread::Rows;
    }
    for (std::size_t a = 0; a < instruction.argument_count(); ++a)
      reg.spread = std::max(reg.spread, registers_[instruction.arguments[a]].spread);
    if (reg.spread != Spread::Single) reg.box = take(box_elements_, size);
    reg.slot = reg.spread == Spread::Box ? reg.box : take(nest.rows.chunk, size);
    reg.data = reg.slot;
    if (instruction.kind == Kind::Integer || instruction.kind == Kind::Real) set_constant(instruction, reg);
  }
  spare_ = take(box_elements_, largest);
  random_ = reinterpret_cast<double*>(take(box_elements_, sizeof(double)));
  CHECK(stream + 1 == nest.columns.loop.strides.size(), "the streams of a program are those that its loops move");
}

void BoxEvaluator::set_constant(const Instruction& instruction, Register& into) {
  const bool integer = instruction.kind == Kind::Integer;
  const void* value = integer ? static_cast<const void*>(&instruction.integer) : &instruction.real;
  const auto from = slot_of(integer ? DType::Int64 : DType::Float64);
  into.table->move[from]({into.slot, 0, 1}, {value, 0, 1}, 1, 1);
}

void BoxEvaluator::evaluate(const StreamOffsets& offsets, std::int64_t rows, std::int64_t columns, void* in_place) {
  run(offsets, rows, columns, code_.size(), in_place);
}

void BoxEvaluator::evaluate_arguments(const StreamOffsets& offsets, std::int64_t rows, std::int64_t columns) {
  run(offsets, rows, columns, code_.size() - 1, nullptr);
}

void BoxEvaluator::evaluate_until(std::size_t number, const StreamOffsets& offsets, std::int64_t rows,
                                  std::int64_t columns) {
  CHECK(number < code_.size(), "a program has the register");
  run(offsets, rows, columns, number + 1, nullptr);
}

void BoxEvaluator::run(const StreamOffsets& offsets, std::int64_t rows, std::int64_t columns, std::size_t count,
                       void* in_place) {
  DCHECK(rows > 0 && columns > 0 && rows * columns <= box_elements_, "a box fits its registers");
  resized_ = rows != rows_ || columns != columns_;
  const bool start = rows_ == 0;
  rows_ = rows;
  columns_ = columns;
  for (std::size_t n = 0; n < count; ++n) {
    const auto& instruction = code_[n];
    auto& reg = registers_[n];
    if (instruction.kind == Kind::Operand || instruction.reads_number()) {
      fetch(n, offsets[reg.stream]);
    } else if (instruction.argument_count() == 0) {
      reg.changed = start;
    } else {
      reg.changed = false;
      for (std::size_t a = 0; a < instruction.argument_count(); ++a)
        reg.changed = reg.changed || registers_[instruction.arguments[a]].changed;
      reg.spread_out = reg.spread_out && !reg.changed;
      const bool here = in_place != nullptr && n + 1 == count;
      if (here) compute(n, in_place);
      else if (reg.changed) compute(n, reg.slot);
    }
  }
}

void BoxEvaluator::fetch(std::size_t number, std::uint64_t offset) {
  auto& reg = registers_[number];
  reg.changed = resized_ || offset != reg.offset;
  if (!reg.changed) return;
  reg.offset = offset;
  reg.spread_out = false;
  if (code_[number].kind == Kind::Operand) load(code_[number], reg, offset);
  else draw(code_[number], reg, offset);
}

void BoxEvaluator::load(const Instruction& instruction, Register& into, std::uint64_t offset) {
  const auto& operand = operands_[instruction.operand];
  const auto* data = static_cast<const std::byte*>(operand.data) +
                     signed_offset(offset) * static_cast<std::int64_t>(size_of(operand.dtype));
  const auto rows = into.spread == Spread::Single ? 1 : rows_;
  const auto columns = into.spread == Spread::Box ? columns_ : 1;
  const bool packed = (columns == 1 || into.column_stride == 1) && (rows == 1 || into.row_stride == columns);
  if (packed && operand.dtype == instruction.type) {
    into.data = data;
    return;
  }
  into.table->move[slot_of(operand.dtype)]({into.slot, columns, 1}, {data, into.row_stride, into.column_stride}, rows,
                                           columns);
  into.data = into.slot;
}

void BoxEvaluator::draw(const Instruction& instruction, Register& into, std::uint64_t offset) {
  const auto rows = into.spread == Spread::Single ? 1 : rows_;
  const auto columns = into.spread == Spread::Box ? columns_ : 1;
  if (instruction.kind == Kind::Number) {
    into.table->ramp(into.slot, signed_offset(offset), into.row_stride, into.column_stride, rows, columns);
    return;
  }
  const auto seed = static_cast<std::uint64_t>(instruction.integer);
  const auto random = instruction.kind == Kind::Uniform ? random_uniform : random_normal;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto counter = offset + static_cast<std::uint64_t>(r) * static_cast<std::uint64_t>(into.row_stride) +
                           static_cast<std::uint64_t>(c) * static_cast<std::uint64_t>(into.column_stride);
      random_[r * columns + c] = random(seed, counter);
    }
  into.table->move[slot_of(DType::Float64)]({into.slot, 0, 1}, {random_, 0, 1}, 1, rows * columns);
}

void BoxEvaluator::compute(std::size_t number, void* to) {
  const auto& instruction = code_[number];
  const auto& [a, b, c] = instruction.arguments;
  const auto spread = registers_[number].spread;
  const auto& table = *registers_[number].table;
  const auto count = this->count(spread);
  switch (instruction.kind) {
    case Kind::Convert: convert(number, a, to); break;
    case Kind::Unary: table.unary[slot_of(instruction.op)](to, registers_[a].data, count); break;
    case Kind::Binary: table.binary[slot_of(instruction.op)](to, value(a, spread), value(b, spread), count); break;
    default: table.select(to, at_every_element(a, spread), value(b, spread), value(c, spread), count); break;
  }
}

// Both registers must have the same spread.
void BoxEvaluator::convert(std::size_t number, std::size_t from, void* to) {
  const auto& reg = registers_[number];
  reg.table->move[slot_of(code_[from].type)]({to, 0, 1}, {registers_[from].data, 0, 1}, 1, count(reg.spread));
}

std::int64_t BoxEvaluator::count(Spread spread) const {
  if (spread == Spread::Single) return 1;
  return spread == Spread::Rows ? rows_ : rows_ * columns_;
}

const void* BoxEvaluator::at_every_element(std::size_t number, Spread wanted) {
  const auto& reg = registers_[number];
  if (reg.spread == wanted) return reg.data;
  const auto move = reg.table->move[slot_of(code_[number].type)];
  if (reg.spread == Spread::Single) {
    move({spare_, 0, 1}, {reg.data, 0, 0}, 1, count(wanted));
    return spare_;
  }
  move({reg.box, columns_, 1}, {reg.data, 1, 0}, rows_, columns_);
  return reg.box;
}

// `wanted` must be at least the register's spread.
Values BoxEvaluator::value(std::size_t number, Spread wanted) {
  auto& reg = registers_[number];
  if (reg.spread == Spread::Single) return {reg.data, 0};
  if (reg.spread == wanted) return {reg.data, 1};
  if (!reg.spread_out) at_every_element(number, wanted);
  reg.spread_out = true;
  return {reg.box, 1};
}

bool BoxEvaluator::computes_box() const {
  return code_.back().argument_count() > 0 && registers_.back().spread == Spread::Box;
}

}  // namespace eindb
