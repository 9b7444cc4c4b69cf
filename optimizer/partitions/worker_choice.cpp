#include "optimizer/partitions/worker_choice.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/check.hpp"
#include "common/divisors.hpp"
#include "common/error.hpp"
#include "optimizer/partitions/label_rules.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/viable.hpp"
#include "optimizer/partitions/wire_model.hpp"
#include "optimizer/partitions/worker_count.hpp"

namespace eindb {
namespace {

// Limit on vertices times workers visited by all placements together: some tenths of a second.
constexpr double kMostVisits = 1 << 20;
// The time of counting the bytes of a whole plan, in placements.
constexpr double kPlacementsPerCount = 32;
// Shares of the work after which no other rule is tried, no change of a component, and no other start is improved.
constexpr double kShareOfRules = 0.125;
constexpr double kShareOfComponents = 0.75;
constexpr double kShareOfStarts = 0.125;
constexpr std::size_t kMostVectorsInSlices = 64;

std::vector<LabelPartition> partitions_of(const Labelling& labelling) {
  std::vector<LabelPartition> out;
  for (const auto& vertex : labelling.vertices) out.push_back(vertex.partition);
  return out;
}

using Group = std::vector<std::size_t>;  // of vertices

class Choice {
 public:
  Choice(const EinGraph& graph, const DecompositionOptions& options, const InputPlaces& inputs)
      : graph_(graph),
        options_(options),
        inputs_(inputs),
        in_chain_(in_chains(graph)),
        groups_(groups_alike()),
        visits_per_placement_(static_cast<double>(graph.size()) * static_cast<double>(inputs.workers()) +
                              inputs.boxes_read()) {}

  void consider(std::vector<LabelPartition> partitions) {
    if (!keeps_all_busy(partitions) || considered_.contains(vectors_of(partitions))) return;
    take_if_better(std::move(partitions));
  }

  // Considers the vectors that a rule gives. They may also be improved, and be counted in the end.
  void consider_rule(std::vector<LabelPartition> partitions) {
    if (!keeps_all_busy(partitions)) return;
    const auto known = considered_.find(vectors_of(partitions));
    const auto received = known != considered_.end() ? known->second : take_if_better(partitions);
    of_rules_.push_back({received, std::move(partitions)});
  }

  // Whether less than a share of the work was done. Models of many layers have many components of labels, and as many
  // rules, before their layers are improved.
  bool is_within(double share) const { return visits_ + visits_per_placement_ <= share * kMostVisits; }
  bool is_within_work() const { return visits_ + visits_per_placement_ <= kMostVisits; }

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

  // Improves the best of the vectors that were considered, and then some of those that rules gave: tries other vectors,
  // first for whole components of labels, then for the same vertex of all layers at a time, then for single vertices,
  // until none improves.
  void improve(const std::vector<Labels>& components) {
    constexpr std::size_t kMostStarts = 4;
    sort_rules();
    auto starts = of_rules_;
    if (starts.size() > kMostStarts) starts.resize(kMostStarts);
    current_ = best_;
    improve_current(components);
    for (auto& start : starts) {
      if (!is_within(kShareOfStarts)) return;
      current_ = Improved{evaluate(graph_, std::move(start.partitions), options_), start.received};
      improve_current(components);
    }
  }

  // With `count`, the best of those that rules gave and of the one found, by bytes counted exactly.
  Labelling take(const CountedBytes& count) {
    CHECK(best_.has_value(), "the first labelling considered keeps all workers busy");
    if (!count) return std::move(best_->labelling);
    sort_rules();
    auto least = count(best_->labelling);
    std::set<Vectors> counted{vectors_of(partitions_of(best_->labelling))};
    double visits = 0;
    for (auto& [received, partitions] : of_rules_) {
      if (!counted.insert(vectors_of(partitions)).second) continue;
      visits += kPlacementsPerCount * visits_per_placement_;
      if (visits > kMostVisits) break;
      auto other = evaluate(graph_, std::move(partitions), options_);
      const auto bytes = count(other);
      if (bytes >= least) continue;
      least = bytes;
      best_->labelling = std::move(other);
    }
    return std::move(best_->labelling);
  }

 private:
  using Received = std::pair<double, double>;  // bytes, by all and by the busiest
  using Vectors = std::vector<std::vector<std::int64_t>>;
  struct OfRule {
    Received received;
    std::vector<LabelPartition> partitions;
  };
  struct Improved {
    Labelling labelling;
    Received received;

    bool is_worse_than(const Labelling& other, const Received& of_other) const {
      return of_other < received || (of_other == received && other.total_cost < labelling.total_cost);
    }
  };

  void sort_rules() {
    std::stable_sort(of_rules_.begin(), of_rules_.end(),
                     [](const auto& a, const auto& b) { return a.received < b.received; });
  }

  // Returns what workers receive by the vectors. Only of those that are as good as the current ones the costs are
  // computed.
  Received take_if_better(std::vector<LabelPartition> partitions) {
    auto vectors = vectors_of(partitions);
    Labelling labelling;
    for (auto& partition : partitions) labelling.vertices.push_back({std::move(partition)});
    const auto placed = placement_cost(graph_, labelling, inputs_, known_);
    visits_ += visits_per_placement_;
    const Received received(placed.bytes, placed.most_bytes);
    considered_.emplace(std::move(vectors), received);
    if (!best_)
      for (const auto& vertex : labelling.vertices)
        least_.push_back({busy_workers(vertex.partition.parts), vertex.partition.kernel_calls()});
    if (current_ && received > current_->received) return received;
    auto evaluated = evaluate(graph_, partitions_of(labelling), options_);
    if (!best_ || best_->is_worse_than(evaluated, received)) best_ = Improved{evaluated, received};
    if (current_ && !current_->is_worse_than(evaluated, received)) return received;
    current_ = Improved{std::move(evaluated), received};
    ++improvements_;
    return received;
  }

  // Fewer kernel calls move less, and one worker alone moves nothing. So a candidate must make as many calls at every
  // vertex as the first labelling, EinDecomp's, and keep as many workers busy: of 2 x 2 x 2 calls the axes of six
  // workers give only two something to do.
  bool keeps_all_busy(const std::vector<LabelPartition>& partitions) const {
    CHECK(partitions.size() == graph_.size(), "a candidate has a vector for every vertex");
    for (std::size_t v = 0; v < least_.size(); ++v)
      if (partitions[v].kernel_calls() < least_[v].calls || busy_workers(partitions[v].parts) < least_[v].workers)
        return false;
    return true;
  }

  std::int64_t busy_workers(const Partition& parts) const {
    const auto calls = static_cast<std::int64_t>(kernel_calls(parts));
    return calls % inputs_.workers() == 0 ? inputs_.workers() : viable_calls(parts, inputs_.workers());
  }

  static Vectors vectors_of(const std::vector<LabelPartition>& partitions) {
    Vectors vectors;
    for (const auto& partition : partitions) vectors.push_back(partition.parts);
    return vectors;
  }

  static std::vector<bool> in_chains(const EinGraph& graph) {
    std::vector<bool> in_chain(graph.size(), false);
    for (const auto& chain : graph.chains())
      for (const auto id : chain.body) in_chain[id.index()] = true;
    return in_chain;
  }

  // Groups of vertices with the same labels and the same candidate vectors, in the order of the graph.
  std::vector<Group> groups_alike() const {
    std::map<std::tuple<std::vector<Labels>, Labels, Labels, std::vector<std::int64_t>, bool, bool>, Group> groups;
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      const auto& vertex = graph_.vertex(VertexId(v));
      if (vertex.is_input()) continue;
      const auto& einsum = vertex.einsum;
      groups[{einsum.inputs, einsum.output, einsum.aggregated, graph_.slices_of(VertexId(v)), in_chain_[v],
              vertex.cells.has_value()}]
          .push_back(v);
    }
    std::vector<Group> out;
    for (auto& [labels, group] : groups) out.push_back(std::move(group));
    return out;
  }

  void improve_current(const std::vector<Labels>& components) {
    std::vector<Group> single;
    for (std::size_t v = 0; v < graph_.size(); ++v)
      if (!graph_.vertex(VertexId(v)).is_input()) single.push_back({v});
    for (bool improved = true; improved && is_within_work();) {
      const auto before = improvements_;
      improve_components(components);
      improve(groups_);
      improve(single);
      improved = improvements_ > before;
    }
  }

  // Vectors of sliced vertices are multiples of their slices, which rules of labels do not know of.
  void improve_components(const std::vector<Labels>& components) {
    if (!graph_.sliced().empty()) return;
    for (bool improved = true; improved && is_within_work();) {
      const auto before = improvements_;
      for (const auto& component : components) {
        for (const auto parts : divisors(options_.parallelism)) {
          if (!is_within(kShareOfComponents)) break;
          consider(fitted(
              graph_,
              cut_differently(graph_, partitions_of(current_->labelling), component, parts, options_.parallelism),
              options_));
        }
      }
      improved = improvements_ > before;
    }
  }

  void improve(const std::vector<Group>& groups) {
    for (bool improved = true; improved && is_within_work();) {
      const auto before = improvements_;
      for (const auto& group : groups)
        if (is_within_work() && !in_chain_[group.front()]) improve(group);
      improved = improvements_ > before;
    }
  }

  void improve(const Group& group) {
    const auto v = group.front();
    CHECK(current_.has_value() && v < current_->labelling.vertices.size(),
          "vectors are there before they are improved");
    const auto& vertex = graph_.vertex(VertexId(v));
    const auto extents = cuttable_extents(vertex, graph_.labels());
    for (const auto& parts :
         viable_in_slices(extents, graph_.slices_of(VertexId(v)), options_.parallelism, kMostVectorsInSlices)) {
      if (parts == current_->labelling.vertices[v].partition.parts || !is_within_work()) continue;
      auto partitions = partitions_of(current_->labelling);
      for (const auto member : group) partitions[member].parts = parts;
      consider(std::move(partitions));
    }
  }

  const EinGraph& graph_;
  const DecompositionOptions& options_;
  const InputPlaces& inputs_;
  const std::vector<bool> in_chain_;  // of each vertex
  const std::vector<Group> groups_;
  const double visits_per_placement_;
  double visits_ = 0;
  KnownCalls known_;
  std::map<Vectors, Received> considered_;
  std::vector<WorkerCount> least_;  // of each vertex
  std::vector<OfRule> of_rules_;
  std::optional<Improved> best_;
  std::optional<Improved> current_;  // which changes are tried of
  std::size_t improvements_ = 0;
};

// Vectors by components of labels, and by the cuts of stored tensors.
void consider_rules_of_components(const EinGraph& graph, const std::vector<Labels>& components,
                                  const DecompositionOptions& options, Choice& choice) {
  auto first_cuts = stored_cuts_of_labels(graph, options.parallelism);
  first_cuts.emplace_back(graph.labels().size(), 1);
  for (const auto& component : components) {
    auto& cuts = first_cuts.emplace_back(graph.labels().size(), 1);
    for (const auto label : component) cuts[label.index()] = options.parallelism;
  }
  for (const auto& cuts : first_cuts)
    if (choice.is_within(kShareOfRules))
      choice.consider_rule(fitted(graph, cut_first(graph, cuts, options.parallelism), options));
}

// The vectors of all strategies, and of rules by names of labels, that apply to the graph.
void consider_strategies(const EinGraph& graph, const DecompositionOptions& options, Choice& choice) {
  auto others = all_strategies();
  for (auto& rule : rules_of_labels(graph)) others.push_back(std::move(rule));
  for (const auto& other : others) {
    if (other.kind == Strategy::Kind::EinDecomp) continue;
    try {
      choice.consider_rule(partitions_by(graph, other, options));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Label) throw;  // the strategy does not apply to this graph
    }
  }
}

}  // namespace

Labelling label_for_workers(const EinGraph& graph, const Strategy& strategy, const DecompositionOptions& wanted,
                            const InputPlaces& inputs, const ChoiceTerms& terms) {
  if (strategy.kind != Strategy::Kind::EinDecomp) return label(graph, strategy, wanted);
  const GraphShapes shapes(graph);
  auto options = wanted;
  options.shapes = &shapes;
  Choice choice(graph, options, inputs);
  const auto components = components_of_labels(graph);
  if (terms.known != nullptr && terms.is_for_same_places) {
    choice.consider_rule(partitions_of(*terms.known));
    consider_rules_of_components(graph, components, options, choice);
  } else {
    const WireModel wire(inputs.workers());
    auto by_wire = options;
    by_wire.model = &wire;
    const auto received_least = partitions_of(label(graph, strategy, by_wire));
    const auto moved_least = partitions_of(label(graph, strategy, options));
    choice.consider_rule(received_least);
    choice.consider_rule(moved_least);
    if (terms.known != nullptr) choice.consider_rule(partitions_of(*terms.known));
    choice.consider_layers_of(received_least);
    choice.consider_layers_of(moved_least);
    consider_rules_of_components(graph, components, options, choice);
    choice.improve(components);
  }
  // Last, so that nothing is improved that depends on how labels are called.
  consider_strategies(graph, options, choice);
  return choice.take(terms.count);
}

Labelling label_for_workers(const EinGraph& graph, const Strategy& strategy, const DecompositionOptions& options,
                            std::int64_t workers) {
  return label_for_workers(graph, strategy, options, InputPlaces(graph, workers));
}

}  // namespace eindb
