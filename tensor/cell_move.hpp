#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/einsum.hpp"

namespace eindb {

/// An access (tensor/access_form) as a move of cells: a cell of the operand tells where it is in the result, as the
/// indices of the access can be turned round. Of A[2 * i + 1, j] the cell (7, 4) is that of (3, 4), and the cell (8, 4)
/// none; of A[P[i], j] it is that of all (i, 4) with P[i] = 7. So is a diagonal, A[i, i].
struct CellMove {
  /// Along one dimension of the operand, coefficient * index + offset of a label. The first turn of a label tells its
  /// index, the others are conditions on the cells.
  struct Turn {
    std::size_t dimension;            ///< of the operand
    std::optional<Label> label = {};  ///< nullopt: the dimension's index is the offset
    std::int64_t coefficient = 1;     ///< not 0
    std::int64_t offset = 0;
    std::optional<std::size_t> indices = {};  ///< the operand that has the index of each label's index instead
  };
  std::size_t source = 0;  ///< the number of the operand of cells
  std::vector<Turn> turns;
};

/// Whether an EinSum is the operand at equal indices of some dimensions and nothing else: Z[i] = A[i, i].
bool is_diagonal(const EinSum& einsum);

/// The move that an EinSum makes where those operands are of cells; nullopt if it makes none. The result has a label;
/// each label of the result has a turn, and at most one turn has indices, a dense operand of one label that no other
/// turn has.
std::optional<CellMove> cell_move(const EinSum& einsum, const std::vector<bool>& of_cells);

}  // namespace eindb
