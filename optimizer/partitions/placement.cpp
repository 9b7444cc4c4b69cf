#include "optimizer/partitions/placement.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "optimizer/partitions/viable.hpp"

namespace eindb {
namespace {

using Axes = std::vector<int>;
// For each label of a partition vector the axes that cut it, the major one first.
using LabelAxes = std::vector<Axes>;

// The layout of a tensor, or of the label space of a vertex, while axes are given out: a DistributedType on a mesh of
// twos in a form that is cheap to change. Lists the axes that cut each dimension, the major one first.
struct MeshCuts {
  std::vector<std::int64_t> extents;
  LabelAxes axes;
  Axes first_only = {};

  friend bool operator==(const MeshCuts&, const MeshCuts&) = default;
};

std::vector<std::size_t> axis_numbers(const Axes& axes) { return {axes.begin(), axes.end()}; }

DistributedType type_of_cuts(const MeshCuts& cuts, const Mesh& mesh) {
  std::vector<DistributedDimension> dimensions;
  for (std::size_t d = 0; d < cuts.extents.size(); ++d)
    dimensions.push_back({cuts.extents[d], {cuts.axes[d].rbegin(), cuts.axes[d].rend()}});
  return {mesh, std::move(dimensions), axis_numbers(cuts.first_only)};
}

int log2_of(std::int64_t power) { return std::bit_width(static_cast<std::uint64_t>(power)) - 1; }

int cuts_of(std::int64_t parts) { return log2_of(floor_power_of_two(parts)); }

std::size_t place_of(const Labels& labels, Label label) {
  return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

// The range of indices of one dimension that a worker holds.
PartRange held(std::int64_t extent, const Axes& axes, std::size_t worker) {
  std::int64_t place = 0;
  for (const auto axis : axes) place = 2 * place + static_cast<std::int64_t>((worker >> axis) & 1U);
  return part_range(extent, std::int64_t{1} << axes.size(), place);
}

bool holds_anything(const MeshCuts& type, std::size_t worker) {
  return std::all_of(type.first_only.begin(), type.first_only.end(),
                     [&](int axis) { return ((worker >> axis) & 1U) == 0; });
}

// Elements of a worker's part of `wanted` that it does not hold in `source`.
double missing(const MeshCuts& wanted, const MeshCuts& source, std::size_t worker) {
  if (!holds_anything(wanted, worker)) return 0;
  double needed = 1;
  double there = holds_anything(source, worker) ? 1 : 0;
  for (std::size_t d = 0; d < wanted.extents.size(); ++d) {
    const auto need = held(wanted.extents[d], wanted.axes[d], worker);
    const auto have = held(wanted.extents[d], source.axes[d], worker);
    needed *= static_cast<double>(need.size);
    there *= static_cast<double>(
        std::max<std::int64_t>(0, std::min(need.end(), have.end()) - std::max(need.begin, have.begin)));
  }
  return needed - there;
}

double elements_held(const MeshCuts& type, std::size_t worker) {
  if (!holds_anything(type, worker)) return 0;
  double elements = 1;
  for (std::size_t d = 0; d < type.extents.size(); ++d)
    elements *= static_cast<double>(held(type.extents[d], type.axes[d], worker).size);
  return elements;
}

// A unit of placement: a vertex, or a whole chain.
struct Unit {
  struct Input {
    VertexId vertex;
    Labels labels;
  };
  std::vector<Input> inputs;
  Labels output;
  Labels aggregated;
  DType partial_type;  // of results that are still to be combined
  LabelPartition partition;
  std::vector<VertexId> inside;  // the chain's vertices except its result
};

Unit unit_of(const Vertex& vertex, const LabelPartition& partition) {
  Unit unit{{}, vertex.einsum.output, vertex.einsum.aggregated, vertex.compute_dtype, partition, {}};
  for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
    unit.inputs.push_back({vertex.inputs[n], vertex.einsum.inputs[n]});
  return unit;
}

Unit unit_of(const EinGraph& graph, const FusedChain& chain, const LabelPartition& partition) {
  const auto& last = graph.vertex(chain.result);
  Unit unit{{}, last.einsum.output, {}, last.compute_dtype, partition, {}};
  for (const auto label : partition.labels)
    if (!contains(unit.output, label)) unit.aggregated.push_back(label);
  for (const auto id : chain.body) {
    const auto& vertex = graph.vertex(id);
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
      if (!std::binary_search(chain.body.begin(), chain.body.end(), vertex.inputs[n]))
        unit.inputs.push_back({vertex.inputs[n], vertex.einsum.inputs[n]});
    if (id != chain.result) unit.inside.push_back(id);
  }
  return unit;
}

// The layout that is most like the place of a stored tensor: an axis cuts the dimension along which it separates the
// boxes of the first workers. The major axis separates them furthest.
MeshCuts cuts_like(const HeldParts& parts, const Shape& shape, int mesh_axes) {
  MeshCuts out{shape.extents(), LabelAxes(shape.rank())};
  if (parts.held(0).empty()) return out;
  const auto& first = parts.held(0).front();
  std::vector<std::vector<std::pair<std::int64_t, int>>> found(shape.rank());  // negative distances, and axes
  for (int axis = 0; axis < mesh_axes; ++axis) {
    const auto& other = parts.held(std::size_t{1} << axis);
    if (other.empty()) continue;
    for (std::size_t d = 0; d < shape.rank(); ++d) {
      const auto distance = other.front()[d].begin - first[d].begin;
      if (distance <= 0) continue;
      found[d].emplace_back(-distance, axis);
      break;
    }
  }
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    std::sort(found[d].begin(), found[d].end());
    for (const auto& [distance, axis] : found[d])
      if (static_cast<int>(out.axes[d].size()) < cuts_of(shape[d])) out.axes[d].push_back(axis);
  }
  return out;
}

class Placer {
 public:
  Placer(const EinGraph& graph, const Labelling& labelling, const InputPlaces& inputs, KnownCalls& known)
      : graph_(graph),
        labelling_(labelling),
        inputs_(inputs),
        known_(known),
        mesh_axes_(cuts_of(inputs.workers())),
        workers_(std::size_t{1} << mesh_axes_),
        inside_chains_(graph.size(), false),
        readers_(graph.size()) {
    std::vector<LabelPartition> partitions;
    for (const auto& vertex : labelling.vertices) partitions.push_back(vertex.partition);
    for (const auto& chain : graph.chains()) {
      const auto partition = partition_of_chain(graph, chain, partitions);
      if (!partition) continue;
      const auto unit = chains_.emplace(chain.result, unit_of(graph, chain, *partition)).first;
      for (const auto inside : unit->second.inside) inside_chains_[inside.index()] = true;
    }
    for (std::size_t v = 0; v < graph.size(); ++v)
      for (const auto input : graph.vertex(VertexId(v)).inputs) readers_[input.index()].emplace_back(v);
  }

  Placement run() {
    Placement out;
    static_cast<PlacementCost&>(out) = cost();
    out.mesh_axes = mesh_axes_;
    const auto mesh = Mesh::of_twos(mesh_axes_);
    for (auto& placed : placed_)
      out.vertices.push_back({std::move(placed.labels), type_of_cuts(placed.calls, mesh),
                              type_of_cuts(placed.result, mesh), placed.cost.received, placed.cost.most_received});
    return out;
  }

  PlacementCost cost() {
    placed_.resize(graph_.size());
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      const auto& vertex = graph_.vertex(VertexId(v));
      const auto chain = chains_.find(VertexId(v));
      if (vertex.is_input()) placed_[v].result = cuts_like(inputs_.parts_of(VertexId(v)), vertex.bound, mesh_axes_);
      else if (chain != chains_.end()) place_unit(VertexId(v), chain->second);
      else if (!inside_chains_[v]) place_unit(VertexId(v), unit_of(vertex, labelling_.vertices[v].partition));
    }
    PlacementCost sum;
    for (const auto& placed : placed_) {
      sum.received += placed.cost.received;
      sum.most_received += placed.cost.most_received;
      sum.bytes += placed.cost.bytes;
      sum.most_bytes += placed.cost.most_bytes;
    }
    return sum;
  }

 private:
  // Limits on the exhaustive search over assignments of axes.
  static constexpr int kFewAxes = 4;
  static constexpr int kMostWays = 1 << 12;

  struct Placed {
    Labels labels;
    MeshCuts calls;
    MeshCuts result;
    std::vector<MeshCuts> moved;  // layouts to which the result was brought for readers
    PlacementCost cost;
  };

  const MeshCuts& type_of(VertexId v) const { return placed_[v.index()].result; }

  void place_unit(VertexId id, const Unit& unit) {
    auto& out = placed_[id.index()];
    out.labels = unit.partition.labels;
    out.calls = calls_of(unit);
    // An output is computed by one worker only, since copies could differ in the order of additions.
    if (graph_.is_output(id)) out.calls.first_only = unused_axes(out.calls.axes);
    out.result = scattered(id, unit, out.calls);
    out.cost = cost_of(unit, out.calls, &out.result);
    for (const auto& input : unit.inputs) {
      auto wanted = projected(unit.partition.labels, out.calls, input.labels);
      auto& moved = placed_[input.vertex.index()].moved;
      if (std::find(moved.begin(), moved.end(), wanted) == moved.end()) moved.push_back(std::move(wanted));
    }
    for (const auto inside : unit.inside) {
      auto& within = placed_[inside.index()];
      within.labels = out.labels;
      within.calls = out.calls;
      within.result = projected(unit.partition.labels, out.calls, graph_.vertex(inside).einsum.output);
    }
  }

  // The layout of the calls projected to the given labels.
  MeshCuts projected(const Labels& all, const MeshCuts& calls, const Labels& labels) const {
    MeshCuts out;
    for (const auto label : labels) {
      out.extents.push_back(graph_.labels().extent(label));
      out.axes.push_back(calls.axes[place_of(all, label)]);
    }
    out.first_only = calls.first_only;
    return out;
  }

  // Elements of a worker's part of `wanted` that it does not have.
  double lacking(VertexId input, const MeshCuts& wanted, std::size_t worker) const {
    if (!graph_.vertex(input).is_input()) return missing(wanted, type_of(input), worker);
    if (!holds_anything(wanted, worker)) return 0;
    IndexBox box;
    for (std::size_t d = 0; d < wanted.extents.size(); ++d)
      box.push_back(held(wanted.extents[d], wanted.axes[d], worker));
    return inputs_.parts_of(input).missing(box, worker);
  }

  // Whether operand n of a unit comes in the same layout as an earlier operand, or for an earlier unit.
  bool is_there(const Unit& unit, const std::vector<MeshCuts>& wanted, std::size_t n) const {
    const auto input = unit.inputs[n].vertex;
    for (std::size_t other = 0; other < n; ++other)
      if (unit.inputs[other].vertex == input && wanted[other] == wanted[n]) return true;
    const auto& moved = placed_[input.index()].moved;
    return std::find(moved.begin(), moved.end(), wanted[n]) != moved.end();
  }

  // The bytes that workers receive for the calls of a unit and, if `result` is not null, for its result.
  PlacementCost cost_of(const Unit& unit, const MeshCuts& calls, const MeshCuts* result) const {
    std::vector<MeshCuts> wanted;
    for (const auto& input : unit.inputs) wanted.push_back(projected(unit.partition.labels, calls, input.labels));
    std::vector<std::size_t> received_for;
    for (std::size_t n = 0; n < wanted.size(); ++n)
      if (!is_there(unit, wanted, n)) received_for.push_back(n);
    double partial = 1;
    for (const auto label : unit.aggregated)
      partial *= static_cast<double>(std::int64_t{1} << calls.axes[place_of(unit.partition.labels, label)].size());
    const auto own = projected(unit.partition.labels, calls, unit.output);
    PlacementCost cost;
    for (std::size_t worker = 0; worker < workers_; ++worker) {
      double received = 0;
      double bytes = 0;
      const auto add = [&](double elements, DType type) {
        received += elements;
        bytes += elements * static_cast<double>(size_of(type));
      };
      for (const auto n : received_for)
        add(lacking(unit.inputs[n].vertex, wanted[n], worker), graph_.vertex(unit.inputs[n].vertex).dtype);
      // A worker receives all partial results of a cell that it has not computed, and all but its own otherwise.
      if (result != nullptr && partial > 1)
        add(partial * missing(*result, own, worker) +
                (partial - 1) * (elements_held(*result, worker) - missing(*result, own, worker)),
            unit.partial_type);
      cost.received += received;
      cost.most_received = std::max(cost.most_received, received);
      cost.bytes += bytes;
      cost.most_bytes = std::max(cost.most_bytes, bytes);
    }
    return cost;
  }

  MeshCuts calls_of(const Unit& unit) const {
    auto key = key_of(unit);
    if (const auto* known = known_.find(key)) {
      auto calls = calls_with(unit, known->axes);
      calls.first_only = known->first_only;
      return calls;
    }
    auto calls = best_calls(unit);
    known_.add(std::move(key), {calls.axes, calls.first_only});
    return calls;
  }

  KnownCalls::Key key_of(const Unit& unit) const {
    KnownCalls::Key key;
    const auto add = [&](const auto& values) {
      key.push_back(static_cast<std::int64_t>(values.size()));
      for (const auto value : values) key.push_back(static_cast<std::int64_t>(value));
    };
    const auto add_labels = [&](const Labels& labels) {
      std::vector<std::size_t> numbers;
      for (const auto label : labels) numbers.push_back(label.index());
      add(numbers);
    };
    add_labels(unit.partition.labels);
    add(unit.partition.parts);
    add_labels(unit.output);
    for (const auto& input : unit.inputs) {
      const auto& vertex = graph_.vertex(input.vertex);
      add_labels(input.labels);
      const auto& moved_before = placed_[input.vertex.index()].moved;
      const auto same = std::find_if(unit.inputs.begin(), unit.inputs.end(),
                                     [&](const auto& other) { return other.vertex == input.vertex; });
      add(std::array{static_cast<std::int64_t>(vertex.dtype), static_cast<std::int64_t>(vertex.is_input()),
                     static_cast<std::int64_t>(same - unit.inputs.begin()),
                     static_cast<std::int64_t>(moved_before.size())});
      for (const auto& moved : moved_before) {
        for (const auto& axes : moved.axes) add(axes);
        add(moved.first_only);
      }
      if (vertex.is_input()) {
        key.push_back(static_cast<std::int64_t>(inputs_.number_of(input.vertex)));
        continue;
      }
      for (const auto& axes : type_of(input.vertex).axes) add(axes);
      add(type_of(input.vertex).first_only);
    }
    return key;
  }

  MeshCuts best_calls(const Unit& unit) const {
    auto best = calls_with(unit, axes_along_inputs(unit));
    auto cost = cost_of(unit, best, nullptr);
    const auto consider = [&](MeshCuts calls) {
      const auto other = cost_of(unit, calls, nullptr);
      if (std::pair(other.bytes, other.most_bytes) >= std::pair(cost.bytes, cost.most_bytes)) return;
      best = std::move(calls);
      cost = other;
    };
    if (mesh_axes_ <= kFewAxes)
      for (auto& axes : all_ways(unit)) consider(calls_with(unit, std::move(axes)));
    auto fewer = best;
    fewer.first_only = unused_axes(best.axes);
    if (!fewer.first_only.empty()) consider(std::move(fewer));
    return best;
  }

  MeshCuts calls_with(const Unit& unit, LabelAxes axes) const {
    MeshCuts calls;
    for (const auto label : unit.partition.labels) calls.extents.push_back(graph_.labels().extent(label));
    calls.axes = std::move(axes);
    return calls;
  }

  Axes unused_axes(const LabelAxes& used) const {
    Axes unused;
    for (int axis = 0; axis < mesh_axes_; ++axis)
      if (std::none_of(used.begin(), used.end(),
                       [&](const Axes& axes) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }))
        unused.push_back(axis);
    return unused;
  }

  // All assignments of axes to cuts of labels; empty if there are too many.
  std::vector<LabelAxes> all_ways(const Unit& unit) const {
    std::vector<LabelAxes> ways;
    LabelAxes axes(unit.partition.labels.size());
    std::vector<bool> used(static_cast<std::size_t>(mesh_axes_), false);
    int cuts = 0;
    for (const auto parts : unit.partition.parts) cuts += cuts_of(parts);
    if (!add_ways(unit, 0, std::min(cuts, mesh_axes_), used, axes, ways)) ways.clear();
    return ways;
  }

  // Extends the assignment label by label; each label gets some of the unused axes, in any order.
  bool add_ways(const Unit& unit, std::size_t label, int left, std::vector<bool>& used, LabelAxes& axes,
                std::vector<LabelAxes>& ways) const {
    if (left == 0) {
      ways.push_back(axes);
      return ways.size() <= kMostWays;
    }
    if (label == axes.size()) return true;
    if (!add_ways(unit, label + 1, left, used, axes, ways)) return false;
    if (static_cast<int>(axes[label].size()) == cuts_of(unit.partition.parts[label])) return true;
    for (int axis = 0; axis < mesh_axes_; ++axis) {
      const auto n = static_cast<std::size_t>(axis);
      if (used[n]) continue;
      used[n] = true;
      axes[label].push_back(axis);
      const bool go_on = add_ways(unit, label, left - 1, used, axes, ways);
      axes[label].pop_back();
      used[n] = false;
      if (!go_on) return false;
    }
    return true;
  }

  LabelAxes axes_along_inputs(const Unit& unit) const {
    const auto& all = unit.partition.labels;
    LabelAxes axes(all.size());
    std::vector<bool> used(static_cast<std::size_t>(mesh_axes_), false);
    const auto give = [&](std::size_t label, int axis) {
      if (used[static_cast<std::size_t>(axis)]) return false;
      if (static_cast<int>(axes[label].size()) >= cuts_of(unit.partition.parts[label])) return false;
      used[static_cast<std::size_t>(axis)] = true;
      axes[label].push_back(axis);
      return true;
    };
    for (const auto n : largest_first(unit)) {
      const auto& labels = unit.inputs[n].labels;
      for (std::size_t d = 0; d < labels.size(); ++d)
        for (const auto axis : type_of(unit.inputs[n].vertex).axes[d])
          if (!give(place_of(all, labels[d]), axis)) break;
    }
    Labels order = unit.output;
    append_distinct(order, all);
    for (const auto label : order)
      for (int axis = 0; axis < mesh_axes_; ++axis) give(place_of(all, label), axis);
    return axes;
  }

  std::vector<std::size_t> largest_first(const Unit& unit) const {
    std::vector<std::size_t> order(unit.inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto elements = [&](std::size_t n) { return graph_.vertex(unit.inputs[n].vertex).bound.element_count(); };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return elements(a) > elements(b); });
    return order;
  }

  // The layout of the result once partial results along summed labels are combined. Their axes cut the result too:
  // dimensions that readers want cut come first, then the largest parts. An axis that finds no dimension to cut keeps
  // the result at its first place.
  MeshCuts scattered(VertexId id, const Unit& unit, const MeshCuts& calls) const {
    auto out = projected(unit.partition.labels, calls, unit.output);
    for (const auto label : unit.aggregated) {
      for (const auto axis : calls.axes[place_of(unit.partition.labels, label)]) {
        if (const auto d = dimension_to_cut(id, out)) out.axes[*d].push_back(axis);
        else out.first_only.push_back(axis);
      }
    }
    return out;
  }

  std::optional<std::size_t> dimension_to_cut(VertexId id, const MeshCuts& type) const {
    const auto wanted = cuts_wanted(id, type.extents.size());
    std::optional<std::size_t> best;
    std::pair<bool, double> best_rank;
    for (std::size_t d = 0; d < type.extents.size(); ++d) {
      const auto parts = std::int64_t{1} << type.axes[d].size();
      if (type.extents[d] < 2 * parts) continue;
      const std::pair rank(static_cast<int>(type.axes[d].size()) < wanted[d],
                           static_cast<double>(type.extents[d]) / static_cast<double>(parts));
      if (best && rank <= best_rank) continue;
      best = d;
      best_rank = rank;
    }
    return best;
  }

  // For each dimension of a vertex's result, the largest number of cuts that a reader makes.
  std::vector<int> cuts_wanted(VertexId id, std::size_t rank) const {
    std::vector<int> cuts(rank, 0);
    for (const auto reader : readers_[id.index()]) {
      const auto& vertex = graph_.vertex(reader);
      const auto& partition = labelling_.vertices[reader.index()].partition;
      for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
        if (vertex.inputs[n] != id) continue;
        for (std::size_t d = 0; d < rank; ++d)
          cuts[d] = std::max(cuts[d], cuts_of(partition.of(vertex.einsum.inputs[n][d])));
      }
    }
    return cuts;
  }

  const EinGraph& graph_;
  const Labelling& labelling_;
  const InputPlaces& inputs_;
  KnownCalls& known_;
  const int mesh_axes_;
  const std::size_t workers_;
  std::map<VertexId, Unit> chains_;
  std::vector<bool> inside_chains_;  // of each vertex, whether it is one of a chain but not its result
  std::vector<std::vector<VertexId>> readers_;
  std::vector<Placed> placed_;  // entry n belongs to VertexId(n)
};

}  // namespace

Placement place(const EinGraph& graph, const Labelling& labelling, const InputPlaces& inputs) {
  KnownCalls known;
  return Placer(graph, labelling, inputs, known).run();
}

Placement place(const EinGraph& graph, const Labelling& labelling, std::int64_t workers) {
  return place(graph, labelling, InputPlaces(graph, workers));
}

PlacementCost placement_cost(const EinGraph& graph, const Labelling& labelling, const InputPlaces& inputs,
                             KnownCalls& known) {
  return Placer(graph, labelling, inputs, known).cost();
}

}  // namespace eindb
