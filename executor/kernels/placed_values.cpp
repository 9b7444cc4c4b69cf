#include "executor/kernels/placed_values.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "executor/kernels/box_evaluator.hpp"
#include "executor/kernels/scratch.hpp"

namespace eindb {
namespace {

using Kind = Instruction::Kind;

// The values of a box, as many as the fold reads again from the first-level cache.
constexpr std::int64_t kValueBytes = 8192;

// The register before its value is converted to a complex number.
std::size_t real_part(const std::vector<Instruction>& code, std::size_t number) {
  const auto& instruction = code[number];
  return instruction.kind == Kind::Convert && is_complex(instruction.type) ? instruction.arguments[0] : number;
}

// The register before it is converted. FLOAT32 compares as FLOAT64 does; whole numbers, which that rounds, do not.
std::size_t unconverted_value(const std::vector<Instruction>& code, std::size_t number) {
  const auto& instruction = code[number];
  if (instruction.kind != Kind::Convert) return number;
  const auto before = instruction.arguments[0];
  return code[before].type == DType::Float32 ? before : number;
}

// One kernel call, for values of type T. The last stream is the output.
template <class T>
class PlacedRun {
 public:
  PlacedRun(const LevelTable& level, const ExpressionProgram& program, const PlacedRegisters& placed,
            Aggregate aggregate, std::span<const LabelView> operands, const LoopNest& nest,
            const MutableLabelView& accumulator, bool first)
      : nest_(nest),
        table_(level.of(placed.type)),
        placed_(placed),
        aggregate_(aggregate),
        least_(aggregate == Aggregate::FirstLeast),
        output_(static_cast<std::complex<double>*>(accumulator.data)),
        first_(first),
        box_(level, program, operands, nest) {
    const auto cells = nest.rows.chunk * nest.columns.chunk;
    values_.resize(static_cast<std::size_t>(cells));
    places_.resize(values_.size());
    box_values_.resize(values_.size());
    box_places_.resize(values_.size());
  }

  void run(StreamOffsets offsets) {
    Odometer output(nest_.output);
    Odometer aggregated(nest_.aggregated);
    const auto& row_odometer = nest_.rows.loop.aggregated ? aggregated : output;
    const auto& column_odometer = nest_.columns.loop.aggregated ? aggregated : output;
    do {
      const auto begin = offsets[placed_.index_stream];
      bool fresh = true;
      do {
        if (++boxes_ % kBoxesPerPoll == 0) poll_cancellation();
        const auto rows = nest_.rows.extent(row_odometer[nest_.row_loop]);
        const auto columns = nest_.columns.extent(column_odometer[nest_.column_loop]);
        box_.evaluate_until(placed_.value, offsets, rows, columns);
        place_box(rows, columns, static_cast<std::int32_t>(offsets[placed_.index_stream] - begin), fresh);
        fresh = false;
      } while (aggregated.advance(offsets));
      settle(offsets, static_cast<std::int64_t>(begin));
    } while (output.advance(offsets));
  }

 private:
  // Takes a box into the extremes, one for each cell of the output that it covers, row-major. `place`: of its first
  // index.
  void place_box(std::int64_t box_rows, std::int64_t box_columns, std::int32_t place, bool fresh) {
    const bool along = nest_.columns.loop.aggregated;
    // If both sides are of the same kind, the box is a single row.
    const bool one_row = nest_.rows.loop.aggregated == along;
    const auto rows = one_row ? 1 : box_rows;
    const auto columns = one_row ? box_rows * box_columns : box_columns;
    cells_ = along ? rows : columns;
    row_length_ = box_columns;
    const auto box = box_.value(placed_.value);
    const Rows values{box.data, box.step * columns, box.step};
    if (box.step == 0) {
      std::fill_n(box_values_.data(), cells_, *static_cast<const T*>(box.data));
      std::fill_n(box_places_.data(), cells_, 0);
      take(place, fresh);
    } else if (along) {
      const auto fold = table_.along[slot_of(least_ ? Aggregate::Min : Aggregate::Max)];
      fold(box_values_.data(), values, rows, columns, true);
      std::fill_n(box_places_.data(), rows, static_cast<std::int32_t>(columns));
      table_.search_along(box_places_.data(), values, {box_values_.data(), 1, 0}, rows, columns);
      take(place, fresh);
    } else {
      (least_ ? table_.place_least_down : table_.place_greatest_down)(values_.data(), places_.data(), values, place,
                                                                      rows, columns, fresh);
    }
  }

  // Takes in what a box has found, which stands behind what was found before.
  void take(std::int32_t place, bool fresh) {
    for (std::int64_t n = 0; n < cells_; ++n) {
      const auto c = static_cast<std::size_t>(n);
      const auto value = box_values_[c];
      if (!fresh && !is_beyond(value, values_[c])) continue;
      values_[c] = value;
      places_[c] = place + box_places_[c];
    }
  }

  bool is_beyond(T value, T before) const {
    if constexpr (std::is_floating_point_v<T>)
      if (value != value) return before == before;
    return least_ ? value < before : value > before;
  }

  void settle(const StreamOffsets& offsets, std::int64_t begin) {
    const bool along = nest_.columns.loop.aggregated;
    const auto& loop = along ? nest_.rows.loop : nest_.columns.loop;
    auto* to = output_ + static_cast<std::int64_t>(offsets.back());
    if (!along && !nest_.rows.loop.aggregated) return settle_box(to, begin);
    merge_placed(aggregate_, values_.data(), places_.data(), cells_, begin, to, loop.strides.back(), first_);
  }

  // A box whose sides are both of the output.
  void settle_box(std::complex<double>* to, std::int64_t begin) {
    for (std::int64_t row = 0; row * row_length_ < cells_; ++row)
      merge_placed(aggregate_, values_.data() + row * row_length_, places_.data() + row * row_length_, row_length_,
                   begin, to + row * nest_.rows.loop.strides.back(), nest_.columns.loop.strides.back(), first_);
  }

  static constexpr unsigned kBoxesPerPoll = 128;

  const LoopNest& nest_;
  const ElementTable& table_;
  const PlacedRegisters& placed_;
  Aggregate aggregate_;
  bool least_;
  std::complex<double>* output_;
  bool first_;
  BoxEvaluator box_;
  std::vector<T> values_;  // the extremes of the cells, and where they stand
  std::vector<std::int32_t> places_;
  std::vector<T> box_values_;
  std::vector<std::int32_t> box_places_;
  std::int64_t cells_ = 0;       // of the output, in a box
  std::int64_t row_length_ = 0;  // the columns of a box
  unsigned boxes_ = 0;
};

}  // namespace

std::size_t stream_of(const ExpressionProgram& program, std::size_t number) {
  const auto& code = program.instructions();
  return static_cast<std::size_t>(std::count_if(
      code.begin(), code.begin() + static_cast<std::ptrdiff_t>(number),
      [](const auto& instruction) { return instruction.kind == Kind::Operand || instruction.reads_number(); }));
}

std::optional<PlacedRegisters> placed_registers(const ExpressionProgram& program, const EinSum& einsum) {
  const auto form = placed_value(einsum);
  const auto& code = program.instructions();
  if (!form || code.back().kind != Kind::Binary || code.back().op != ScalarOp::MakeComplex) return std::nullopt;
  auto value = real_part(code, code.back().arguments[0]);
  auto index = real_part(code, code.back().arguments[1]);
  const auto argument = [&](std::size_t number, std::size_t n) { return code[number].arguments[n]; };
  if (form->type == DType::Int64) {
    value = argument(argument(value, 0), 0);  // CAST(value & -2048 AS FLOAT64)
    index = argument(argument(index, 0), 1);  // CAST((...) + index AS FLOAT64)
  } else {
    value = unconverted_value(code, value);
    if (code[index].kind == Kind::Convert) index = argument(index, 0);
  }
  const auto type = code[value].type;
  if (code[index].kind != Kind::Number || is_complex(type) || (type == DType::Int64) != (form->type == DType::Int64))
    return std::nullopt;
  return PlacedRegisters{value, type, stream_of(program, index)};
}

bool place_computed(const LevelTable& level, const ExpressionProgram& program, const PlacedRegisters& placed,
                    Aggregate aggregate, std::span<const LabelView> operands, std::vector<Loop> loops,
                    std::span<const Stream> streams, const StreamOffsets& begin, const MutableLabelView& accumulator,
                    bool first) {
  CHECK(has_place(aggregate) && accumulator.dtype == DType::Complex128, "a value stands beside its index");
  for (const auto& loop : loops)
    if (loop.aggregated && loop.size > std::numeric_limits<std::int32_t>::max()) return false;
  std::size_t largest = 1;
  for (std::size_t n = 0; n <= placed.value; ++n) largest = std::max(largest, size_of(program.instructions()[n].type));
  const auto nest = arrange(std::move(loops), streams, kValueBytes / static_cast<std::int64_t>(largest));
  const auto run = [&]<class T>(std::type_identity<T>) {
    PlacedRun<T>(level, program, placed, aggregate, operands, nest, accumulator, first).run(begin);
  };
  if (placed.type == DType::Float32) run(std::type_identity<float>{});
  else if (placed.type == DType::Float64) run(std::type_identity<double>{});
  else run(std::type_identity<std::int64_t>{});
  return true;
}

}  // namespace eindb
