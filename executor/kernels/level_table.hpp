#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "executor/kernels/matrix_values.hpp"
#include "tensor/block_function.hpp"
#include "tensor/dtype.hpp"
#include "tensor/einsum.hpp"
#include "tensor/pair_form.hpp"
#include "tensor/scalar_expression.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

/// The interface between code for all x86-64 processors and code for one instruction-set level: plain structs of
/// function pointers on raw pointers, so that no template compiled for one level is ever used by another. The tables of
/// the levels are built in executor/kernels/levels/ and selected in instruction_set.cpp.
///
/// Unless stated otherwise: pointers refer to elements of the table's type and are aligned for it; counts and strides
/// are in elements; written regions do not overlap regions read. Functions have no state and throw only std::bad_alloc.

// The operations in tables; conversions are moves.
inline constexpr std::size_t kScalarOpCount = static_cast<std::size_t>(ScalarOp::Case) + 1;
inline constexpr std::size_t kAggregateCount = static_cast<std::size_t>(kLastAggregate) + 1;
inline constexpr std::size_t kDTypeCount = 5;

inline constexpr std::size_t kPairFunctionCount = static_cast<std::size_t>(PairFunction::AbsoluteDifference) + 1;

constexpr std::size_t slot_of(DType type) { return static_cast<std::size_t>(type) - 1; }
constexpr std::size_t slot_of(ScalarOp op) { return static_cast<std::size_t>(op); }
constexpr std::size_t slot_of(Aggregate aggregate) { return static_cast<std::size_t>(aggregate); }
constexpr std::size_t slot_of(PairFunction function) { return static_cast<std::size_t>(function); }

/// The non-finite values in a matrix, as bits.
inline constexpr unsigned kHasNan = 1;
inline constexpr unsigned kHasInfinity = 2;
inline constexpr unsigned kHasNegativeInfinity = 4;

/// Sums and products are accumulated in double precision for single precision values.
constexpr DType wide_of(DType type) {
  if (type == DType::Float32) return DType::Float64;
  return type == DType::Complex64 ? DType::Complex128 : type;
}

/// The C++ type of wide_of.
template <class T>
struct WideType {
  using type = T;
};
template <>
struct WideType<float> {
  using type = double;
};
template <>
struct WideType<std::complex<float>> {
  using type = std::complex<double>;
};
template <class T>
using Wide = typename WideType<T>::type;

/// The type of accumulators: the values' type for extremes, double precision for all others.
template <class T, Aggregate kAggregate>
using Accumulator = std::conditional_t<kAggregate == Aggregate::Min || kAggregate == Aggregate::Max, T, Wide<T>>;

/// Arguments of an element-wise operation: element i is data[i * step]; step is 1, or 0 if all elements are equal.
struct Values {
  const void* data;
  std::int64_t step;
};

/// Rows to be aggregated: element (r, c) is data[r * row_stride + c * step]; step is 1, or 0 for one value per row.
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

/// The destination of a tile of a matrix product: row i, column j is data[rows[i] + columns[j]], or data[rows[i] + j]
/// without `columns`. It receives factor * sum, added to the existing value if `add`. Without `runs` the columns of
/// each vector are contiguous. With `runs`, runs[j] columns from j on are contiguous, at most a vector, where j is 0 or
/// the end of a run.
struct ProductTile {
  void* data;
  const std::int64_t* rows;
  const std::int64_t* columns;
  std::int64_t column_count;
  double factor;
  bool add;
  const std::uint8_t* runs = nullptr;
};

/// Functions that fill the panels of a matrix product from elements of one type. A panel holds, for each contracted
/// index p, the elements of its rows (or columns) contiguously.
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

/// Matrix products of panels. A tile of the result has at most `rows` rows and `columns` columns; a vector holds
/// `vector` columns.
struct PanelTable {
  using Multiply = void (*)(std::int64_t rows, std::int64_t depth, const void* s_panel, const void* v_panel,
                            std::int64_t v_step, const ProductTile& tile);
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t vector;
  /// Computes tile(i, j) = sum over p < depth of s_panel[p * rows + i] * v_panel[p * v_step + j]. Reads whole vectors
  /// of v_panel's rows, even if the tile has fewer columns.
  Multiply multiply;
  std::array<PanelPacking, kDTypeCount> packing;  ///< by the element type of the packed operand
};

/// A batch of small products, one in each lane of the vectors: element (i, p) of a is the vector at a[a_rows[i] +
/// a_depth[p]], and likewise for b and c; c(i, j) = factor * sum over p of a(i, p) * b(p, j), added to the existing
/// value if `add`.
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

/// Products of a batch of matrices that are read in place: c(n)(i, j) = factor * sum over p of a(n)(i, p) * b(n)(p, j),
/// added to the existing value if `add`. Element (i, p) of a is at a[n * a_batch + i * a_row + p * a_depth], and
/// likewise for b and c. Rows of c are contiguous, and rows of b are in panels of PanelTable::columns at a distance of
/// `b_panel`.
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
  std::int64_t ahead;  ///< number of matrices to prefetch ahead, if a matrix is a single tile
  double factor;
  bool add;
};

/// The place of a narrow type among those whose rows are multiplied as they are stored; nullopt for others.
constexpr std::optional<std::size_t> encoded_slot(Encoding encoding) {
  switch (encoding) {
    case Encoding::BFloat16: return 0;
    case Encoding::Float16: return 1;
    case Encoding::Int8: return 2;
    case Encoding::Q80: return 3;
    case Encoding::Q40: return 4;
    default: return std::nullopt;
  }
}

/// Matrix-vector products, and products of many small matrices, for real types and INT64; null for complex types.
struct VectorTable {
  using DotRows = void (*)(void* sums, const void* const* rows, std::int64_t row_count, const void* x,
                           std::int64_t count);
  using AddRows = void (*)(void* sums, const void* const* rows, std::int64_t row_count, const void* x,
                           std::int64_t count, bool first);

  std::int64_t lanes;  ///< number of lanes of a vector
  /// sums[r] += rows[r][0] * x[0] + rows[r][1] * x[1] + ...; sums are of type W.
  DotRows dot_rows;
  /// sums[i] += rows[0][i] * x[0] + rows[1][i] * x[1] + ...; overwrites `sums` if first
  AddRows add_rows;
  /// The same for rows of narrow types, by encoded_slot(); null but for FLOAT32, and INT8 of INT64. Rows of a type with
  /// scales are whole units (tensor/stored_type), and there is no function that adds such rows.
  std::array<DotRows, 5> dot_encoded{};
  std::array<AddRows, 5> add_encoded{};
  std::int64_t lane_rows;  ///< for multiply_lanes: size of the tiles that are summed at a time
  std::int64_t lane_columns;
  void (*multiply_lanes)(const LaneProduct& product, const void* a, const void* b, void* c);
  void (*multiply_strided)(const StridedProduct& product, const void* a, const void* b, void* c);
};

/// Rows of cells: row r has the cells begins[r] to before begins[r + 1].
struct CellRows {
  const std::uint32_t* rows;  ///< the coordinate of each row
  const std::int64_t* begins;
  std::int64_t count;  ///< of rows
  const void* values;  ///< of all cells
  const std::uint32_t* places;
};

/// The innermost loops of joins of cells, see executor/kernels/cell_product.
struct CellTable {
  /// to[c] += factor * sum over n < count of values[n] * from[places[n] * stride + c], for c < columns
  void (*add_rows)(void* to, const void* from, const std::uint32_t* places, std::int64_t stride, const void* values,
                   std::int64_t count, std::int64_t columns, const void* factor);
  /// to[n] += factor * a[n] * b[n], without b[n] if b is null
  void (*add_products)(void* to, const void* a, const void* b, const void* factor, std::int64_t count);
  /// *sum = sum over n < count of a[n] * b[n], likewise
  void (*dot)(void* sum, const void* a, const void* b, std::int64_t count);
  /// *sum = sum over n < count of values[n] * from[places[n] * stride]
  void (*dot_places)(void* sum, const void* values, const std::uint32_t* places, const void* from, std::int64_t stride,
                     std::int64_t count);
  /// to[rows[r] * to_stride] += factor * sum over the cells n of row r of values[n] * from[places[n] * stride], without
  /// the latter if from is null
  void (*add_row_sums)(void* to, std::int64_t to_stride, const CellRows& rows, const void* from, std::int64_t stride,
                       const void* factor);
  /// to[n] = factor * values[n] * sum over c < columns of row[c] * from[places[n] * stride + c], for n < count
  void (*dot_rows)(void* to, const void* row, const void* from, const std::uint32_t* places, std::int64_t stride,
                   const void* values, std::int64_t count, std::int64_t columns, const void* factor);
};

/// The operations for one element type T at one level. `wide` accumulators have T for MIN and MAX, and otherwise the
/// C++ type of wide_of(T).
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
  using PairSearch = void (*)(const void* a, const void* b, std::int64_t k, ConstMatrixView sought, std::int64_t rows,
                              std::int64_t columns, std::int32_t* places);
  using PairPlace = void (*)(const void* a, const void* b, std::int64_t k, void* extremes, std::int32_t* places,
                             std::int64_t stride, std::int64_t rows, std::int32_t begin, bool first);
  using PackTruths = void (*)(ConstMatrixView from, std::int64_t rows, std::int64_t columns, std::uint64_t flip,
                              std::int64_t width, std::uint64_t* to);
  using TruthBlock = void (*)(const std::uint64_t* a, const std::uint64_t* b, std::int64_t words, std::int64_t total,
                              MatrixView c, std::int64_t rows, std::int64_t columns, bool first);
  using PlaceDown = void (*)(void* values, std::int32_t* places, Rows a, std::int32_t begin, std::int64_t rows,
                             std::int64_t columns, bool first);
  using Search = void (*)(std::int32_t* places, Rows a, Rows b, std::int64_t rows, std::int64_t columns);
  using Specials = unsigned (*)(ConstMatrixView a, std::int64_t rows, std::int64_t columns);

  /// By ScalarOp; null if the operation has another number of arguments.
  std::array<Unary, kScalarOpCount> unary;
  std::array<Binary, kScalarOpCount> binary;
  /// to[i] = condition[i] != 0 ? yes[i] : no[i]
  Select select;
  /// to[r * columns + c] = begin + r * row_step + c * column_step, with wraparound, converted to T.
  Ramp ramp;
  /// to(r, c) = from(r, c), converted from the slot's element type. If the two sides are contiguous along different
  /// dimensions and the types are equal, blocks are transposed in registers.
  std::array<Move, kDTypeCount> move;

  // By Aggregate; null for None, if T has no order, for LOGSUMEXP unless T is a real floating-point type, and for
  // FirstLeast and FirstGreatest unless it is that of double. With `first`, `wide` is uninitialised. rows, columns
  // >= 1.
  /// wide[r] = aggregate(wide[r], a(r, 0), a(r, 1), ...), in several lanes.
  std::array<Fold, kAggregateCount> along;
  /// wide[c] = aggregate(wide[c], a(0, c), a(1, c), ...)
  std::array<Fold, kAggregateCount> down;
  /// to(r, c) = aggregate(to(r, c), wide[r * columns + c]); overwrites `to` if first
  std::array<Settle, kAggregateCount> settle;
  /// into[i] = aggregate(into[i], from[i])
  std::array<Combine, kAggregateCount> combine;
  /// SUM over a(r, c) * b(r, c) in one pass, along and down; null if products need more care (complex numbers).
  FoldProducts multiply_along;
  FoldProducts multiply_down;

  /// Lowers places[r] to the least c < columns below it with a(r, c) = b(r, 0) or a(r, c) NaN, if there is one. a.step
  /// is 1; no place exceeds `columns`, which is less than 2^31. Null for complex types, like search_down.
  Search search_along;
  /// Lowers places[c] to the least r < rows below it with a(r, c) = b(0, c) or a(r, c) NaN, if there is one.
  Search search_down;
  /// values[c] = the least or greatest of values[c], a(0, c), a(1, c), ..., and places[c] = the first place that has
  /// it, which is begin + r for row r; NaN is beyond all others. Overwrites both if first. a.step is 1, and begin +
  /// rows is at most 2^31. Null for complex types.
  PlaceDown place_least_down = nullptr;
  PlaceDown place_greatest_down = nullptr;

  PanelTable panels;
  VectorTable vectors;

  /// By PairFunction and Aggregate: c(r, s) = aggregate(c(r, s), f(a(r, p), b(p, s)) for all p < k); overwrites c if
  /// first. a is a panel of k times `pair_rows` elements, b one of k times `pair_columns`, both aligned to 64 bytes; c
  /// has the first `rows` of one and `columns` of the other. NaN is not handled: MIN and MAX must not be used for
  /// values that may be NaN, nor Least and Greatest for such arguments. Null for complex types, None, PROD and
  /// LOGSUMEXP, which executor/kernels/log_sum_exp_kernel makes of products.
  std::array<std::array<PairBlock, kAggregateCount>, kPairFunctionCount> pair;
  /// By PairFunction: places[r * pair_columns + s] = the least p < k with f(a(r, p), b(p, s)) = sought(r, s) or NaN; k,
  /// which is less than 2^31, where there is none. Panels as above; Least and Greatest do not handle NaN. Null for
  /// functions whose values are truths, and for complex types.
  std::array<PairSearch, kPairFunctionCount> pair_search{};
  /// Likewise: the least or greatest f(a(r, p), b(p, s)) and begin + the least p that has it, at extremes[r * stride +
  /// s] and places[r * stride + s], for r < rows and all columns of a panel. Unless first, they hold what was found
  /// before for lesser p, and stay where nothing is beyond it. NaN is not handled.
  std::array<PairPlace, kPairFunctionCount> pair_place_least{};
  std::array<PairPlace, kPairFunctionCount> pair_place_greatest{};
  std::int64_t pair_rows = 0;
  std::int64_t pair_columns = 0;

  /// Writes whether elements are not zero as bits, 64 columns to a word, after an exclusive OR with `flip` (all bits or
  /// none). Rows go to panels of `width` rows, in which the rows' words for the same columns are contiguous; surplus
  /// bits and rows are zero. Null for complex types.
  PackTruths pack_truths = nullptr;
  /// For SUM the number of common bits of each row of a and b, for MAX and MIN whether there are any; `total` less this
  /// unless total is negative. a is a panel of `truth_rows` rows, b one of `truth_columns`, of `words` words each.
  /// Aggregates with c, or overwrites it if first. Null for other aggregates and for complex types.
  std::array<TruthBlock, kAggregateCount> truth{};
  std::int64_t truth_rows = 0;
  std::int64_t truth_columns = 0;

  /// The bits kHasNan, ... of a matrix; null for complex types.
  Specials specials = nullptr;

  CellTable cells{};
};

/// See matrix_function (executor/kernels/matrix_functions).
using RealMatrixFunction = std::optional<std::string> (*)(BlockOp, const MatrixValues<double>&,
                                                          const std::optional<MatrixValues<double>>&,
                                                          std::span<double>);

/// Products of INT8. A panel has, for each unit of `depth` contracted indices, the values of all its rows (or columns),
/// those of a unit together in four bytes: pairs of INT16, or quads of bytes, of which those of columns are without
/// sign.
struct ByteTable {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  /// sums[i * columns + j] = sum over all contracted indices of `units` units of row i and column j; without overflow
  /// for up to 2^16 indices.
  void (*multiply)(std::int64_t units, const void* rows, const void* columns, std::int32_t* sums) = nullptr;
};

/// The loops of factorisations of real matrices that are no products of matrices.
inline constexpr std::int64_t kStripColumns = 16;
struct FactorTable {
  /// Factorises the first `columns` columns of a strip of `rows` times kStripColumns elements, contiguous, the others
  /// of which are zero, by Householder reflections: R is on and above the diagonal afterwards, and below it the
  /// reflections without their ones. Their factors tau are taus[0 .. min(rows, columns) - 1].
  void (*factor_strip)(double* strip, std::int64_t rows, std::int64_t columns, double* taus);
  /// sums[0] = sum over n < count of weights[n] / (poles[n] - x), and sums[1] its derivative by x
  void (*add_pole_terms)(const double* poles, const double* weights, std::int64_t count, double x, double* sums);
};

/// Writes past the caches, which other threads see after end_streams() (executor/kernels/streamed_copy).
struct StreamTable {
  /// Copies `count` lines of 64 bytes. `to` is aligned to 64 bytes.
  void (*copy_lines)(void* to, const void* from, std::int64_t count);
  /// target[c * target_stride + r] = source[r * source_stride + c] for elements of 4 or 8 bytes, transposed in
  /// registers like a Move; past the caches where the rows of the target are aligned to vectors.
  using Transpose = void (*)(void* target, std::int64_t target_stride, const void* source, std::int64_t source_stride,
                             std::int64_t rows, std::int64_t columns);
  Transpose transpose4;
  Transpose transpose8;
};

struct LevelTable {
  std::array<ElementTable, kDTypeCount> elements;
  ByteTable byte_pairs;
  /// For processors that multiplies_bytes() says it of; empty at levels without.
  ByteTable byte_quads;
  FactorTable factors;
  StreamTable streams;
  /// All functions of real matrices but the exponential and those of real_factors; null at levels that have none of
  /// their own.
  RealMatrixFunction real_matrix_function = nullptr;

  const ElementTable& of(DType type) const { return elements[slot_of(type)]; }
};

}  // namespace eindb
