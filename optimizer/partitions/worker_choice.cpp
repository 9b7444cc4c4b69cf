#include "optimizer/partitions/worker_choice.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/viable.hpp"
#include "optimizer/partitions/wire_model.hpp"

namespace eindb {
namespace {

// Limit on vertices times workers visited by all placements together: some tenths of a second.
constexpr double kMostVisits = 1 << 19;
constexpr std::size_t kMostVectorsInSlices = 64;

std::vector<LabelPartition> partitions_of(const Labelling& labelling) {
  std::vector<LabelPartition> out;
  for (const auto& vertex : labelling.vertices) out.push_back(vertex.partition);
  return out;
}

using Group = std::vector<std::size_t>;  // of vertices

class Choice {
 public:
  Choice(const EinGraph& graph, const DecompositionOptions& options, std::int64_t workers)
      : graph_(graph),
        options_(options),
        workers_(workers),
        in_chain_(in_chains(graph)),
        groups_(groups_alike()),
        visits_per_placement_(static_cast<double>(graph.size()) * static_cast<double>(workers)) {}

  void consider(std::vector<LabelPartition> partitions) {
    if (!keeps_all_busy(partitions) || !is_new(partitions)) return;
    auto labelling = evaluate(graph_, std::move(partitions), options_);
    const auto placed = placement_cost(graph_, labelling, workers_, known_);
    visits_ += visits_per_placement_;
    const std::tuple cost(placed.received, placed.most_received, labelling.total_cost);
    if (!best_)
      for (const auto& vertex : labelling.vertices) least_calls_.push_back(vertex.partition.kernel_calls());
    if (best_ && cost >= cost_) return;
    best_ = std::move(labelling);
    cost_ = cost;
  }

  // Tries the vectors of one layer of a model for all layers, for each layer in turn.
  void consider_layers_of(const std::vector<LabelPartition>& found) {
    std::size_t layers = 0;
    for (const auto& group : groups_) layers = std::max(layers, group.size());
    std::set<std::vector<std::vector<std::int64_t>>> seen;
    for (std::size_t layer = 0; layers > 1 && layer < layers && is_within_work(); ++layer) {
      auto partitions = found;
      std::vector<std::vector<std::int64_t>> of_layer;
      for (const auto& group : groups_) {
        DCHECK(layer * group.size() / layers < group.size(), "every layer has a vertex of each group");
        of_layer.push_back(found[group[layer * group.size() / layers]].parts);
        for (const auto v : group) partitions[v].parts = of_layer.back();
      }
      if (seen.insert(std::move(of_layer)).second) consider(std::move(partitions));
    }
  }

  // Tries other vectors, first for the same vertex of all layers at a time, then for single vertices, until none
  // improves.
  void improve() {
    improve(groups_);
    std::vector<Group> single;
    for (std::size_t v = 0; v < graph_.size(); ++v)
      if (!graph_.vertex(VertexId(v)).is_input()) single.push_back({v});
    improve(single);
  }

  Labelling take() {
    CHECK(best_.has_value(), "the first labelling considered keeps all workers busy");
    return *std::move(best_);
  }

 private:
  // Fewer kernel calls move less, and one worker alone moves nothing. So a candidate must make as many calls at every
  // vertex as the first labelling, EinDecomp's.
  bool keeps_all_busy(const std::vector<LabelPartition>& partitions) const {
    CHECK(partitions.size() == graph_.size(), "a candidate has a vector for every vertex");
    for (std::size_t v = 0; v < least_calls_.size(); ++v)
      if (partitions[v].kernel_calls() < least_calls_[v]) return false;
    return true;
  }

  // Several rules may give the same vectors.
  bool is_new(const std::vector<LabelPartition>& partitions) {
    std::vector<std::vector<std::int64_t>> vectors;
    for (const auto& partition : partitions) vectors.push_back(partition.parts);
    return considered_.insert(std::move(vectors)).second;
  }

  bool is_within_work() const { return visits_ + visits_per_placement_ <= kMostVisits; }

  static std::vector<bool> in_chains(const EinGraph& graph) {
    std::vector<bool> in_chain(graph.size(), false);
    for (const auto& chain : graph.chains())
      for (const auto id : chain.body) in_chain[id.index()] = true;
    return in_chain;
  }

  // Groups of vertices with the same labels and the same candidate vectors, in the order of the graph.
  std::vector<Group> groups_alike() const {
    std::map<std::tuple<std::vector<Labels>, Labels, Labels, std::vector<std::int64_t>, bool>, Group> groups;
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      const auto& vertex = graph_.vertex(VertexId(v));
      if (vertex.is_input()) continue;
      const auto& einsum = vertex.einsum;
      groups[{einsum.inputs, einsum.output, einsum.aggregated, graph_.slices_of(VertexId(v)), in_chain_[v]}].push_back(
          v);
    }
    std::vector<Group> out;
    for (auto& [labels, group] : groups) out.push_back(std::move(group));
    return out;
  }

  void improve(const std::vector<Group>& groups) {
    for (bool improved = true; improved && is_within_work();) {
      const auto before = cost_;
      for (const auto& group : groups)
        if (is_within_work() && !in_chain_[group.front()]) improve(group);
      improved = cost_ < before;
    }
  }

  void improve(const Group& group) {
    const auto v = group.front();
    CHECK(best_.has_value() && v < best_->vertices.size(), "a labelling is there before it is improved");
    const auto& vertex = graph_.vertex(VertexId(v));
    const auto extents = cuttable_extents(vertex.einsum, vertex.compute_dtype, graph_.labels());
    for (const auto& parts :
         viable_in_slices(extents, graph_.slices_of(VertexId(v)), options_.parallelism, kMostVectorsInSlices)) {
      if (parts == best_->vertices[v].partition.parts || !is_within_work()) continue;
      auto partitions = partitions_of(*best_);
      for (const auto member : group) partitions[member].parts = parts;
      consider(std::move(partitions));
    }
  }

  const EinGraph& graph_;
  const DecompositionOptions& options_;
  const std::int64_t workers_;
  const std::vector<bool> in_chain_;  // of each vertex
  const std::vector<Group> groups_;
  const double visits_per_placement_;
  double visits_ = 0;
  KnownCalls known_;
  std::set<std::vector<std::vector<std::int64_t>>> considered_;
  std::vector<std::int64_t> least_calls_;  // of each vertex
  std::optional<Labelling> best_;
  std::tuple<double, double, double> cost_;
};

}  // namespace

Labelling label_for_workers(const EinGraph& graph, const Strategy& strategy, const DecompositionOptions& options,
                            std::int64_t workers) {
  if (strategy.kind != Strategy::Kind::EinDecomp) return label(graph, strategy, options);
  Choice choice(graph, options, workers);
  const WireModel wire(floor_power_of_two(workers));
  auto by_wire = options;
  by_wire.model = &wire;
  const auto received_least = partitions_of(label(graph, strategy, by_wire));
  const auto moved_least = partitions_of(label(graph, strategy, options));
  choice.consider(received_least);
  choice.consider(moved_least);
  auto others = all_strategies();
  for (auto& rule : rules_of_labels(graph)) others.push_back(std::move(rule));
  for (const auto& other : others) {
    if (other.kind == strategy.kind) continue;
    try {
      choice.consider(partitions_of(label(graph, other, options)));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Label) throw;  // the strategy does not apply to this graph
    }
  }
  choice.consider_layers_of(received_least);
  choice.consider_layers_of(moved_least);
  choice.improve();
  return choice.take();
}

}  // namespace eindb
