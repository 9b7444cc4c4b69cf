#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/einsum.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A label of dense operands alone along which their values do not lie side by side, as i in
/// Z[i,k] = SUM(B[i,j] * A[j,k]) with A of cells. Some indices of it at a time are copied so that they do, and the
/// cells joined with these panels: B[j,i] and Z[k,i] for 32 i. Immutable, thread-safe.
class CellPanel {
 public:
  static constexpr std::int64_t kWidth = 32;

  /// nullopt where no label gains by it.
  static std::optional<CellPanel> of(const EinSum& einsum, const std::vector<bool>& of_cells);

  /// The EinSum with the label behind the others in all dense operands and in the result.
  const EinSum& einsum() const { return panel_; }
  /// Whether the copies cost less than they save, for operands with that many cells.
  bool pays(std::span<const Tile* const> operands, const Shape& result, std::int64_t cells) const;

  std::size_t workspace_bytes(std::span<const Tile* const> operands, const Shape& result, DType compute) const;

  /// The ranges of einsum().labels(), with `width` indices of the label from `from` on.
  std::vector<PartRange> ranges(std::span<const PartRange> whole, std::int64_t from, std::int64_t width) const;
  std::int64_t extent(std::span<const PartRange> whole) const { return whole[place_].size; }
  bool has_operand(std::size_t n) const { return operand_dimension_[n].has_value(); }
  bool has_result() const { return result_dimension_.has_value(); }
  /// The panel of operand n.
  Tile operand(std::size_t n, const Tile& tile, std::int64_t from, std::int64_t width) const;
  /// The panel of the result, uninitialised.
  Tile result(const Tile& accumulator, std::int64_t width) const;
  void read_result(Tile& panel, const Tile& accumulator, std::int64_t from) const;
  void write_result(const Tile& panel, Tile& accumulator, std::int64_t from) const;

 private:
  CellPanel(const EinSum& einsum, const std::vector<bool>& of_cells, Label label);

  EinSum panel_;
  std::size_t place_;                                          // of the label in the EinSum
  std::vector<std::size_t> places_;                            // of the panel's labels in the EinSum
  std::vector<std::optional<std::size_t>> operand_dimension_;  // the label's, by operand, of dense ones alone
  std::optional<std::size_t> result_dimension_;
};

}  // namespace eindb
