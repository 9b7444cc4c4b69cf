#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/cell_block.hpp"
#include "tensor/cell_move.hpp"
#include "tensor/einsum.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Moves the cells of an operand to the places of the result that read them (tensor/cell_move), in time in proportion
/// to the cells that it has and makes. Immutable, thread-safe.
class CellMover {
 public:
  CellMover(CellMove move, const EinSum& einsum);

  /// See CellKernel::make_cells. The tile of an operand with indices has none that is out of bounds
  /// (AccessKernel::check_indices).
  CellBlock make_cells(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges) const;
  /// Bytes that a call takes at most beside operands and the cells made.
  std::size_t workspace_bytes(std::span<const Tile* const> operands) const;
  bool gathers() const { return gathered_ != kNone; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  // A turn, with places of labels among those of the EinSum.
  struct Step {
    std::size_t dimension;
    std::size_t source_label;
    std::size_t label;  // kNone: the index is the offset
    std::int64_t coefficient;
    std::int64_t offset;
    bool tells;  // the index of its label, or else it is a condition
  };

  class Call;

  CellMove move_;
  std::vector<Step> steps_;       // without that with indices
  std::size_t gathered_ = kNone;  // the place of the label whose index an operand tells
  std::size_t gathered_dimension_ = 0;
  std::vector<std::size_t> output_;  // places of labels
  std::vector<std::size_t> source_;
};

}  // namespace eindb
