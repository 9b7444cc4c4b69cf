#include "executor/kernels/row_reduction.hpp"

#include <algorithm>
#include <optional>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "executor/kernels/scratch.hpp"

namespace eindb {
namespace {

using Kind = Instruction::Kind;

// The number of cells with accumulators at a time. In double precision they fill most of the first-level cache, or a
// quarter of it if memory is read in between.
constexpr std::int64_t kCellsAlong = 256;
constexpr std::int64_t kCellsDown = 2048;
// The amount folded into them in one call. The sums of calls are added separately, which bounds the error.
constexpr std::int64_t kElementsAlong = 8192;
constexpr std::int64_t kRowsDown = 64;
// Limits for rows at a distance of a page or more: fewer rows, since first-level caches hold few lines whose addresses
// differ by pages. Rows longer than a page are processed one at a time, since memory is fastest for long runs.
constexpr std::int64_t kFarRowsDown = 16;
constexpr std::int64_t kLongRowsDown = 64;
constexpr std::int64_t kCellsOfLongRows = 4096;
constexpr std::int64_t kFarBytes = 4096;
// For shorter rows the boxes of the expression kernel are faster.
constexpr std::int64_t kFewestAlong = 3;
constexpr std::int64_t kFewestDown = 16;

// The aggregated values: an operand, or the product of two.
struct Factors {
  const LabelView* a;
  const LabelView* b;  // null if there is one operand
  std::size_t a_stream;
  std::size_t b_stream;
};

std::optional<Factors> factors_of(const ExpressionProgram& program, Aggregate aggregate, const ElementTable& table,
                                  std::span<const LabelView> operands) {
  const auto& code = program.instructions();
  const auto& result = code.back();
  const auto operand = [&](std::size_t n) { return &operands[code[n].operand]; };
  if (code.size() == 1 && result.kind == Kind::Operand) return Factors{operand(0), nullptr, 0, 0};
  if (aggregate != Aggregate::Sum || table.multiply_along == nullptr || result.kind != Kind::Binary ||
      result.op != ScalarOp::Multiply)
    return std::nullopt;
  // All other instructions must be the two operands, which are the first streams.
  for (std::size_t n = 0; n + 1 < code.size(); ++n)
    if (code[n].kind != Kind::Operand) return std::nullopt;
  const auto& [a, b, unused] = result.arguments;
  return Factors{operand(a), operand(b), a, b};
}

// Whether the elements of all operands are contiguous or constant along the loop.
bool side_by_side(const Loop& loop) {
  const auto operands = std::span(loop.strides).first(loop.strides.size() - 1);
  return std::all_of(operands.begin(), operands.end(), [](auto stride) { return stride == 0 || stride == 1; }) &&
         std::any_of(operands.begin(), operands.end(), [](auto stride) { return stride == 1; });
}

std::int64_t farthest(const Loop& loop) {
  const auto operands = std::span(loop.strides).first(loop.strides.size() - 1);
  return *std::max_element(operands.begin(), operands.end(), [](auto a, auto b) { return std::abs(a) < std::abs(b); });
}

Loop taken(std::vector<Loop>& loops, std::vector<Loop>::iterator at) {
  auto loop = std::move(*at);
  loops.erase(at);
  return loop;
}

// The longest loop along which elements are contiguous, and the loop of the other kind with the smallest strides. One
// of the two is aggregated.
struct FoldedSides {
  Loop columns;
  Loop rows;
};

std::optional<FoldedSides> take_sides(std::vector<Loop>& loops) {
  auto columns = loops.end();
  for (auto loop = loops.begin(); loop != loops.end(); ++loop)
    if (side_by_side(*loop) && (columns == loops.end() || loop->size > columns->size)) columns = loop;
  if (columns == loops.end() || columns->size < (columns->aggregated ? kFewestAlong : kFewestDown)) return std::nullopt;
  FoldedSides sides{taken(loops, columns), {}};
  auto rows = loops.end();
  for (auto loop = loops.begin(); loop != loops.end(); ++loop)
    if (loop->aggregated != sides.columns.aggregated && (rows == loops.end() || farthest(*loop) < farthest(*rows)))
      rows = loop;
  if (rows != loops.end()) sides.rows = taken(loops, rows);
  else if (sides.columns.aggregated)
    sides.rows = {1, false, std::vector<std::int64_t>(sides.columns.strides.size(), 0)};
  else return std::nullopt;  // nothing is aggregated
  return sides;
}

// The numbers of cells, and of elements aggregated into each, that one call folds.
struct Block {
  std::int64_t cells;
  std::int64_t folded;
  bool row_by_row = false;
};

Block block_of(const FoldedSides& sides, DType compute) {
  if (sides.columns.aggregated) return {kCellsAlong, kElementsAlong};
  const auto size = static_cast<std::int64_t>(size_of(compute));
  if (farthest(sides.rows) * size < kFarBytes) return {kCellsDown, kRowsDown};
  if (sides.columns.size * size < kFarBytes) return {kCellsDown, kFarRowsDown};
  return {kCellsOfLongRows, kLongRowsDown, true};
}

class RowReduction {
 public:
  // `part`: accumulators for one call, needed if rows are folded one at a time.
  RowReduction(const ElementTable& table, Aggregate aggregate, const Factors& factors, FoldedSides sides,
               bool row_by_row, void* part)
      : table_(table),
        aggregate_(aggregate),
        factors_(factors),
        sides_(std::move(sides)),
        row_by_row_(row_by_row),
        part_(part) {}

  // Folds rows x columns elements from the given offsets on.
  void fold(void* wide, const StreamOffsets& offsets, std::int64_t rows, std::int64_t columns, bool first) const {
    const auto a = rows_of(*factors_.a, factors_.a_stream, offsets);
    const auto b = factors_.b == nullptr ? Rows{} : rows_of(*factors_.b, factors_.b_stream, offsets);
    if (!row_by_row_) return fold_rows(wide, a, b, rows, columns, first);
    auto* to = first || part_ == nullptr ? wide : part_;
    for (std::int64_t r = 0; r < rows; ++r)
      fold_rows(to, row(a, factors_.a, r), row(b, factors_.b, r), 1, columns, r == 0 && (first || to == part_));
    if (to == part_) table_.combine[slot_of(aggregate_)](wide, part_, columns);
  }

 private:
  void fold_rows(void* wide, Rows a, Rows b, std::int64_t rows, std::int64_t columns, bool first) const {
    const auto slot = slot_of(aggregate_);
    const bool along = sides_.columns.aggregated;
    if (factors_.b == nullptr) (along ? table_.along : table_.down)[slot](wide, a, rows, columns, first);
    else (along ? table_.multiply_along : table_.multiply_down)(wide, a, b, rows, columns, first);
  }

  static Rows row(Rows rows, const LabelView* operand, std::int64_t r) {
    if (operand == nullptr) return rows;
    const auto size = static_cast<std::int64_t>(size_of(operand->dtype));
    return {static_cast<const std::byte*>(rows.data) + r * rows.row_stride * size, rows.row_stride, rows.step};
  }

  Rows rows_of(const LabelView& operand, std::size_t stream, const StreamOffsets& offsets) const {
    const auto* data = static_cast<const std::byte*>(operand.data) +
                       static_cast<std::int64_t>(offsets[stream]) * static_cast<std::int64_t>(size_of(operand.dtype));
    return {data, sides_.rows.strides[stream], sides_.columns.strides[stream]};
  }

  const ElementTable& table_;
  Aggregate aggregate_;
  Factors factors_;
  FoldedSides sides_;
  bool row_by_row_;
  void* part_;
};

}  // namespace

bool reduce_rows(const LevelTable& level, const ExpressionProgram& program, Aggregate aggregate, DType compute,
                 std::span<const LabelView> operands, std::vector<Loop> loops, const MutableLabelView& accumulator,
                 bool first) {
  if (aggregate == Aggregate::None) return false;
  const auto& table = level.of(compute);
  const auto factors = factors_of(program, aggregate, table, operands);
  if (!factors || factors->a->dtype != compute || (factors->b != nullptr && factors->b->dtype != compute)) return false;
  merge(loops);
  const auto sides = take_sides(loops);
  if (!sides) return false;

  CHECK(std::max(factors->a_stream, factors->b_stream) + 1 < sides->columns.strides.size(),
        "operands are streams, and the output is the last one");
  const bool along = sides->columns.aggregated;
  const auto block = block_of(*sides, compute);
  const BoxSide cells{along ? sides->rows : sides->columns, block.cells};
  const BoxSide folded{along ? sides->columns : sides->rows, block.folded};
  // Large strides outside, small strides inside.
  std::stable_sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return farthest(a) > farthest(b); });
  std::vector<Loop> output;
  std::vector<Loop> aggregated;
  for (auto& loop : loops) (loop.aggregated ? aggregated : output).push_back(std::move(loop));
  output.push_back(chunk_loop(cells));
  aggregated.push_back(chunk_loop(folded));

  // Sums of many rows are as precise as those of blocks only if each block has its own accumulators, or wider ones.
  const bool parts = block.row_by_row && wide_of(compute) == compute && aggregate == Aggregate::Sum;
  const auto bytes = static_cast<std::size_t>(std::min(cells.loop.size, cells.chunk)) * size_of(wide_of(compute));
  const Scratch wide(bytes);
  const std::optional<Scratch> part = parts ? std::optional<Scratch>(std::in_place, bytes) : std::nullopt;
  const RowReduction reduction(table, aggregate, *factors, *sides, block.row_by_row, parts ? part->data() : nullptr);
  StreamOffsets offsets(cells.loop.strides.size(), 0);
  Odometer at_cells(output);
  Odometer at_terms(aggregated);
  do {
    const auto cell_count = cells.extent(at_cells[output.size() - 1]);
    bool fresh = true;
    do {
      poll_cancellation();
      const auto count = folded.extent(at_terms[aggregated.size() - 1]);
      reduction.fold(wide.data(), offsets, along ? cell_count : count, along ? count : cell_count, fresh);
      fresh = false;
    } while (at_terms.advance(offsets));
    auto* to = static_cast<std::byte*>(accumulator.data) +
               static_cast<std::int64_t>(offsets.back()) * static_cast<std::int64_t>(size_of(compute));
    table.settle[slot_of(aggregate)]({to, 0, cells.loop.strides.back()}, wide.data(), 1, cell_count, first);
  } while (at_cells.advance(offsets));
  return true;
}

}  // namespace eindb
