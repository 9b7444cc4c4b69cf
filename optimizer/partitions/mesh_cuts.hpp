#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/distributed_type.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// Axes of a mesh by their numbers.
using Axes = std::vector<int>;
/// For each label of a partition vector the axes that cut it, the major one first.
using LabelAxes = std::vector<Axes>;

/// The layout of a tensor, or of the label space of a vertex, while axes are given out: a DistributedType in a form
/// that is cheap to change. Lists the axes that cut each dimension, the major one first.
struct MeshCuts {
  std::vector<std::int64_t> extents;
  LabelAxes axes;
  Axes first_only = {};
  /// For each dimension whose parts overlap, in place of the even ones of another index that the axes cut; or empty.
  std::vector<std::optional<Reach>> reaches = {};

  friend bool operator==(const MeshCuts&, const MeshCuts&) = default;
};

/// The numbers of axes as DistributedType has them.
std::vector<std::size_t> axis_numbers(const Axes& axes);
DistributedType type_of_cuts(const MeshCuts& cuts, const Mesh& mesh);

/// The mesh of all workers (Mesh::of_primes), with the place of each along each axis at hand.
class WorkerMesh {
 public:
  explicit WorkerMesh(std::int64_t workers);

  int axis_count() const { return static_cast<int>(sizes_.size()); }
  std::size_t worker_count() const { return worker_count_; }
  std::int64_t size(int axis) const { return sizes_[static_cast<std::size_t>(axis)]; }
  std::int64_t place(std::size_t worker, int axis) const {
    return places_[worker * sizes_.size() + static_cast<std::size_t>(axis)];
  }
  /// The worker at the second place of an axis and the first of all others.
  std::size_t next_along(int axis) const;

  /// The parts into which axes cut a dimension.
  std::int64_t parts(const Axes& axes) const;

  /// The range of indices of one dimension that a worker holds.
  PartRange held(std::int64_t extent, const Axes& axes, std::size_t worker) const;

  /// The same of dimension d of a layout.
  PartRange held(const MeshCuts& cuts, std::size_t d, std::size_t worker) const;

  bool holds_anything(const MeshCuts& type, std::size_t worker) const;

  /// Elements of a worker's part of `wanted` that it does not hold in `source`, where no parts overlap.
  double missing(const MeshCuts& wanted, const MeshCuts& source, std::size_t worker) const;

  double elements_held(const MeshCuts& type, std::size_t worker) const;

 private:
  std::vector<std::int64_t> sizes_;  // of the axes
  std::size_t worker_count_;
  std::vector<std::int64_t> places_;  // of each worker along each axis
};

}  // namespace eindb
