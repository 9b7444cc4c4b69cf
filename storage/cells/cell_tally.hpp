#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "tensor/cell_block.hpp"
#include "tensor/cell_spread.hpp"
#include "tensor/shape.hpp"

namespace eindb {

/// Counts the cells of a tensor by the indices that they have along each dimension, in bounded memory: where there may
/// be more indices than there is room for, in several passes over all cells, of which pass p of P counts the indices
/// congruent to p modulo P.
///
///     for each pass: begin(), add() for every tile, end()      then spread()
///
/// Example: the cells (0,3), (0,7), (2,3) have 2 indices along both dimensions, of at most 2 cells each.
/// Not thread-safe.
class CellTally {
 public:
  /// For a tensor of this shape with at most about `most_cells` cells; more take more memory. The counts of one pass
  /// take about `bytes` at most.
  CellTally(Shape shape, double most_cells, std::int64_t bytes);

  std::int64_t passes() const { return passes_; }
  /// What the counts of a pass take at most, about.
  std::int64_t bytes() const { return bytes_; }
  void begin(std::int64_t pass);
  /// The cells of a tile, by their row-major numbers in it, ascending. `first` is its first cell in the tensor.
  void add(std::span<const std::uint32_t> numbers, const Shape& tile, const std::vector<std::int64_t>& first);
  /// The same for a block of cells.
  void add(const CellBlock& cells, const std::vector<std::int64_t>& first);
  void end();

  /// Of one pass over all cells.
  std::int64_t cells() const { return cells_; }
  const CellSpread& spread() const { return spread_; }

 private:
  // The cells of each index that the pass counts: in a list by index / passes, or by index where few have any.
  struct Counts {
    bool listed = false;
    std::vector<std::int64_t> list = {};
    std::unordered_map<std::int64_t, std::int64_t> map = {};
  };

  void count(std::size_t dimension, std::int64_t index, std::int64_t cells);

  Shape shape_;
  std::int64_t passes_ = 1;
  std::int64_t bytes_ = 0;  // of one of them
  std::int64_t pass_ = 0;
  std::int64_t cells_ = 0;
  std::vector<Counts> counts_;  // by dimension
  CellSpread spread_;
};

}  // namespace eindb
