#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tensor/access_form.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// The parts along an aggregated label that calls visit, of the `parts` that it is cut into.
struct GatherAxis {
  std::int64_t parts = 1;
  std::int64_t begin = 0;
  std::int64_t size = 1;
};

/// The rows of one tile of a gather's result, by the part of the source that each is read from. Rows are numbered as
/// the elements of the index operand's tile are, row-major, and stay in that order within a part.
///
///     Z[s,d] = X[I[s],d], where I is 3, 25, -1, 4 and X has 3 parts of 10 rows      rows: 2 | 0 3 | | 1
struct SortedRows {
  TilePtr indices;                   ///< plain INT64
  std::vector<std::uint32_t> rows;   ///< first those of no part, which are zero; then those of each part in turn
  std::vector<std::int64_t> begins;  ///< where the rows of a part begin; at the end, the number of rows

  std::vector<GatherAxis> axes;  ///< of the aggregated labels: the parts are their keys, row-major

  std::int64_t part_at(std::span<const std::int64_t> key) const;
  std::int64_t count_of(std::int64_t part) const {
    return begins[static_cast<std::size_t>(part) + 1] - begins[static_cast<std::size_t>(part)];
  }
};

/// A gather whose result consists of rows of the source: each element of one index operand tells where one is. Where
/// the source lies in many parts, sorting the rows once by part lets the call for a part visit its own rows alone, in
/// place of all indices; a part without rows need not be read; and as every row is written by one call, none has to be
/// set to zero before.
///
/// Immutable, thread-safe.
class RowGather {
 public:
  /// nullopt for any other access: sums and scatters, affine indices, and indices from several operands. The labels
  /// that are aggregated are then those that the index operand determines, and its own are labels of the result.
  static std::optional<RowGather> of(const AccessForm& form, const EinSum& einsum, const LabelTable& labels);

  std::size_t source() const { return form_.source; }
  std::size_t index_operand() const { return *form_.determined.front().operand; }

  /// How many rows can be sorted.
  static constexpr std::size_t kMostRows = std::numeric_limits<std::uint32_t>::max();
  /// `axes`: of the aggregated labels, in order, none of them without parts. `indices` has at most kMostRows elements,
  /// none of which stands for an index out of bounds. Takes time in the number of rows and parts alone.
  SortedRows sort(TilePtr indices, std::vector<GatherAxis> axes) const;
  /// The most bytes of sorted rows without their indices.
  static std::int64_t bytes_of(std::int64_t rows, std::int64_t parts);

  /// Writes the rows of a part. `ranges` has the call's range of every label, in the order of einsum.labels(); `source`
  /// and `result` are plain tiles of one type that cover them.
  void copy(const SortedRows& sorted, std::int64_t part, std::span<const PartRange> ranges, const Tile& source,
            Tile& result) const;
  /// Writes zeros into the rows of a part.
  void clear(const SortedRows& sorted, std::int64_t part, std::span<const PartRange> ranges, Tile& result) const;
  /// Writes zeros into the rows of no part, and into those of all parts before this one.
  void clear_before(const SortedRows& sorted, std::int64_t part, std::span<const PartRange> ranges, Tile& result) const;

 private:
  class Axes;
  class Rows;

  RowGather(const AccessForm& form, const EinSum& einsum, const LabelTable& labels);
  void write(const SortedRows& sorted, std::int64_t begin, std::int64_t end, std::span<const PartRange> ranges,
             const Tile* source, Tile& result) const;

  AccessForm form_;
  Labels in_source_;
  Labels in_indices_;
  Labels output_;
  Labels labels_;
  std::vector<std::size_t> determined_;  // the place of each determined label in labels_
  std::vector<std::size_t> axis_;        // and among the aggregated ones
  std::vector<std::int64_t> extents_;
};

}  // namespace eindb
