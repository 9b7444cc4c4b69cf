#include "executor/kernels/index_search.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <optional>
#include <type_traits>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "executor/kernels/scratch.hpp"

namespace eindb {
namespace {

using Kind = Instruction::Kind;

// The number of elements searched in one call of a level's loop, and limits for the cells of the result that they
// belong to.
constexpr std::int64_t kElementsPerCall = std::int64_t{1} << 18U;
constexpr std::int64_t kMostCells = 4096;
constexpr std::int64_t kFewestSideBySide = 64;

struct Operand {
  const LabelView* view;
  std::size_t stream;
};

// The parts of a program that searches for an index.
struct Search {
  Operand values;
  Operand wanted;
  std::size_t index_stream;
  std::int64_t otherwise;
  DType compared_in;
};

bool is_binary(const Instruction& instruction, ScalarOp op) {
  return instruction.kind == Kind::Binary && instruction.op == op;
}

// Matches CASE WHEN x = y OR x <> x THEN number ELSE constant END.
std::optional<Search> search_of(const ExpressionProgram& program, std::span<const LabelView> operands) {
  const auto& code = program.instructions();
  const auto& choice = code.back();
  if (choice.kind != Kind::Select) return std::nullopt;
  const auto& [chosen_by, index, otherwise] = choice.arguments;
  const auto condition = code[chosen_by].kind == Kind::Convert ? code[chosen_by].arguments[0] : chosen_by;
  if (!is_binary(code[condition], ScalarOp::Or) || code[index].kind != Kind::Number ||
      code[otherwise].kind != Kind::Integer)
    return std::nullopt;
  const auto& equal = code[code[condition].arguments[0]];
  const auto& unequal = code[code[condition].arguments[1]];
  if (!is_binary(equal, ScalarOp::Equal) || !is_binary(unequal, ScalarOp::NotEqual)) return std::nullopt;
  const auto [x, y, unused] = equal.arguments;
  if (unequal.arguments[0] != x || unequal.arguments[1] != x || code[x].kind != Kind::Operand ||
      code[y].kind != Kind::Operand)
    return std::nullopt;
  const auto operand = [&](std::size_t n) { return Operand{&operands[code[n].operand], stream_of(program, n)}; };
  return Search{operand(x), operand(y), stream_of(program, index), code[otherwise].integer, code[x].type};
}

// Whether values are equal in the stored type if and only if they are equal in the type of comparison.
bool compares_as_stored(DType stored, DType compared_in) {
  return stored == compared_in || (stored == DType::Float32 && compared_in == DType::Float64);
}

// The number of indices that a type can distinguish.
std::int64_t exact_up_to(DType type) {
  if (type == DType::Int64) return std::numeric_limits<std::int64_t>::max();
  return std::int64_t{1} << (type == DType::Float32 ? 24U : 53U);
}

// The loops that a search steps through at once: that of the index, and one over cells. Values are contiguous along one
// of them.
struct SearchedSides {
  Loop index;
  Loop cells;
  bool along = true;  // contiguous along the index
};

std::optional<SearchedSides> take_sides(std::vector<Loop>& loops, std::size_t values, std::size_t index_stream,
                                        std::optional<std::size_t> wanted) {
  const auto aggregated = [](const Loop& loop) { return loop.aggregated; };
  const auto step_of_wanted = [&](const Loop& loop) { return wanted ? loop.strides[*wanted] : 0; };
  const Loop single{1, false, std::vector<std::int64_t>(loops.empty() ? 0 : loops.front().strides.size(), 0)};
  const auto index = std::find_if(loops.begin(), loops.end(), aggregated);
  if (index == loops.end() || std::count_if(loops.begin(), loops.end(), aggregated) != 1 ||
      index->strides[index_stream] != 1 || step_of_wanted(*index) != 0)
    return std::nullopt;
  SearchedSides sides{*index, single, index->strides[values] == 1};
  loops.erase(index);
  const auto moves_index = [&](const Loop& loop) { return loop.strides[index_stream] != 0; };
  if (std::any_of(loops.begin(), loops.end(), moves_index)) return std::nullopt;

  auto cells = loops.end();
  const auto suits = [&](const Loop& loop) {
    return sides.along || (loop.strides[values] == 1 && (step_of_wanted(loop) == 0 || step_of_wanted(loop) == 1));
  };
  for (auto loop = loops.begin(); loop != loops.end(); ++loop)
    if (suits(*loop) && (cells == loops.end() || loop->size > cells->size)) cells = loop;
  if (cells != loops.end()) {
    sides.cells = std::move(*cells);
    loops.erase(cells);
  } else if (!sides.along) {
    return std::nullopt;
  }
  return sides;
}

// The least indices known for some cells, in type T, while `count` indices from `begin` on are searched. Branch-free,
// since the results differ from cell to cell.
template <class T>
class Cells {
 public:
  Cells(T* cells, std::int64_t stride, std::int64_t begin, std::int64_t count, std::int64_t otherwise)
      : cells_(cells), stride_(stride), begin_(begin), count_(count), otherwise_(otherwise) {}

  // The number of indices that could still give a lower result.
  std::int32_t open(std::int64_t cell) const {
    const auto known = static_cast<std::int64_t>(lesser(at(cell), static_cast<T>(begin_ + count_)));
    return static_cast<std::int32_t>(std::max<std::int64_t>(known - begin_, 0));
  }
  void set(std::int64_t cell, std::int32_t place) const { at(cell) = index(place); }
  void lower(std::int64_t cell, std::int32_t place) const { at(cell) = lesser(index(place), at(cell)); }

 private:
  static T lesser(T a, T b) { return a < b ? a : b; }

  T& at(std::int64_t cell) const { return cells_[cell * stride_]; }
  T index(std::int32_t place) const {
    const auto none = -static_cast<std::int64_t>(place == count_);
    return static_cast<T>((otherwise_ & none) | ((begin_ + place) & ~none));
  }

  T* cells_;
  std::int64_t stride_;
  std::int64_t begin_;
  std::int64_t count_;
  std::int64_t otherwise_;
};

class SearchForIndex {
 public:
  SearchForIndex(const ElementTable& table, const Search& search, SearchedSides sides, bool first)
      : table_(table), search_(search), sides_(std::move(sides)), first_(first) {}

  template <class T>
  void run(const StreamOffsets& offsets, T* result, std::int64_t count, std::int32_t* places) const {
    const auto size = sides_.index.size;
    const Cells<T> cells(result + static_cast<std::int64_t>(offsets.back()), sides_.cells.strides.back(),
                         static_cast<std::int64_t>(offsets[search_.index_stream]), size, search_.otherwise);
    for (std::int64_t c = 0; c < count; ++c) places[c] = first_ ? static_cast<std::int32_t>(size) : cells.open(c);
    look(offsets, count, places);
    for (std::int64_t c = 0; c < count; ++c) {
      if (first_) cells.set(c, places[c]);
      else cells.lower(c, places[c]);
    }
  }

 private:
  void look(const StreamOffsets& offsets, std::int64_t count, std::int32_t* places) const {
    const auto* values = data(search_.values, offsets);
    const auto* wanted = data(search_.wanted, offsets);
    const auto size = sides_.index.size;
    const auto& cells = sides_.cells.strides;
    const auto step = cells[search_.wanted.stream];
    if (sides_.along) {
      table_.search_along(places, {values, cells[search_.values.stream], 1}, {wanted, step, 0}, count, size);
    } else {
      const auto row_stride = sides_.index.strides[search_.values.stream];
      table_.search_down(places, {values, row_stride, 1}, {wanted, 0, step}, size, count);
    }
  }

  static const std::byte* data(const Operand& operand, const StreamOffsets& offsets) {
    return static_cast<const std::byte*>(operand.view->data) +
           static_cast<std::int64_t>(offsets[operand.stream]) * static_cast<std::int64_t>(size_of(operand.view->dtype));
  }

  const ElementTable& table_;
  Search search_;
  SearchedSides sides_;
  bool first_;
};

// ---- Extremes with their indices -----------------------------------------------------------------------------------

// A block is folded and then searched: it fits in a second-level cache, and the extremes of adjacent cells in the
// first.
constexpr std::int64_t kBlockBytes = 128 * 1024;
constexpr std::int64_t kMostAdjacentCells = 2048;

// One kernel call, for values of type T.
template <class T>
class ExtremeSearch {
 public:
  ExtremeSearch(const ElementTable& table, Aggregate aggregate, const Operand& values, std::size_t index_stream,
                SearchedSides sides, const MutableLabelView& accumulator, bool first)
      : table_(table),
        aggregate_(aggregate),
        from_(values),
        index_stream_(index_stream),
        sides_(std::move(sides)),
        results_(static_cast<std::complex<double>*>(accumulator.data)),
        first_(first),
        block_(block_of(sides_)),
        values_(static_cast<std::size_t>(block_.cells) * sizeof(T)),
        places_(static_cast<std::size_t>(block_.cells) * sizeof(std::int32_t)) {}

  void run(std::vector<Loop> loops, StreamOffsets offsets) {
    Odometer at(loops);
    do {
      for (std::int64_t cell = 0; cell < sides_.cells.size; cell += block_.cells) {
        for (std::int64_t index = 0; index < sides_.index.size; index += block_.indices) {
          if (++blocks_ % kBlocksPerPoll == 0) poll_cancellation();
          search_block(offsets, cell, std::min(block_.cells, sides_.cells.size - cell), index,
                       std::min(block_.indices, sides_.index.size - index));
        }
      }
    } while (at.advance(offsets));
  }

 private:
  // A block of cells, and of the indices that are searched for each of them.
  struct Block {
    std::int64_t cells;
    std::int64_t indices;
  };

  static Block block_of(const SearchedSides& sides) {
    constexpr auto kElements = kBlockBytes / static_cast<std::int64_t>(sizeof(T));
    if (sides.along) {
      const auto indices = std::min(sides.index.size, kElements);
      return {std::min(sides.cells.size, kElements / indices), indices};
    }
    const auto cells = std::min(sides.cells.size, kMostAdjacentCells);
    return {cells, std::min(sides.index.size, kElements / cells)};
  }

  // Along the values a block is folded, and then searched for what was found; across them both come of one pass, and
  // stay for the next block of the same cells.
  void search_block(const StreamOffsets& offsets, std::int64_t cell, std::int64_t cells, std::int64_t index,
                    std::int64_t indices) {
    const auto stream = from_.stream;
    const auto cell_stride = sides_.cells.strides[stream];
    const auto index_stride = sides_.index.strides[stream];
    const auto* from = static_cast<const T*>(from_.view->data) + static_cast<std::int64_t>(offsets[stream]) +
                       cell * cell_stride + index * index_stride;
    auto* values = reinterpret_cast<T*>(values_.data());
    auto* places = reinterpret_cast<std::int32_t*>(places_.data());
    const bool is_least = aggregate_ == Aggregate::FirstLeast;
    if (sides_.along) {
      std::fill_n(places, cells, static_cast<std::int32_t>(indices));
      const auto fold = table_.along[slot_of(is_least ? Aggregate::Min : Aggregate::Max)];
      fold(values, {from, cell_stride, 1}, cells, indices, true);
      table_.search_along(places, {from, cell_stride, 1}, {values, 1, 0}, cells, indices);
      merge(offsets, cell, cells, index);
    } else {
      (is_least ? table_.place_least_down : table_.place_greatest_down)(
          values, places, {from, index_stride, 1}, static_cast<std::int32_t>(index), indices, cells, index == 0);
      if (index + indices == sides_.index.size) merge(offsets, cell, cells, 0);
    }
  }

  // Takes what was found into the result. Places are counted from `index` on.
  void merge(const StreamOffsets& offsets, std::int64_t cell, std::int64_t cells, std::int64_t index) {
    const auto stride = sides_.cells.strides.back();
    const auto begin = static_cast<std::int64_t>(offsets[index_stream_]) + index;
    merge_placed(aggregate_, reinterpret_cast<const T*>(values_.data()),
                 reinterpret_cast<const std::int32_t*>(places_.data()), cells, begin,
                 results_ + static_cast<std::int64_t>(offsets.back()) + cell * stride, stride, first_ && index == 0);
  }

  static constexpr unsigned kBlocksPerPoll = 16;

  const ElementTable& table_;
  Aggregate aggregate_;
  Operand from_;
  std::size_t index_stream_;
  SearchedSides sides_;
  std::complex<double>* results_;
  bool first_;
  Block block_;
  Scratch values_;
  Scratch places_;
  unsigned blocks_ = 0;
};

}  // namespace

bool search_extreme(const LevelTable& level, const ExpressionProgram& program, const PlacedRegisters& placed,
                    Aggregate aggregate, std::span<const LabelView> operands, std::vector<Loop> loops,
                    const StreamOffsets& begin, const MutableLabelView& accumulator, bool first) {
  CHECK(has_place(aggregate) && accumulator.dtype == DType::Complex128, "a value stands beside its index");
  const auto& read = program.instructions()[placed.value];
  if (read.kind != Kind::Operand) return false;
  const auto& view = operands[read.operand];
  if (!compares_as_stored(view.dtype, read.type)) return false;
  const Operand values{&view, stream_of(program, placed.value)};
  merge(loops);
  auto sides = take_sides(loops, values.stream, placed.index_stream, std::nullopt);
  if (!sides || (!sides->along && sides->cells.size < kFewestSideBySide) ||
      sides->index.size > std::numeric_limits<std::int32_t>::max())
    return false;
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Loop& a, const Loop& b) { return a.strides.back() > b.strides.back(); });
  const auto run = [&]<class T>(std::type_identity<T>) {
    ExtremeSearch<T>(level.of(view.dtype), aggregate, values, placed.index_stream, *std::move(sides), accumulator,
                     first)
        .run(std::move(loops), begin);
  };
  if (view.dtype == DType::Float32) run(std::type_identity<float>{});
  else if (view.dtype == DType::Float64) run(std::type_identity<double>{});
  else run(std::type_identity<std::int64_t>{});
  return true;
}

bool search_index(const LevelTable& level, const ExpressionProgram& program, Aggregate aggregate, DType compute,
                  std::span<const LabelView> operands, std::vector<Loop> loops, const StreamOffsets& begin,
                  const MutableLabelView& accumulator, bool first) {
  if (aggregate != Aggregate::Min) return false;
  const auto search = search_of(program, operands);
  if (!search) return false;
  const auto stored = search->values.view->dtype;
  const auto& table = level.of(stored);
  if (search->wanted.view->dtype != stored || !compares_as_stored(stored, search->compared_in) ||
      table.search_along == nullptr)
    return false;
  merge(loops);
  auto sides = take_sides(loops, search->values.stream, search->index_stream, search->wanted.stream);
  if (!sides) return false;
  CHECK(sides->index.strides.size() == begin.size(), "each stream of a search stands somewhere");
  const auto end = static_cast<std::int64_t>(begin[search->index_stream]) + sides->index.size;
  if (sides->index.size > std::numeric_limits<std::int32_t>::max() || end > exact_up_to(compute) ||
      search->otherwise < end - 1)
    return false;

  const std::int64_t fewest = sides->along ? 1 : kFewestSideBySide;
  const auto cells_per_call = std::clamp(kElementsPerCall / sides->index.size, fewest, kMostCells);
  const BoxSide cells{sides->cells, std::min(sides->cells.size, cells_per_call)};
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Loop& a, const Loop& b) { return a.strides.back() > b.strides.back(); });
  loops.push_back(chunk_loop(cells));
  const SearchForIndex searching(table, *search, std::move(*sides), first);
  const Scratch memory(static_cast<std::size_t>(cells.chunk) * sizeof(std::int32_t));
  auto* places = reinterpret_cast<std::int32_t*>(memory.data());
  dispatch(compute, [&](auto t) {
    using T = typename decltype(t)::type;
    if constexpr (!is_complex_type<T>) {
      auto offsets = begin;
      Odometer at(loops);
      do {
        poll_cancellation();
        searching.run(offsets, static_cast<T*>(accumulator.data), cells.extent(at[loops.size() - 1]), places);
      } while (at.advance(offsets));
    }
  });
  return true;
}

}  // namespace eindb
