#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor/dtype.hpp"
#include "tensor/einsum.hpp"
#include "tensor/pair_form.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The border between code for every x86-64 processor and code for one instruction-set level: plain structs of
/// function pointers on raw pointers, so that no template compiled for one level is ever used by another. The
/// tables of the levels are made in executor/kernels/levels/ and chosen in instruction_set.cpp.
///
/// Unless said otherwise: pointers are to elements of the table's type, aligned as that type; counts and strides are
/// in elements; regions written do not overlap regions read. Functions have no state and throw nothing but
/// std::bad_alloc.

// Those that tables have: conversions are moves.
inline constexpr std::size_t kScalarOpCount = static_cast<std::size_t>(ScalarOp::Case) + 1;
inline constexpr std::size_t kAggregateCount = static_cast<std::size_t>(Aggregate::Max) + 1;
inline constexpr std::size_t kDTypeCount = 5;

inline constexpr std::size_t kPairFunctionCount = static_cast<std::size_t>(PairFunction::AbsoluteDifference) + 1;

constexpr std::size_t slot_of(DType type) { return static_cast<std::size_t>(type) - 1; }
constexpr std::size_t slot_of(ScalarOp op) { return static_cast<std::size_t>(op); }
constexpr std::size_t slot_of(Aggregate aggregate) { return static_cast<std::size_t>(aggregate); }
constexpr std::size_t slot_of(PairFunction function) { return static_cast<std::size_t>(function); }

/// What a matrix has of the values that are not finite, as bits.
inline constexpr unsigned kHasNan = 1;
inline constexpr unsigned kHasInfinity = 2;
inline constexpr unsigned kHasNegativeInfinity = 4;

/// Sums and products are accumulated in double precision for single precision values.
constexpr DType wide_of(DType type) {
  if (type == DType::Float32) return DType::Float64;
  return type == DType::Complex64 ? DType::Complex128 : type;
}

/// Arguments of an element-wise operation: element i is data[i * step]; step is 1, or 0 for one value for all.
struct Values {
  const void* data;
  std::int64_t step;
};

/// Rows of what is aggregated: element (r, c) is data[r * row_stride + c * step]; step is 1, or 0 for one value per
/// row.
struct Rows {
  const void* data;
  std::int64_t row_stride;
  std::int64_t step;
};

/// A matrix in memory: element (r, c) is data[r * row_stride + c * column_stride].
struct MatrixView {
  void* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};
struct ConstMatrixView {
  const void* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

/// Where a tile of a matrix product goes: row i, column j is data[rows[i] + columns[j]], or data[rows[i] + j] without
/// `columns`. Holds factor * sum, added to what is there if `add`. Without `runs` the columns of each vector lie side
/// by side; with them, runs[j] columns from j on, where j is 0 or the end of a run: a vector at most.
struct ProductTile {
  void* data;
  const std::int64_t* rows;
  const std::int64_t* columns;
  std::int64_t column_count;
  double factor;
  bool add;
  const std::uint8_t* runs = nullptr;
};

/// How the panels of a matrix product are filled from elements of one type. A panel holds, for each contracted index
/// p, the elements of its rows (or columns) side by side.
struct PanelPacking {
  /// to[p * to_step + t] = from[from_offsets[p] + t] for p < count, t < run
  void (*copy_runs)(void* to, std::int64_t to_step, const void* from, const std::int64_t* from_offsets,
                    std::int64_t count, std::int64_t run);
  /// to[to_offsets[c] + r] = from[from_offsets[r] + c]
  void (*transpose_runs)(void* to, const std::int64_t* to_offsets, const void* from, const std::int64_t* from_offsets,
                         std::int64_t rows, std::int64_t columns);
  /// to[c * to_step + r] = from[row_offsets[r] + column_offsets[c]]
  void (*gather)(void* to, std::int64_t to_step, const void* from, const std::int64_t* row_offsets,
                 const std::int64_t* column_offsets, std::int64_t rows, std::int64_t columns);
};

/// Matrix products of panels. The result's tiles have up to `rows` rows and `columns` columns; a vector holds `vector`
/// of the columns.
struct PanelTable {
  using Multiply = void (*)(std::int64_t rows, std::int64_t depth, const void* s_panel, const void* v_panel,
                            std::int64_t v_step, const ProductTile& tile);
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t vector;
  /// tile(i, j) = sum over p < depth of s_panel[p * rows + i] * v_panel[p * v_step + j]. Reads of v_panel's rows whole
  /// vectors, also where the tile has fewer columns.
  Multiply multiply;
  std::array<PanelPacking, kDTypeCount> packing;  ///< by the type of what is packed
};

/// A batch of small products, one in each lane of the vectors: element (i, p) of a is the vector at
/// a[a_rows[i] + a_depth[p]], and so on; c(i, j) = factor * sum over p of a(i, p) * b(p, j), added if `add`.
struct LaneProduct {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  const std::int64_t* a_rows;
  const std::int64_t* a_depth;
  const std::int64_t* b_columns;
  const std::int64_t* b_depth;
  const std::int64_t* c_rows;
  const std::int64_t* c_columns;
  double factor;
  bool add;
};

/// Products of a batch of matrices that are read where they lie, c(n)(i, j) = factor * sum over p of a(n)(i, p) *
/// b(n)(p, j), added if `add`: element (i, p) of a is at a[n * a_batch + i * a_row + p * a_depth], and so on; rows of c
/// are contiguous, and those of b in panels of PanelTable::columns, which are `b_panel` apart.
struct StridedProduct {
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  std::int64_t a_batch;
  std::int64_t a_row;
  std::int64_t a_depth;
  std::int64_t b_batch;
  std::int64_t b_depth;
  std::int64_t b_panel;
  std::int64_t c_batch;
  std::int64_t c_row;
  std::int64_t ahead;  ///< so many matrices ahead are fetched, where one is a single tile
  double factor;
  bool add;
};

/// Matrix times vector, and products of many small matrices; real types and INT64, null for complex ones.
struct VectorTable {
  std::int64_t lanes;  ///< of a vector
  /// sums[r] += rows[r][0] * x[0] + rows[r][1] * x[1] + ...; sums are of type W.
  void (*dot_rows)(void* sums, const void* const* rows, std::int64_t row_count, const void* x, std::int64_t count);
  /// sums[i] += rows[0][i] * x[0] + rows[1][i] * x[1] + ...; without looking at `sums` if first
  void (*add_rows)(void* sums, const void* const* rows, std::int64_t row_count, const void* x, std::int64_t count,
                   bool first);
  std::int64_t lane_rows;  ///< multiply_lanes: of the tiles that are summed at a time
  std::int64_t lane_columns;
  void (*multiply_lanes)(const LaneProduct& product, const void* a, const void* b, void* c);
  void (*multiply_strided)(const StridedProduct& product, const void* a, const void* b, void* c);
};

/// The operations of one element type T at one level. `wide` accumulators are of the C++ type of wide_of(T) for sums
/// and products, of T for MIN and MAX.
struct ElementTable {
  using Unary = void (*)(void* to, const void* a, std::int64_t count);
  using Binary = void (*)(void* to, Values a, Values b, std::int64_t count);
  using Select = void (*)(void* to, const void* condition, Values yes, Values no, std::int64_t count);
  using Ramp = void (*)(void* to, std::int64_t begin, std::int64_t row_step, std::int64_t column_step,
                        std::int64_t rows, std::int64_t columns);
  using Move = void (*)(MatrixView to, ConstMatrixView from, std::int64_t rows, std::int64_t columns);
  using Fold = void (*)(void* wide, Rows a, std::int64_t rows, std::int64_t columns, bool first);
  using FoldProducts = void (*)(void* wide, Rows a, Rows b, std::int64_t rows, std::int64_t columns, bool first);
  using Settle = void (*)(MatrixView to, const void* wide, std::int64_t rows, std::int64_t columns, bool first);
  using Combine = void (*)(void* into, const void* from, std::int64_t count);

  using PairBlock = void (*)(const void* a, const void* b, std::int64_t k, MatrixView c, std::int64_t rows,
                             std::int64_t columns, bool first);
  using Search = void (*)(std::int32_t* places, Rows a, Rows b, std::int64_t rows, std::int64_t columns);
  using Specials = unsigned (*)(ConstMatrixView a, std::int64_t rows, std::int64_t columns);

  /// By ScalarOp; null where the operation takes another number of arguments.
  std::array<Unary, kScalarOpCount> unary;
  std::array<Binary, kScalarOpCount> binary;
  /// to[i] = condition[i] != 0 ? yes[i] : no[i]
  Select select;
  /// to[r * columns + c] = begin + r * row_step + c * column_step, wrapping, converted to T.
  Ramp ramp;
  /// to(r, c) = from(r, c), converted from the element type of the slot. Transposed in registers where the sides are
  /// contiguous along different dimensions and nothing is converted.
  std::array<Move, kDTypeCount> move;

  // By Aggregate; null for None and where T has no order. `first`: `wide` holds nothing yet. rows, columns >= 1.
  /// wide[r] = aggregate(wide[r], a(r, 0), a(r, 1), ...), in several lanes
  std::array<Fold, kAggregateCount> along;
  /// wide[c] = aggregate(wide[c], a(0, c), a(1, c), ...)
  std::array<Fold, kAggregateCount> down;
  /// to(r, c) = aggregate(to(r, c), wide[r * columns + c]); without looking at `to` if first
  std::array<Settle, kAggregateCount> settle;
  /// into[i] = aggregate(into[i], from[i])
  std::array<Combine, kAggregateCount> combine;
  /// along and down of SUM over a(r, c) * b(r, c), in one pass; null where products need more care (complex numbers).
  FoldProducts multiply_along;
  FoldProducts multiply_down;

  /// Lowers places[r] to the least c < columns below it with a(r, c) = b(r, 0) or a(r, c) NaN, if there is one; a.step
  /// is 1. No place is above `columns`, which are fewer than 2^31. Null for complex types, as the next one.
  Search search_along;
  /// Lowers places[c] to the least r < rows below it with a(r, c) = b(0, c) or a(r, c) NaN, if there is one; likewise.
  Search search_down;

  PanelTable panels;
  VectorTable vectors;

  /// By PairFunction and Aggregate: c(r, s) = aggregate(c(r, s), f(a(r, p), b(p, s)) for all p < k), without looking at
  /// c if first. a is a panel of k times `pair_rows` elements, b one of k times `pair_columns`, both aligned to 64
  /// bytes; c has the first `rows` of one and `columns` of the other. Knows no NaN: MIN and MAX of values that may
  /// be NaN, and Least and Greatest of arguments that may, are not for it. Null for complex types, None and PROD.
  std::array<std::array<PairBlock, kAggregateCount>, kPairFunctionCount> pair;
  std::int64_t pair_rows = 0;
  std::int64_t pair_columns = 0;
  /// kHasNan, ...; null for complex types.
  Specials specials = nullptr;
};

struct LevelTable {
  std::array<ElementTable, kDTypeCount> elements;

  const ElementTable& of(DType type) const { return elements[slot_of(type)]; }
};

}  // namespace eindb
