#include "executor/kernels/pair_kernel.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <limits>
#include <type_traits>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/kernels/pair_matrices.hpp"
#include "executor/kernels/placed_values.hpp"
#include "executor/kernels/scratch.hpp"
#include "executor/kernels/truth_run.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kPanelDepth = 128;  // of packed panels: one of each operand fits the first-level cache
// Of values with indices, fewer of which are looked for in deeper panels: one lies in the second-level cache.
constexpr std::int64_t kPlaceDepth = 256;
constexpr std::int64_t kMostRowsPacked = 128;  // of the left operand at a time
constexpr std::int64_t kPackedBytes = 256 * 1024;

bool is_truth(PairFunction function) {
  using enum PairFunction;
  return function == Equal || function == NotEqual || function == Less || function == LessEqual || function == And ||
         function == Or;
}

// Whether the pair blocks, which do not handle NaN, give the defined result for operands with such values.
bool knows(PairFunction function, Aggregate aggregate, unsigned left, unsigned right) {
  using enum PairFunction;
  if (is_truth(function)) return true;
  const bool orders = function == Least || function == Greatest;
  if (aggregate == Aggregate::Sum && !orders) return true;
  if (((left | right) & kHasNan) != 0) return false;
  constexpr auto kInfinities = kHasInfinity | kHasNegativeInfinity;
  const auto infinities = (left | right) & kInfinities;
  if (orders) return aggregate != Aggregate::Sum || infinities != kInfinities;
  // Finite values may overflow to infinity but not to NaN. A sum with infinities of one sign is infinite; other cases
  // are undecided.
  if (function == Add) return infinities != kInfinities;
  return infinities == 0;
}

// A block of rows of both operands, packed into panels: for each depth, the rows of a panel are contiguous.
struct PackedBlock {
  const std::byte* left;
  const std::byte* right;
  std::int64_t row;
  std::int64_t column;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t begin;  // of the depth
  std::int64_t depth;
};

// The panels of two operands, and the order in which they are packed and visited.
class PairPanels {
 public:
  PairPanels(const LevelTable& level, DType type, const PairMatrices& matrices, std::int64_t most_depth = kPanelDepth)
      : table_(level.of(type)),
        most_depth_(most_depth),
        type_(type),
        matrices_(matrices),
        element_(static_cast<std::int64_t>(size_of(type))),
        rows_packed_(kMostRowsPacked / table_.pair_rows * table_.pair_rows) {
    const auto panel = table_.pair_columns;
    columns_packed_ =
        std::min(rounded_up(matrices_.columns(), panel), std::max(panel, kPackedBytes / most_depth_ / element_));
    columns_packed_ = rounded_up(columns_packed_, panel);
    CHECK(columns_packed_ > 0 && columns_packed_ % panel == 0, "whole panels are packed at a time");
  }

  std::int64_t bytes() const { return left_bytes() + right_bytes(); }

  // Tells which non-finite values an operand has (kHasNan, ...). `rows`: of its matrix.
  unsigned specials(const PairMatrix& matrix, std::int64_t rows) const {
    unsigned all = 0;
    for (std::int64_t n = 0; n < matrices_.batch(); ++n)
      all |=
          table_.specials({matrices_.at(matrix, n), matrix.row_stride, matrix.column_stride}, rows, matrices_.depth());
    return all;
  }

  void allocate() {
    left_panels_.emplace(static_cast<std::size_t>(left_bytes()));
    right_panels_.emplace(static_cast<std::size_t>(right_bytes()));
  }

  // Visits one pair of matrices in blocks of columns, then of depth. The right operand's block stays in the
  // second-level cache, one of its panels in the first.
  template <class Visit>
  void for_each_block(const PairMatrix& a, const PairMatrix& b, std::int64_t batch, const Visit& visit) const {
    const auto* left = matrices_.at(a, batch);
    const auto* right = matrices_.at(b, batch);
    for (std::int64_t column = 0; column < matrices_.columns(); column += columns_packed_) {
      const auto columns = std::min(columns_packed_, matrices_.columns() - column);
      for (std::int64_t p = 0; p < matrices_.depth(); p += most_depth_) {
        const auto depth = std::min(most_depth_, matrices_.depth() - p);
        pack(*right_panels_, table_.pair_columns, right, b, column, columns, p, depth);
        for (std::int64_t row = 0; row < matrices_.rows(); row += rows_packed_) {
          const auto rows = std::min(rows_packed_, matrices_.rows() - row);
          pack(*left_panels_, table_.pair_rows, left, a, row, rows, p, depth);
          visit_panels(visit, {nullptr, nullptr, row, column, rows, columns, p, depth});
        }
      }
    }
  }

  // The same in blocks of rows and columns: visits all depths of one, and then calls `finish(row, rows, column,
  // columns)`.
  template <class Visit, class Finish>
  void for_each_block_of_cells(const PairMatrix& a, const PairMatrix& b, std::int64_t batch, const Visit& visit,
                               const Finish& finish) const {
    const auto* left = matrices_.at(a, batch);
    const auto* right = matrices_.at(b, batch);
    for (std::int64_t column = 0; column < matrices_.columns(); column += columns_packed_) {
      const auto columns = std::min(columns_packed_, matrices_.columns() - column);
      for (std::int64_t row = 0; row < matrices_.rows(); row += rows_packed_) {
        const auto rows = std::min(rows_packed_, matrices_.rows() - row);
        for (std::int64_t p = 0; p < matrices_.depth(); p += most_depth_) {
          const auto depth = std::min(most_depth_, matrices_.depth() - p);
          if (row == 0 || matrices_.depth() > most_depth_)
            pack(*right_panels_, table_.pair_columns, right, b, column, columns, p, depth);
          pack(*left_panels_, table_.pair_rows, left, a, row, rows, p, depth);
          visit_panels(visit, {nullptr, nullptr, row, column, rows, columns, p, depth});
        }
        finish(row, rows, column, columns);
      }
    }
  }

  std::int64_t rows_packed() const { return rows_packed_; }
  std::int64_t columns_packed() const { return columns_packed_; }

 private:
  static std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return ceil_divide(value, unit) * unit; }

  std::int64_t left_bytes() const { return rows_packed_ * most_depth_ * element_; }
  std::int64_t right_bytes() const { return columns_packed_ * most_depth_ * element_; }

  // Packs `count` rows of a matrix from `begin` on into panels of `width` rows each. Surplus rows of the last panel
  // have arbitrary values; they affect no cell.
  void pack(const Scratch& panels, std::int64_t width, const std::byte* data, const PairMatrix& matrix,
            std::int64_t begin, std::int64_t count, std::int64_t p, std::int64_t depth) const {
    for (std::int64_t row = 0; row < count; row += width) {
      auto* panel = panels.data() + row * depth * element_;
      const auto* from = data + ((begin + row) * matrix.row_stride + p * matrix.column_stride) * element_;
      const auto rows = std::min(width, count - row);
      table_.move[slot_of(type_)]({panel, width, 1}, {from, matrix.column_stride, matrix.row_stride}, depth, rows);
    }
  }

  template <class Visit>
  void visit_panels(const Visit& visit, const PackedBlock& packed) const {
    for (std::int64_t s = 0; s < packed.columns; s += table_.pair_columns) {
      poll_cancellation();
      for (std::int64_t r = 0; r < packed.rows; r += table_.pair_rows)
        visit(PackedBlock{left_panels_->data() + r * packed.depth * element_,
                          right_panels_->data() + s * packed.depth * element_, packed.row + r, packed.column + s,
                          std::min(table_.pair_rows, packed.rows - r),
                          std::min(table_.pair_columns, packed.columns - s), packed.begin, packed.depth});
    }
  }

  const ElementTable& table_;
  std::int64_t most_depth_;
  DType type_;
  const PairMatrices& matrices_;
  std::int64_t element_;
  std::int64_t rows_packed_;
  std::int64_t columns_packed_ = 0;
  std::optional<Scratch> left_panels_;
  std::optional<Scratch> right_panels_;
};

std::byte* cell_of(const PairMatrix& matrix, std::byte* data, std::int64_t row, std::int64_t column) {
  return data +
         (row * matrix.row_stride + column * matrix.column_stride) * static_cast<std::int64_t>(size_of(matrix.dtype));
}

class PairRun {
 public:
  PairRun(const LevelTable& level, DType compute, PairFunction function, Aggregate aggregate,
          const PairMatrices& matrices)
      : table_(level.of(compute)),
        function_(function),
        aggregate_(aggregate),
        matrices_(matrices),
        panels_(level, compute, matrices) {}

  bool run(const LabelView& a, const LabelView& b, const MutableLabelView& c, bool first) {
    const auto left = matrices_.left(a);
    const auto right = matrices_.right(b);
    if (!knows(function_, aggregate_, panels_.specials(left, matrices_.rows()),
               panels_.specials(right, matrices_.columns())))
      return false;
    const auto result = matrices_.result(c, first);
    panels_.allocate();
    const auto run_block = table_.pair[slot_of(function_)][slot_of(aggregate_)];
    for (std::int64_t n = 0; n < matrices_.batch(); ++n) {
      auto* out = matrices_.at(result, n);
      panels_.for_each_block(left, right, n, [&](const PackedBlock& block) {
        run_block(block.left, block.right, block.depth,
                  {cell_of(result, out, block.row, block.column), result.row_stride, result.column_stride}, block.rows,
                  block.columns, first && block.begin == 0);
      });
    }
    matrices_.write_result(c, result);
    return true;
  }

  std::int64_t panel_bytes() const { return panels_.bytes(); }

 private:
  const ElementTable& table_;
  PairFunction function_;
  Aggregate aggregate_;
  const PairMatrices& matrices_;
  PairPanels panels_;
};

// Extremes with their indices. Values are compared in the operands' type; the result is of complex numbers. A block of
// cells is kept as values and places until all depths are visited.
class PlaceRun {
 public:
  PlaceRun(const LevelTable& level, DType type, PairFunction function, Aggregate aggregate,
           const PairMatrices& operands, const PairMatrices& results)
      : table_(level.of(type)),
        type_(type),
        function_(function),
        aggregate_(aggregate),
        operands_(operands),
        results_(results),
        panels_(level, type, operands, kPlaceDepth) {}

  // `begin`: the index of the first value.
  bool run(const LabelView& a, const LabelView& b, const MutableLabelView& c, bool first, std::int64_t begin) {
    const auto left = operands_.left(a);
    const auto right = operands_.right(b);
    const auto extreme = aggregate_ == Aggregate::FirstLeast ? Aggregate::Min : Aggregate::Max;
    if (operands_.depth() > std::numeric_limits<std::int32_t>::max() ||
        !knows(function_, extreme, panels_.specials(left, operands_.rows()),
               panels_.specials(right, operands_.columns())))
      return false;
    const auto result = results_.result(c, first);
    panels_.allocate();
    dispatch(type_, [&](auto t) {
      using T = typename decltype(t)::type;
      if constexpr (std::is_arithmetic_v<T>) place<T>(left, right, result, first, begin);
      else CHECK(false, "complex numbers have no order");
    });
    results_.write_result(c, result);
    return true;
  }

  std::int64_t bytes() const {
    return panels_.bytes() + cells() * static_cast<std::int64_t>(size_of(type_) + sizeof(std::int32_t));
  }

 private:
  std::int64_t cells() const { return panels_.rows_packed() * panels_.columns_packed(); }

  template <class T>
  void place(const PairMatrix& left, const PairMatrix& right, const PairMatrix& result, bool first,
             std::int64_t begin) const {
    const auto& by_function =
        aggregate_ == Aggregate::FirstLeast ? table_.pair_place_least : table_.pair_place_greatest;
    const auto run_block = by_function[slot_of(function_)];
    CHECK(run_block != nullptr, "values with indices are those of an arithmetic function");
    const Scratch value_memory(static_cast<std::size_t>(cells()) * sizeof(T));
    const Scratch place_memory(static_cast<std::size_t>(cells()) * sizeof(std::int32_t));
    auto* values = reinterpret_cast<T*>(value_memory.data());
    auto* places = reinterpret_cast<std::int32_t*>(place_memory.data());
    const auto stride = panels_.columns_packed();
    for (std::int64_t n = 0; n < operands_.batch(); ++n) {
      auto* to = results_.at(result, n);
      panels_.for_each_block_of_cells(
          left, right, n,
          [&](const PackedBlock& block) {
            const auto cell = block.row % panels_.rows_packed() * stride + block.column % stride;
            run_block(block.left, block.right, block.depth, values + cell, places + cell, stride, block.rows,
                      static_cast<std::int32_t>(block.begin), block.begin == 0);
          },
          [&](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
            for (std::int64_t r = 0; r < rows; ++r)
              merge_placed(aggregate_, values + r * stride, places + r * stride, columns, begin,
                           reinterpret_cast<std::complex<double>*>(cell_of(result, to, row + r, column)),
                           result.column_stride, first);
          });
    }
  }

  const ElementTable& table_;
  DType type_;
  PairFunction function_;
  Aggregate aggregate_;
  const PairMatrices& operands_;
  const PairMatrices& results_;
  PairPanels panels_;
};

// The search for the least index. Values are compared in the operands' type; the result has another one.
class SearchRun {
 public:
  SearchRun(const LevelTable& level, DType type, PairFunction function, const PairMatrices& operands,
            const PairMatrices& results)
      : table_(level.of(type)),
        function_(function),
        operands_(operands),
        results_(results),
        panels_(level, type, operands) {}

  // `begin`: the index of the first value; `none` stands where no index is found.
  bool run(const LabelView& a, const LabelView& b, const LabelView& sought, const MutableLabelView& c, bool first,
           std::int64_t begin, double none) {
    const auto left = operands_.left(a);
    const auto right = operands_.right(b);
    const bool orders = function_ == PairFunction::Least || function_ == PairFunction::Greatest;
    if (orders && ((panels_.specials(left, operands_.rows()) | panels_.specials(right, operands_.columns())) & kHasNan))
      return false;
    const auto values = operands_.beside_result(sought);
    const auto result = results_.result(c, first);
    panels_.allocate();
    dispatch(result.dtype, [&](auto t) {
      using T = typename decltype(t)::type;
      if constexpr (std::is_arithmetic_v<T>) search<T>(left, right, values, result, first, begin, none);
      else CHECK(false, "an index is a real number");
    });
    results_.write_result(c, result);
    return true;
  }

  std::int64_t panel_bytes() const { return panels_.bytes(); }

 private:
  template <class T>
  void search(const PairMatrix& left, const PairMatrix& right, const PairMatrix& values, const PairMatrix& result,
              bool first, std::int64_t begin, double none) const {
    const auto run_block = table_.pair_search[slot_of(function_)];
    CHECK(run_block != nullptr, "a search compares the values of an arithmetic function");
    std::vector<std::int32_t> places(static_cast<std::size_t>(table_.pair_rows * table_.pair_columns));
    for (std::int64_t n = 0; n < operands_.batch(); ++n) {
      auto* from = operands_.at(values, n);
      auto* to = results_.at(result, n);
      panels_.for_each_block(left, right, n, [&](const PackedBlock& block) {
        run_block(block.left, block.right, block.depth,
                  {cell_of(values, from, block.row, block.column), values.row_stride, values.column_stride}, block.rows,
                  block.columns, places.data());
        const bool fresh = first && block.begin == 0;
        for (std::int64_t r = 0; r < block.rows; ++r) {
          auto* cell = reinterpret_cast<T*>(cell_of(result, to, block.row + r, block.column));
          const auto* place = places.data() + r * table_.pair_columns;
          for (std::int64_t s = 0; s < block.columns; ++s, ++place, cell += result.column_stride) {
            if (fresh) *cell = static_cast<T>(none);
            if (*place < block.depth) *cell = std::min(*cell, static_cast<T>(begin + block.begin + *place));
          }
        }
      });
    }
  }

  const ElementTable& table_;
  PairFunction function_;
  const PairMatrices& operands_;
  const PairMatrices& results_;
  PairPanels panels_;
};

}  // namespace

PairKernel::PairKernel(const PairForm& form, Aggregate aggregate, DType compute)
    : function_(form.function),
      aggregate_(aggregate),
      compute_(compute),
      left_(form.left),
      right_(form.right),
      roles_(form.roles),
      compares_before_converting_(form.compares_before_converting),
      sought_(form.sought),
      none_(form.none),
      places_integers_(form.places_integers) {}

bool PairKernel::is_packed_as_bits() const { return packs_truths(function_, aggregate_); }

ContractionSize PairKernel::size(std::span<const std::int64_t> label_sizes) const {
  ContractionSize size;
  for (std::size_t n = 0; n < roles_.size(); ++n) {
    switch (roles_[n]) {
      case ContractionRole::Batch: size.batch = checked_multiply(size.batch, label_sizes[n]); break;
      case ContractionRole::Left: size.m = checked_multiply(size.m, label_sizes[n]); break;
      case ContractionRole::Right: size.n = checked_multiply(size.n, label_sizes[n]); break;
      default: size.k = checked_multiply(size.k, label_sizes[n]); break;
    }
  }
  return size;
}

bool PairKernel::run(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
                     const MutableLabelView& accumulator, bool first) const {
  std::vector<std::int64_t> sizes;
  for (const auto& range : ranges) sizes.push_back(range.size);
  const auto groups = pair_groups(roles_, sizes, operands[left_].strides, accumulator.strides);
  const auto type = packed_type(operands);
  const PairMatrices matrices(level, compares_operands() ? compute_ : type, groups, sizes, !is_packed_as_bits());
  if (has_place(aggregate_)) return place(level, operands, ranges, groups, matrices, accumulator, first);
  if (sought_) return search(level, operands, ranges, groups, matrices, accumulator, first);
  if (is_packed_as_bits()) {
    TruthRun(level, compute_, function_, aggregate_, matrices)
        .run(operands[left_], operands[right_], accumulator, first);
    return true;
  }
  if (compares_before_converting_ && (operands[right_].dtype != type || is_complex(type))) return false;
  return PairRun(level, type, function_, aggregate_, matrices)
      .run(operands[left_], operands[right_], accumulator, first);
}

DType PairKernel::packed_type(std::span<const LabelView> operands) const {
  return compares_operands() || compares_before_converting_ ? operands[left_].dtype : compute_;
}

// The range of the label whose index is looked for.
const PartRange& PairKernel::depth_of(std::span<const PartRange> ranges) const {
  const auto depth = std::find(roles_.begin(), roles_.end(), ContractionRole::Contracted);
  CHECK(depth != roles_.end(), "an index is one of a label of both operands");
  return ranges[static_cast<std::size_t>(depth - roles_.begin())];
}

bool PairKernel::place(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
                       const PairGroups& groups, const PairMatrices& results, const MutableLabelView& accumulator,
                       bool first) const {
  const auto type = operands[left_].dtype;
  if (operands[right_].dtype != type || is_complex(type) || (type == DType::Int64) != places_integers_) return false;
  std::vector<std::int64_t> sizes;
  for (const auto& each : ranges) sizes.push_back(each.size);
  const PairMatrices matrices(level, type, groups, sizes, true);
  return PlaceRun(level, type, function_, aggregate_, matrices, results)
      .run(operands[left_], operands[right_], accumulator, first, depth_of(ranges).begin);
}

bool PairKernel::search(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
                        const PairGroups& groups, const PairMatrices& results, const MutableLabelView& accumulator,
                        bool first) const {
  const auto type = operands[left_].dtype;
  if (operands[right_].dtype != type || operands[*sought_].dtype != type || is_complex(type)) return false;
  const auto& range = depth_of(ranges);
  // Otherwise MIN could be the value for other indices.
  if (!(none_ >= static_cast<double>(range.begin + range.size - 1))) return false;
  std::vector<std::int64_t> sizes;
  for (const auto& each : ranges) sizes.push_back(each.size);
  const PairMatrices matrices(level, type, groups, sizes, true);
  return SearchRun(level, type, function_, matrices, results)
      .run(operands[left_], operands[right_], operands[*sought_], accumulator, first, range.begin, none_);
}

std::size_t PairKernel::workspace_bytes(const LevelTable& level, std::span<const LabelView> operands,
                                        std::span<const std::int64_t> label_sizes,
                                        const MutableLabelView& accumulator) const {
  const std::vector<std::int64_t> sizes(label_sizes.begin(), label_sizes.end());
  const auto groups = pair_groups(roles_, sizes, operands[left_].strides, accumulator.strides);
  const auto type = packed_type(operands);
  const PairMatrices results(level, compares_operands() ? compute_ : type, groups, sizes, !is_packed_as_bits());
  if (is_complex(type)) return 0;
  const PairMatrices matrices(level, type, groups, sizes, !is_packed_as_bits());
  auto bytes = matrices.copied_bytes(operands[left_], operands[right_]) + results.copied_bytes(accumulator);
  if (has_place(aggregate_)) {
    bytes += PlaceRun(level, type, function_, aggregate_, matrices, results).bytes();
  } else if (sought_) {
    const auto& sought = operands[*sought_];
    bytes += matrices.copied_bytes(MutableLabelView{sought.dtype, nullptr, sought.strides});
    bytes += SearchRun(level, type, function_, matrices, results).panel_bytes();
  } else if (is_packed_as_bits()) {
    bytes += TruthRun(level, compute_, function_, aggregate_, matrices).panel_bytes();
  } else {
    bytes += PairRun(level, type, function_, aggregate_, matrices).panel_bytes();
  }
  return static_cast<std::size_t>(bytes);
}

std::string PairKernel::describe() const {
  static constexpr std::array<std::string_view, kPairFunctionCount> kNames{"sums",
                                                                           "differences",
                                                                           "products",
                                                                           "least values",
                                                                           "greatest values",
                                                                           "equal pairs",
                                                                           "unequal pairs",
                                                                           "smaller pairs",
                                                                           "ordered pairs",
                                                                           "conjunctions",
                                                                           "disjunctions",
                                                                           "squared differences",
                                                                           "absolute differences"};
  if (sought_) return "search of " + std::string(kNames[slot_of(function_)]);
  return std::string(name_of(aggregate_)) + " of " + std::string(kNames[slot_of(function_)]);
}

}  // namespace eindb
