#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/annihilation.hpp"
#include "tensor/einsum.hpp"

namespace eindb {

/// The points of an EinSum's labels that are visited where some operands are blocks of cells (tensor/cell_block).
enum class CellPattern : std::uint8_t {
  /// Those at which every operand of cells has one: the others add nothing.
  Intersection,
  /// Those at which at least one has a cell. The operands of cells have the same labels.
  Union,
  /// The cells of the only operand. All other points have one value, f(0), which is aggregated for as many as there
  /// are: MAX[j](X[i,j]) is the greatest of the cells of row i, and of 0 if the row has fewer cells than indices.
  ///
  /// Or the points of an intersection, where all others are zeros: MAX[j](X[i,j] * Y[j]).
  WithRest,
};

/// How an EinSum is computed from the cells of some operands alone; nullopt if it is not. `of_cells[n]` says it of
/// operand n, and facts[n] bound the values of operand n: plans that do not know them pass harmless_facts(). Without an
/// aggregate the points that are left out are +0, or zeros of either sign if `least` says that this is enough. The
/// expression has types (tensor/scalar_types).
///
///     SUM(A[i,j] * B[j,k])    Intersection       SUM(A[i,j] * D[j,k])   Intersection, if D is dense and finite
///     A[i,j] - B[i,j]         Union              A[i,j] + B[j]          nullopt: other labels
///     MAX[j](A[i,j])          WithRest           EXP(A[i,j])            nullopt: 1 where there is no cell
///     A[i,j] / D[i]           Intersection, if D is dense, finite and nowhere zero
///     MAX[j](A[i,j] * D[j])   WithRest, if D is dense and finite
///
/// Not for functions of vectors and matrices, users' aggregates, LOGSUMEXP, scans and accesses but for moves of cells
/// (tensor/cell_move), nor for diagonals of operands of cells.
std::optional<CellPattern> cell_pattern(const EinSum& einsum, std::span<const DType> operand_types,
                                        const std::vector<bool>& of_cells, std::span<const OperandFacts> facts,
                                        Zero least = Zero::Plus);

/// The value of the points that pattern WithRest leaves out.
std::optional<ScalarValue> rest_of(const EinSum& einsum, std::span<const DType> operand_types);

/// Of operands whose values let zeros of others be zeros: finite, and nowhere zero.
std::vector<OperandFacts> harmless_facts(std::size_t operands);

/// Whether the result is +0, or by `least` above a zero, wherever the operands of cells have no cells, so that it may
/// be of cells too. The greatest of no values is not.
bool leaves_zeros(const EinSum& einsum, const LabelTable& labels, std::span<const DType> operand_types,
                  CellPattern pattern);

}  // namespace eindb
