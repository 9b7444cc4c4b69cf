#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tensor/shape.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

/// The partition vector of a tensor relation (EinDecomp, section 4.1): the number of parts of each dimension.
using Partition = std::vector<std::int64_t>;

/// The coordinates of a tile: one part number per dimension.
using TileKey = std::vector<std::int64_t>;

/// Part q of extent b cut d ways covers [floor(q b / d), floor((q+1) b / d)): d and a multiple of d nest exactly.
struct PartRange {
  std::int64_t begin = 0;
  std::int64_t size = 0;
  std::int64_t end() const { return begin + size; }
};
PartRange part_range(std::int64_t extent, std::int64_t parts, std::int64_t q);

/// The part that holds index `i`, 0 <= i < extent.
std::int64_t part_of(std::int64_t extent, std::int64_t parts, std::int64_t i);

/// Elements of the largest part along one dimension: ceil(extent / parts).
std::int64_t largest_part(std::int64_t extent, std::int64_t parts);

/// The indices of a dimension that an operation needs for each part of another index, of `extent` and cut evenly: for a
/// part that has i, those l with step * i + least <= divisor * l <= step * i + most. Parts overlap where the operation
/// needs indices for two of them.
///
/// Example: rows l = y + p - 1 with p < 3, for 12 indices y in 2 parts: {12, 1, -1, 1, 1} are rows 0 to 6 and 5 to 11,
/// of which one is the halo.
struct Reach {
  std::int64_t extent = 1;
  std::int64_t step = 1;  ///< not 0
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t divisor = 1;  ///< positive

  /// Of part q, in a dimension of `indices`; no indices outside of it. Empty if there are none.
  PartRange range(std::int64_t indices, std::int64_t parts, std::int64_t q) const;
  /// Whether that many parts, two at least, have indices, all of them, and are numbers that can be computed with.
  bool is_of_parts(std::int64_t indices, std::int64_t parts) const;
  /// The parts that have indices of a range, the first one and their number; none in an empty range.
  PartRange parts_over(std::int64_t indices, std::int64_t parts, const PartRange& wanted) const;
  /// At least the indices of the largest part.
  std::int64_t largest(std::int64_t indices, std::int64_t parts) const;

  friend bool operator==(const Reach&, const Reach&) = default;
};

/// A shape cut into tiles. Tiles are numbered row-major by their key; that number is the tile_id of storage.
/// Invariant: one entry per dimension, 1 <= parts <= max(1, extent).
///
/// Dimensions are cut evenly (part_range), so that a longer one has other cuts. A stored tensor that has grown has
/// dimensions with an edge instead: parts of that many indices, of which the last may have fewer. More indices leave
/// those cuts as they are. Plans cut evenly alone, but for what is copied for an operation that reads windows: each of
/// its tiles has the indices that a Reach says, of which neighbouring tiles have some in common.
///
/// Copies share what they are made of, so that a copy allocates nothing. Immutable but for assignment.
class TileGrid {
 public:
  TileGrid() = default;
  /// Throws Error{Shape} if the invariant does not hold.
  TileGrid(Shape shape, Partition partition);
  /// `edges`: of each dimension, 0 where it is cut evenly. A dimension with an edge has as many parts as its extent
  /// needs, at least one. Throws Error{Shape} likewise.
  TileGrid(Shape shape, Partition partition, std::vector<std::int64_t> edges);

  /// `reaches`: of each dimension, nullopt where it is cut evenly. A dimension with a reach has at least two parts,
  /// none of them empty. Throws Error{Shape} likewise.
  static TileGrid overlapping(Shape shape, Partition partition, std::vector<std::optional<Reach>> reaches);

  const Shape& shape() const { return cuts().shape; }
  const Partition& partition() const { return cuts().partition; }
  /// 0 for a dimension that is cut evenly, also by its edge.
  std::int64_t edge(std::size_t dimension) const { return has_edges() ? cuts().edges[dimension] : 0; }
  bool has_edges() const { return !cuts().edges.empty(); }
  /// Of each dimension, nullopt where its parts do not overlap; empty if there is no reach at all.
  const std::vector<std::optional<Reach>>& reaches() const { return cuts().reaches; }
  bool overlaps() const { return !cuts().reaches.empty(); }
  /// Whether all cuts are those of even().
  bool cuts_evenly() const;
  /// The same shape in as many parts, cut evenly.
  TileGrid even() const { return has_edges() || overlaps() ? TileGrid(shape(), partition()) : *this; }
  std::size_t rank() const { return partition().size(); }
  std::int64_t tile_count() const { return cuts().tile_count; }

  TileKey key_of(std::int64_t tile_id) const;
  std::int64_t id_of(const TileKey& key) const;
  PartRange range(std::size_t dimension, std::int64_t part) const;
  /// The parts that have indices of the range, which lies in the dimension: the first one and their number.
  PartRange parts_over(std::size_t dimension, const PartRange& range) const;
  /// The part that holds `index`, which lies in the dimension; of parts that do not overlap.
  std::int64_t part_at(std::size_t dimension, std::int64_t index) const;
  /// Indices of the largest part; of parts that overlap at least that many.
  std::int64_t largest(std::size_t dimension) const;
  /// First index of the tile along each dimension.
  std::vector<std::int64_t> tile_begin(const TileKey& key) const;
  Shape tile_shape(std::span<const std::int64_t> key) const;
  Shape tile_shape(const TileKey& key) const { return tile_shape(std::span<const std::int64_t>(key)); }
  /// Whether the values of each tile lie side by side in those of the tensor, row-major: no dimension is cut behind one
  /// that has several indices in a tile.
  bool cuts_into_runs() const;
  /// The place of the tile's first value among the tensor's, row-major. `key`: as many numbers as there are dimensions,
  /// others behind them are not read.
  std::int64_t first_element(std::span<const std::int64_t> key) const;
  /// The shape with room for the whole edge of each dimension that has one, in which the tile is stored.
  Shape room_shape(const TileKey& key) const;

  friend bool operator==(const TileGrid& a, const TileGrid& b) {
    return a.cuts_ == b.cuts_ || (a.shape() == b.shape() && a.partition() == b.partition() &&
                                  a.cuts().edges == b.cuts().edges && a.cuts().reaches == b.cuts().reaches);
  }

 private:
  struct Cuts {
    Shape shape;
    Partition partition;
    std::vector<std::int64_t> edges;  // empty if no dimension has one
    std::int64_t tile_count = 1;
    std::vector<std::optional<Reach>> reaches = {};  // empty if there is none
  };
  static Cuts checked(Shape shape, Partition partition);
  static const Cuts& none();
  const Cuts& cuts() const { return cuts_ != nullptr ? *cuts_ : none(); }

  std::shared_ptr<const Cuts> cuts_;  // null: a scalar in one tile
};

/// The default partition without PARTITION: the largest dimension of the tile is halved until a tile counts as at most
/// `tile_bytes` as it is stored (tensor/tile_size). Before that it is cut by the odd prime factors of the
/// number of `workers` that share the tensor, the largest first, so that each gets a block of whole tiles; parts are
/// powers of two otherwise. Rows of a type whose cells are encoded in blocks with a scale are cut between blocks.
/// Examples: 4096 x 4096 FLOAT32 at 1 MiB gives [8, 8], for three workers [12, 8].
Partition default_partition(const Shape& shape, StoredType type, std::int64_t tile_bytes, std::int64_t workers = 1);

}  // namespace eindb
