#include "optimizer/partitions/placement.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "optimizer/partitions/mesh_cuts.hpp"
#include "plan/halo.hpp"
#include "tensor/access_form.hpp"

namespace eindb {
namespace {

std::size_t place_of(const Labels& labels, Label label) {
  return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
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
  std::vector<VertexId> inside;               // the chain's vertices except its result
  std::optional<AlignedLabels> aligned = {};  // of an access: the same axes cut both, so that parts lie together
  HaloFinder halos = {};                      // of the labels of inputs
};

// As plans for ranks have them: not where something is of cells.
void find_halos(const EinGraph& graph, const std::vector<const EinSum*>& steps, Unit& unit) {
  std::vector<HaloFinder::Operand> operands;
  for (const auto& input : unit.inputs) {
    if (graph.vertex(input.vertex).cells) return;
    operands.push_back({input.vertex.index(), input.labels});
  }
  unit.halos = HaloFinder(std::move(operands), unit.output, steps);
}

Unit unit_of(const EinGraph& graph, const Vertex& vertex, const LabelPartition& partition) {
  Unit unit{{}, vertex.einsum.output, vertex.einsum.aggregated, vertex.compute_dtype, partition, {}};
  for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
    unit.inputs.push_back({vertex.inputs[n], vertex.einsum.inputs[n]});
  unit.aligned = aligned_labels(vertex.einsum, graph.labels());
  find_halos(graph, {&vertex.einsum}, unit);
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
  std::vector<const EinSum*> steps;
  for (const auto id : chain.body) steps.push_back(&graph.vertex(id).einsum);
  find_halos(graph, steps, unit);
  return unit;
}

// The layout that is most like the place of a stored tensor: an axis cuts the dimension along which it separates the
// boxes of the first workers. The major axis separates them furthest.
MeshCuts cuts_like(const HeldParts& parts, const Shape& shape, const WorkerMesh& mesh) {
  MeshCuts out{shape.extents(), LabelAxes(shape.rank())};
  if (parts.held(0).empty()) return out;
  const auto& first = parts.held(0).front();
  std::vector<std::vector<std::pair<std::int64_t, int>>> found(shape.rank());  // negative distances, and axes
  for (int axis = 0; axis < mesh.axis_count(); ++axis) {
    const auto& other = parts.held(mesh.next_along(axis));
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
      if (mesh.parts(out.axes[d]) <= shape[d] / mesh.size(axis)) out.axes[d].push_back(axis);
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
        mesh_(inputs.workers()),
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
    out.mesh = Mesh::of_primes(static_cast<std::int64_t>(mesh_.worker_count()));
    for (auto& placed : placed_) {
      if (placed.follower) placed.calls.axes[*placed.follower].clear();
      out.vertices.push_back({std::move(placed.labels), type_of_cuts(placed.calls, out.mesh),
                              type_of_cuts(placed.result, out.mesh), placed.cost.received, placed.cost.most_received});
    }
    return out;
  }

  PlacementCost cost() {
    placed_.resize(graph_.size());
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      const auto& vertex = graph_.vertex(VertexId(v));
      const auto chain = chains_.find(VertexId(v));
      if (vertex.is_input()) placed_[v].result = cuts_like(inputs_.parts_of(VertexId(v)), vertex.bound, mesh_);
      else if (chain != chains_.end()) place_unit(VertexId(v), chain->second);
      else if (!inside_chains_[v]) place_unit(VertexId(v), unit_of(graph_, vertex, labelling_.vertices[v].partition));
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
    std::optional<std::size_t> follower = {};  // the place of the aligned label that has the axes of the other
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
    if (are_together(unit, out.calls.axes)) out.follower = place_of(out.labels, unit.aligned->label);
    out.result = scattered(id, unit, out.calls);
    out.cost = cost_of(unit, out.calls, &out.result);
    for (const auto& input : unit.inputs) {
      auto wanted = wanted_by(unit, out.calls, input.labels);
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

  // The layout in which calls read an operand.
  MeshCuts wanted_by(const Unit& unit, const MeshCuts& calls, const Labels& labels) const {
    const auto& all = unit.partition.labels;
    if (!unit.halos.finds_any()) return projected(all, calls, labels);
    LabelPartition parts{all, {}};
    for (const auto& axes : calls.axes) parts.parts.push_back(mesh_.parts(axes));
    const auto halos = unit.halos.halos(parts, graph_.labels());
    auto out = projected(all, calls, labels);
    for (const auto& halo : halos) {
      const auto place = place_of(labels, halo.label);
      if (place == labels.size()) continue;
      out.axes[place] = calls.axes[place_of(all, halo.leader)];
      out.reaches.resize(labels.size());
      out.reaches[place] = halo.reach;
    }
    return out;
  }

  // The bytes that an element takes on its way relative to those of a dense tile; of stored tensors one of a tile that
  // is there, as others are not lacked.
  static double share_of(const Vertex& vertex) {
    if (!vertex.cells || !vertex.is_input()) return vertex.packed_share();
    return std::min(1.0, vertex.packed_share() / std::max(vertex.density.present, 1e-6));
  }

  // Elements of a worker's part of `wanted` that it does not have.
  double lacking(VertexId input, const MeshCuts& wanted, std::size_t worker) const {
    if (!graph_.vertex(input).is_input()) return mesh_.missing(wanted, type_of(input), worker);
    if (!mesh_.holds_anything(wanted, worker)) return 0;
    IndexBox box;
    for (std::size_t d = 0; d < wanted.extents.size(); ++d) box.push_back(mesh_.held(wanted, d, worker));
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
    for (const auto& input : unit.inputs) wanted.push_back(wanted_by(unit, calls, input.labels));
    std::vector<std::size_t> received_for;
    for (std::size_t n = 0; n < wanted.size(); ++n)
      if (!is_there(unit, wanted, n)) received_for.push_back(n);
    double partial = 1;
    for (const auto label : reduced_labels(unit, calls))
      partial *= static_cast<double>(mesh_.parts(calls.axes[place_of(unit.partition.labels, label)]));
    const auto own = projected(unit.partition.labels, calls, unit.output);
    PlacementCost cost;
    for (std::size_t worker = 0; worker < mesh_.worker_count(); ++worker) {
      double received = 0;
      double bytes = 0;
      const auto add = [&](double elements, DType type, double share) {
        received += elements;
        bytes += elements * static_cast<double>(size_of(type)) * share;
      };
      for (const auto n : received_for) {
        const auto& vertex = graph_.vertex(unit.inputs[n].vertex);
        add(lacking(unit.inputs[n].vertex, wanted[n], worker), vertex.dtype, share_of(vertex));
      }
      // A worker receives all partial results of a cell that it has not computed, and all but its own otherwise.
      if (result != nullptr && partial > 1)
        add(partial * mesh_.missing(*result, own, worker) +
                (partial - 1) * (mesh_.elements_held(*result, worker) - mesh_.missing(*result, own, worker)),
            unit.partial_type, 1);
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
    for (const auto& [terms, offset] : unit.halos.equations()) {
      key.push_back(offset);
      for (const auto& [label, coefficient] : terms)
        add(std::array{static_cast<std::int64_t>(label.index()), coefficient});
    }
    for (const auto& input : unit.inputs) {
      const auto& vertex = graph_.vertex(input.vertex);
      add_labels(input.labels);
      const auto& moved_before = placed_[input.vertex.index()].moved;
      const auto same = std::find_if(unit.inputs.begin(), unit.inputs.end(),
                                     [&](const auto& other) { return other.vertex == input.vertex; });
      add(std::array{static_cast<std::int64_t>(vertex.dtype), static_cast<std::int64_t>(vertex.is_input()),
                     static_cast<std::int64_t>(same - unit.inputs.begin()),
                     static_cast<std::int64_t>(moved_before.size()), std::bit_cast<std::int64_t>(share_of(vertex))});
      for (const auto& moved : moved_before) {
        for (const auto& axes : moved.axes) add(axes);
        add(moved.first_only);
        for (std::size_t d = 0; d < moved.reaches.size(); ++d)
          if (const auto& reach = moved.reaches[d])
            add(std::array{static_cast<std::int64_t>(d), reach->extent, reach->step, reach->least, reach->most,
                           reach->divisor});
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
    std::vector<LabelAxes> ways;
    if (mesh_.axis_count() <= kFewAxes) ways = all_ways(unit);
    auto first = axes_along_inputs(unit);
    // Vectors that no axes make exactly may keep fewer workers busy when axes go along the inputs.
    if (!ways.empty() && parts_of(first) < parts_of(ways.front())) first = ways.front();
    auto best = calls_with(unit, std::move(first));
    auto cost = cost_of(unit, best, nullptr);
    const auto consider = [&](MeshCuts calls) {
      const auto other = cost_of(unit, calls, nullptr);
      if (std::pair(other.bytes, other.most_bytes) >= std::pair(cost.bytes, cost.most_bytes)) return;
      best = std::move(calls);
      cost = other;
    };
    for (auto& axes : ways) consider(calls_with(unit, std::move(axes)));
    auto fewer = best;
    fewer.first_only = unused_axes(best.axes);
    if (!fewer.first_only.empty()) consider(std::move(fewer));
    return best;
  }

  // The parts of the label space that axes make.
  std::int64_t parts_of(const LabelAxes& axes) const {
    std::int64_t parts = 1;
    for (const auto& of_label : axes) parts *= mesh_.parts(of_label);
    return parts;
  }

  MeshCuts calls_with(const Unit& unit, LabelAxes axes) const {
    MeshCuts calls;
    for (const auto label : unit.partition.labels) calls.extents.push_back(graph_.labels().extent(label));
    calls.axes = std::move(axes);
    if (unit.aligned) align(unit, calls.axes);
    return calls;
  }

  // Gives both of a unit's aligned labels the axes of each, as far as their parts stay aligned.
  void align(const Unit& unit, LabelAxes& axes) const {
    auto& own = axes[place_of(unit.partition.labels, unit.aligned->label)];
    auto& major = axes[place_of(unit.partition.labels, unit.aligned->major)];
    if (own == major) return;
    auto both = major;
    both.insert(both.end(), own.begin(), own.end());
    const auto parts = mesh_.parts(both);
    if (graph_.labels().extent(unit.aligned->major) % parts != 0 || graph_.labels().extent(unit.aligned->label) < parts)
      return;
    own = both;
    major = std::move(both);
  }

  // Whether the parts of two aligned labels lie together.
  static bool are_together(const Unit& unit, const LabelAxes& axes) {
    if (!unit.aligned) return false;
    const auto& own = axes[place_of(unit.partition.labels, unit.aligned->label)];
    return !own.empty() && own == axes[place_of(unit.partition.labels, unit.aligned->major)];
  }

  // The aggregated labels along which workers have partial results. Of two that lie together, each part of the one has
  // cells in a single part of the other.
  static Labels reduced_labels(const Unit& unit, const MeshCuts& calls) {
    if (!are_together(unit, calls.axes)) return unit.aggregated;
    const bool is_merged = !contains(unit.aggregated, unit.aligned->label);
    return difference(unit.aggregated, {is_merged ? unit.aligned->major : unit.aligned->label});
  }

  Axes unused_axes(const LabelAxes& used) const {
    Axes unused;
    for (int axis = 0; axis < mesh_.axis_count(); ++axis)
      if (std::none_of(used.begin(), used.end(),
                       [&](const Axes& axes) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }))
        unused.push_back(axis);
    return unused;
  }

  // All assignments of axes to labels that make the most parts without cutting a label further than its vector does;
  // empty if there are too many. If the vector makes as many calls as there are workers, or a multiple, all axes are
  // used.
  std::vector<LabelAxes> all_ways(const Unit& unit) const {
    std::vector<LabelAxes> ways;
    LabelAxes axes(unit.partition.labels.size());
    std::vector<bool> used(static_cast<std::size_t>(mesh_.axis_count()), false);
    std::int64_t most = 1;
    if (!add_ways(unit, 0, 1, most, used, axes, ways)) ways.clear();
    return ways;
  }

  // Extends the assignment label by label; each label gets some of the unused axes, in any order. `parts` are those of
  // the assignment, `most` those of the ways found.
  bool add_ways(const Unit& unit, std::size_t label, std::int64_t parts, std::int64_t& most, std::vector<bool>& used,
                LabelAxes& axes, std::vector<LabelAxes>& ways) const {
    if (label == axes.size()) {
      if (parts > most) ways.clear();
      most = std::max(most, parts);
      if (parts == most) ways.push_back(axes);
      return ways.size() <= kMostWays;
    }
    if (!add_ways(unit, label + 1, parts, most, used, axes, ways)) return false;
    const auto own = mesh_.parts(axes[label]);
    for (int axis = 0; axis < mesh_.axis_count(); ++axis) {
      const auto n = static_cast<std::size_t>(axis);
      if (used[n] || own * mesh_.size(axis) > unit.partition.parts[label]) continue;
      used[n] = true;
      axes[label].push_back(axis);
      const bool go_on = add_ways(unit, label, parts * mesh_.size(axis), most, used, axes, ways);
      axes[label].pop_back();
      used[n] = false;
      if (!go_on) return false;
    }
    return true;
  }

  LabelAxes axes_along_inputs(const Unit& unit) const {
    const auto& all = unit.partition.labels;
    LabelAxes axes(all.size());
    std::vector<bool> used(static_cast<std::size_t>(mesh_.axis_count()), false);
    const auto give = [&](std::size_t label, int axis, bool exactly) {
      if (used[static_cast<std::size_t>(axis)]) return false;
      const auto parts = unit.partition.parts[label];
      const auto next = mesh_.parts(axes[label]) * mesh_.size(axis);
      if (exactly ? parts % next != 0 : next > parts) return false;
      used[static_cast<std::size_t>(axis)] = true;
      axes[label].push_back(axis);
      return true;
    };
    for (const auto n : largest_first(unit)) {
      const auto& labels = unit.inputs[n].labels;
      for (std::size_t d = 0; d < labels.size(); ++d)
        for (const auto axis : type_of(unit.inputs[n].vertex).axes[d])
          if (!give(place_of(all, labels[d]), axis, true)) break;
    }
    Labels order = unit.output;
    append_distinct(order, all);
    // Parts that the axes do not divide, as a partition that is given may have, are cut less than they ask for.
    for (const bool exactly : {true, false})
      for (const auto label : order)
        for (int axis = 0; axis < mesh_.axis_count(); ++axis) give(place_of(all, label), axis, exactly);
    return axes;
  }

  std::vector<std::size_t> largest_first(const Unit& unit) const {
    std::vector<std::size_t> order(unit.inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto size = [&](std::size_t n) {
      const auto& vertex = graph_.vertex(unit.inputs[n].vertex);
      return static_cast<double>(vertex.bound.element_count()) * vertex.packed_share();
    };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return size(a) > size(b); });
    return order;
  }

  // The layout of the result once partial results along summed labels are combined. Their axes cut the result too:
  // dimensions that readers want cut come first, then the largest parts. An axis that finds no dimension to cut keeps
  // the result at its first place.
  MeshCuts scattered(VertexId id, const Unit& unit, const MeshCuts& calls) const {
    auto out = projected(unit.partition.labels, calls, unit.output);
    for (const auto label : reduced_labels(unit, calls)) {
      for (const auto axis : calls.axes[place_of(unit.partition.labels, label)]) {
        if (const auto d = dimension_to_cut(id, out, axis)) out.axes[*d].push_back(axis);
        else out.first_only.push_back(axis);
      }
    }
    return out;
  }

  std::optional<std::size_t> dimension_to_cut(VertexId id, const MeshCuts& type, int axis) const {
    std::optional<std::size_t> best;
    std::pair<bool, double> best_rank;
    for (std::size_t d = 0; d < type.extents.size(); ++d) {
      const auto parts = mesh_.parts(type.axes[d]);
      if (type.extents[d] < mesh_.size(axis) * parts) continue;
      const std::pair rank(is_cut_by_reader(id, d, mesh_.size(axis) * parts),
                           static_cast<double>(type.extents[d]) / static_cast<double>(parts));
      if (best && rank <= best_rank) continue;
      best = d;
      best_rank = rank;
    }
    return best;
  }

  // Whether some reader cuts dimension d of a vertex's result at all places where `parts` parts do.
  bool is_cut_by_reader(VertexId id, std::size_t d, std::int64_t parts) const {
    for (const auto reader : readers_[id.index()]) {
      const auto& vertex = graph_.vertex(reader);
      const auto& partition = labelling_.vertices[reader.index()].partition;
      for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
        if (vertex.inputs[n] == id && partition.of(vertex.einsum.inputs[n][d]) % parts == 0) return true;
    }
    return false;
  }

  const EinGraph& graph_;
  const Labelling& labelling_;
  const InputPlaces& inputs_;
  KnownCalls& known_;
  const WorkerMesh mesh_;
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
