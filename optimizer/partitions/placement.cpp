#include "optimizer/partitions/placement.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "optimizer/partitions/viable.hpp"

namespace eindb {
namespace {

using Axes = std::vector<int>;

double overlap(const PartRange& a, const PartRange& b) {
  return static_cast<double>(std::max<std::int64_t>(0, std::min(a.end(), b.end()) - std::max(a.begin, b.begin)));
}

int log2_of(std::int64_t power) { return std::bit_width(static_cast<std::uint64_t>(power)) - 1; }

// The places of one dimension that a worker holds.
PartRange held(std::int64_t extent, const Axes& axes, std::int64_t worker) {
  std::int64_t place = 0;
  for (const auto axis : axes) place = 2 * place + ((worker >> axis) & 1);
  return part_range(extent, std::int64_t{1} << axes.size(), place);
}

class Placer {
 public:
  Placer(const EinGraph& graph, const Labelling& labelling, int mesh_axes)
      : graph_(graph), labelling_(labelling), mesh_axes_(mesh_axes) {}

  Placement run() {
    out_.mesh_axes = mesh_axes_;
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      const auto& vertex = graph_.vertex(VertexId(v));
      out_.vertices.push_back(vertex.is_input() ? stored(vertex) : computed(vertex, labelling_.vertices[v].partition));
      out_.received += out_.vertices.back().received;
      out_.most_received += out_.vertices.back().most_received;
    }
    return std::move(out_);
  }

 private:
  const MeshType& type_of(VertexId v) const { return out_.vertices[v.index()].result; }

  VertexPlacement stored(const Vertex& vertex) const {
    VertexPlacement out;
    out.result.extents = vertex.bound.extents();
    out.result.axes.resize(out.result.extents.size());
    int next = 0;
    const auto cut = [&](std::size_t d, int times) {
      auto& axes = out.result.axes[d];
      while (next < mesh_axes_ && static_cast<int>(axes.size()) < times) axes.push_back(next++);
    };
    const auto& parts = vertex.stored->grid.partition();
    for (std::size_t d = 0; d < parts.size(); ++d) cut(d, std::countr_zero(static_cast<std::uint64_t>(parts[d])));
    for (std::size_t d = 0; d < parts.size(); ++d) cut(d, log2_of(floor_power_of_two(out.result.extents[d])));
    return out;
  }

  VertexPlacement computed(const Vertex& vertex, const LabelPartition& partition) const {
    const auto axes = axes_of_labels(vertex, partition);
    const auto axes_of = [&](const Labels& labels) {
      std::vector<Axes> out;
      for (const auto label : labels) out.push_back(axes[place_of(partition, label)]);
      return out;
    };
    VertexPlacement out;
    out.result = {vertex.bound.extents(), axes_of(vertex.einsum.output)};
    const double combined = elements_combined(out.result, axes_of(vertex.einsum.aggregated));
    std::vector<MeshType> wanted;
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
      wanted.push_back({graph_.vertex(vertex.inputs[n]).bound.extents(), axes_of(vertex.einsum.inputs[n])});
    for (std::int64_t worker = 0; worker < std::int64_t{1} << mesh_axes_; ++worker) {
      double received = combined;
      for (std::size_t n = 0; n < wanted.size(); ++n) received += missing(wanted[n], type_of(vertex.inputs[n]), worker);
      out.received += received;
      out.most_received = std::max(out.most_received, received);
    }
    return out;
  }

  static std::size_t place_of(const LabelPartition& partition, Label label) {
    const auto found = std::find(partition.labels.begin(), partition.labels.end(), label);
    return static_cast<std::size_t>(found - partition.labels.begin());
  }

  // Elements of a worker's part of `wanted` that it does not hold.
  static double missing(const MeshType& wanted, const MeshType& held_type, std::int64_t worker) {
    double needed = 1;
    double there = 1;
    for (std::size_t d = 0; d < wanted.extents.size(); ++d) {
      const auto need = held(wanted.extents[d], wanted.axes[d], worker);
      needed *= static_cast<double>(need.size);
      there *= overlap(need, held(wanted.extents[d], held_type.axes[d], worker));
    }
    return needed - there;
  }

  // What each worker receives in an all-reduce over the axes that cut summed labels.
  static double elements_combined(const MeshType& result, const std::vector<Axes>& aggregated) {
    double workers = 1;
    for (const auto& axes : aggregated) workers *= static_cast<double>(std::int64_t{1} << axes.size());
    double tile = 1;
    for (std::size_t d = 0; d < result.extents.size(); ++d)
      tile *= static_cast<double>(largest_part(result.extents[d], std::int64_t{1} << result.axes[d].size()));
    return 2 * (workers - 1) / workers * tile;
  }

  std::vector<Axes> axes_of_labels(const Vertex& vertex, const LabelPartition& partition) const {
    std::vector<Axes> axes(partition.labels.size());
    std::vector<bool> used(static_cast<std::size_t>(mesh_axes_), false);
    const auto give = [&](std::size_t label, int axis) {
      if (used[static_cast<std::size_t>(axis)]) return false;
      if (static_cast<int>(axes[label].size()) >= log2_of(floor_power_of_two(partition.parts[label]))) return false;
      used[static_cast<std::size_t>(axis)] = true;
      axes[label].push_back(axis);
      return true;
    };
    for (const auto n : largest_first(vertex)) {
      const auto& labels = vertex.einsum.inputs[n];
      for (std::size_t d = 0; d < labels.size(); ++d)
        for (const auto axis : type_of(vertex.inputs[n]).axes[d])
          if (!give(place_of(partition, labels[d]), axis)) break;
    }
    Labels order = vertex.einsum.output;
    append_distinct(order, partition.labels);
    for (const auto label : order)
      for (int axis = 0; axis < mesh_axes_; ++axis) give(place_of(partition, label), axis);
    return axes;
  }

  std::vector<std::size_t> largest_first(const Vertex& vertex) const {
    std::vector<std::size_t> order(vertex.inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto elements = [&](std::size_t n) { return graph_.vertex(vertex.inputs[n]).bound.element_count(); };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return elements(a) > elements(b); });
    return order;
  }

  const EinGraph& graph_;
  const Labelling& labelling_;
  const int mesh_axes_;
  Placement out_;
};

}  // namespace

std::string MeshType::to_string() const {
  std::string out;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    out += (d == 0 ? "" : ", ") + std::to_string(largest_part(extents[d], std::int64_t{1} << axes[d].size()));
    if (axes[d].empty()) continue;
    std::string names;
    for (auto axis = axes[d].rbegin(); axis != axes[d].rend(); ++axis)
      names += (names.empty() ? "x" : ",x") + std::to_string(*axis);
    out += "{" + names + "}" + std::to_string(extents[d]);
  }
  return "[" + out + "]";
}

Placement place(const EinGraph& graph, const Labelling& labelling, std::int64_t workers) {
  return Placer(graph, labelling, log2_of(floor_power_of_two(workers))).run();
}

}  // namespace eindb
