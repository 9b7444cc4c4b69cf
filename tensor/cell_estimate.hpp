#pragma once

#include <optional>
#include <vector>

#include "tensor/cell_form.hpp"
#include "tensor/cell_spread.hpp"
#include "tensor/einsum.hpp"

namespace eindb {

/// The cells of an EinSum's operands; nullopt: the operand has all values.
using OperandCells = std::vector<std::optional<CellEstimate>>;

/// The expected number of points visited, of the whole tensors. Cells are taken to be spread evenly and independently
/// over the indices that have any: operands that share label l match in 1 / V of all pairs, where V is the larger
/// number of indices that have cells along l, and the extent of l where that is not known. Example: A[i,j] with 2000
/// cells and B[j,k] with 6000 over 100 values of j meet at 2000 * 6000 / 100 points. Never more than most_cell_steps().
double cell_steps(const EinSum& einsum, const LabelTable& labels, const OperandCells& cells, CellPattern pattern);

/// A bound for the same, if cells and spreads are those of the operands or more: begin with the cells of one operand,
/// and extend each by as many cells of the next one as an index of a label in common has at most (Galley, arXiv
/// 2408.14706, section 4); or, where each label is in two operands, the root of the product of all cells (Atserias,
/// Grohe and Marx, Size Bounds and Query Plans for Relational Joins, 2008).
double most_cell_steps(const EinSum& einsum, const LabelTable& labels, const OperandCells& cells, CellPattern pattern);

/// The expected number of cells of the result likewise, at most all of them. Its spread is known if those of all
/// operands of cells are: along a label at most as many indices as any operand has, with degrees bounded as above.
CellEstimate cell_results(const EinSum& einsum, const LabelTable& labels, const OperandCells& cells,
                          CellPattern pattern);

}  // namespace eindb
