#pragma once

#include <cstdint>
#include <memory>
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

/// A shape cut into tiles. Tiles are numbered row-major by their key; that number is the tile_id of storage.
/// Invariant: one entry per dimension, 1 <= parts <= max(1, extent).
///
/// Dimensions are cut evenly (part_range), so that a longer one has other cuts. A stored tensor that has grown has
/// dimensions with an edge instead: parts of that many indices, of which the last may have fewer. More indices leave
/// those cuts as they are. Plans cut evenly alone.
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

  const Shape& shape() const { return cuts().shape; }
  const Partition& partition() const { return cuts().partition; }
  /// 0 for a dimension that is cut evenly, also by its edge.
  std::int64_t edge(std::size_t dimension) const { return has_edges() ? cuts().edges[dimension] : 0; }
  bool has_edges() const { return !cuts().edges.empty(); }
  /// Whether all cuts are those of even().
  bool cuts_evenly() const;
  /// The same shape in as many parts, cut evenly.
  TileGrid even() const { return has_edges() ? TileGrid(shape(), partition()) : *this; }
  std::size_t rank() const { return partition().size(); }
  std::int64_t tile_count() const { return cuts().tile_count; }

  TileKey key_of(std::int64_t tile_id) const;
  std::int64_t id_of(const TileKey& key) const;
  PartRange range(std::size_t dimension, std::int64_t part) const;
  /// The part that holds `index`, which lies in the dimension.
  std::int64_t part_at(std::size_t dimension, std::int64_t index) const;
  /// Indices of the largest part.
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
    return a.cuts_ == b.cuts_ ||
           (a.shape() == b.shape() && a.partition() == b.partition() && a.cuts().edges == b.cuts().edges);
  }

 private:
  struct Cuts {
    Shape shape;
    Partition partition;
    std::vector<std::int64_t> edges;  // empty if all dimensions are cut evenly
    std::int64_t tile_count = 1;
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
