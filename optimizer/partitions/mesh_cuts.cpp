#include "optimizer/partitions/mesh_cuts.hpp"

#include <algorithm>
#include <utility>

#include "common/divisors.hpp"

namespace eindb {

std::vector<std::size_t> axis_numbers(const Axes& axes) { return {axes.begin(), axes.end()}; }

DistributedType type_of_cuts(const MeshCuts& cuts, const Mesh& mesh) {
  std::vector<DistributedDimension> dimensions;
  for (std::size_t d = 0; d < cuts.extents.size(); ++d)
    dimensions.push_back({cuts.extents[d], {cuts.axes[d].rbegin(), cuts.axes[d].rend()}});
  return {mesh, std::move(dimensions), axis_numbers(cuts.first_only)};
}

WorkerMesh::WorkerMesh(std::int64_t workers)
    : sizes_(prime_factors(workers)), worker_count_(static_cast<std::size_t>(workers)) {
  places_.reserve(worker_count_ * sizes_.size());
  for (std::int64_t worker = 0; worker < workers; ++worker) {
    auto major = worker;
    for (const auto size : sizes_) {
      places_.push_back(major % size);
      major /= size;
    }
  }
}

PartRange WorkerMesh::held(std::int64_t extent, const Axes& axes, std::size_t worker) const {
  std::int64_t part = 0;
  std::int64_t count = 1;
  for (const auto axis : axes) {
    part = size(axis) * part + place(worker, axis);
    count *= size(axis);
  }
  return part_range(extent, count, part);
}

PartRange WorkerMesh::held(const MeshCuts& cuts, std::size_t d, std::size_t worker) const {
  const auto& axes = cuts.axes[d];
  if (cuts.reaches.empty() || !cuts.reaches[d]) return held(cuts.extents[d], axes, worker);
  std::int64_t part = 0;
  for (const auto axis : axes) part = size(axis) * part + place(worker, axis);
  return cuts.reaches[d]->range(cuts.extents[d], parts(axes), part);
}

double WorkerMesh::missing(const MeshCuts& wanted, const MeshCuts& source, std::size_t worker) const {
  if (!holds_anything(wanted, worker)) return 0;
  double needed = 1;
  double there = holds_anything(source, worker) ? 1 : 0;
  for (std::size_t d = 0; d < wanted.extents.size(); ++d) {
    const auto need = held(wanted, d, worker);
    const auto have = held(wanted.extents[d], source.axes[d], worker);
    needed *= static_cast<double>(need.size);
    there *= static_cast<double>(
        std::max<std::int64_t>(0, std::min(need.end(), have.end()) - std::max(need.begin, have.begin)));
  }
  return needed - there;
}

double WorkerMesh::elements_held(const MeshCuts& type, std::size_t worker) const {
  if (!holds_anything(type, worker)) return 0;
  double elements = 1;
  for (std::size_t d = 0; d < type.extents.size(); ++d)
    elements *= static_cast<double>(held(type.extents[d], type.axes[d], worker).size);
  return elements;
}

bool WorkerMesh::holds_anything(const MeshCuts& type, std::size_t worker) const {
  return std::all_of(type.first_only.begin(), type.first_only.end(),
                     [&](int axis) { return place(worker, axis) == 0; });
}

std::size_t WorkerMesh::next_along(int axis) const {
  std::int64_t worker = 1;
  for (int minor = 0; minor < axis; ++minor) worker *= size(minor);
  return static_cast<std::size_t>(worker);
}

std::int64_t WorkerMesh::parts(const Axes& axes) const {
  std::int64_t count = 1;
  for (const auto axis : axes) count *= size(axis);
  return count;
}

}  // namespace eindb
