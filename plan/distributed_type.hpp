#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/mesh.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// One dimension of a distributed type: its extent and the mesh axes that cut it, minor to major.
struct DistributedDimension {
  std::int64_t extent = 0;
  std::vector<std::size_t> axes;

  friend bool operator==(const DistributedDimension&, const DistributedDimension&) = default;
};

/// The layout of a tensor on a mesh (array redistribution, section 4.1). Over {x:4, y:6} the type [3{x}12, 2{y}12] cuts
/// both dimensions of a 12 x 12 tensor: the rank at (i_x, i_y) holds the 3 x 2 block that begins at (3 i_x, 2 i_y).
/// Axes are listed from minor to major: with [1{x,y}24] that rank holds block i_x + 4 i_y. An axis that cuts nothing
/// replicates.
///
/// Extents need not be multiples of the parts: part q of extent b cut d ways covers [floor(q b / d), floor((q + 1) b /
/// d)). The local size is that of the largest part.
/// Invariants: an axis cuts at most one dimension; no dimension is cut into more parts than max(1, its extent).
class DistributedType {
 public:
  DistributedType() = default;
  /// Throws Error{Shape} or Error{Value} if an invariant does not hold.
  DistributedType(Mesh mesh, std::vector<DistributedDimension> dimensions, std::vector<std::size_t> first_only = {});
  /// Parses "[3{x}12, 2{y}12]"; an uncut dimension is written as its extent, or as "12{}12". Throws Error{Syntax} or,
  /// with the place in the text, Error{UnknownName} for an axis that the mesh lacks and Error{Shape} for inconsistent
  /// sizes.
  static DistributedType parse(std::string_view text, const Mesh& mesh);

  const Mesh& mesh() const { return mesh_; }
  const std::vector<DistributedDimension>& dimensions() const { return dimensions_; }
  /// The axes that hold everything at their first place.
  const std::vector<std::size_t>& first_only() const { return first_only_; }
  std::size_t rank() const { return dimensions_.size(); }

  /// The whole tensor.
  Shape global_shape() const;
  /// The shape of the largest block.
  Shape local_shape() const;
  /// Elements of the largest block.
  std::int64_t local_size() const { return local_shape().element_count(); }
  Partition parts() const;
  /// The block of each rank of the mesh: the base offset map of the type.
  BlockPlacement placement() const;
  /// The same among `total` ranks, of which the first are those of the mesh; other ranks hold nothing.
  BlockPlacement placement(std::size_t total) const;
  /// The same among `total` ranks, where rank n of the mesh is ranks[n]; other ranks hold nothing.
  BlockPlacement placement(std::span<const Rank> ranks, std::size_t total) const;

  /// The same placement over mesh().factored().
  DistributedType factored() const;
  /// "[3{x}12, 2{y}12]", and " at x=0,y=0" for axes of first_only().
  std::string to_string() const;

  friend bool operator==(const DistributedType&, const DistributedType&) = default;

 private:
  std::int64_t parts_of(const DistributedDimension& dimension) const;

  Mesh mesh_;
  std::vector<DistributedDimension> dimensions_;
  std::vector<std::size_t> first_only_;
};

/// The type over `mesh` with this placement, if there is one: the order of blocks may match no axes. The ranks that
/// hold blocks are the mesh's, in their order.
std::optional<DistributedType> type_of(const BlockPlacement& placement, const Shape& shape, const Mesh& mesh);

}  // namespace eindb
