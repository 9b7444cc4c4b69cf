#include "optimizer/partitions/worker_choice.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/error.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/viable.hpp"
#include "optimizer/partitions/wire_model.hpp"

namespace eindb {
namespace {

// Vertices times workers that all placements together may visit: some tenths of a second.
constexpr double kMostVisits = 1 << 19;
constexpr std::size_t kMostVectors = 64;

std::vector<LabelPartition> partitions_of(const Labelling& labelling) {
  std::vector<LabelPartition> out;
  for (const auto& vertex : labelling.vertices) out.push_back(vertex.partition);
  return out;
}

class Choice {
 public:
  Choice(const EinGraph& graph, const DecompositionOptions& options, std::int64_t workers)
      : graph_(graph),
        options_(options),
        workers_(workers),
        visits_per_placement_(static_cast<double>(graph.size()) * static_cast<double>(workers)) {}

  void consider(std::vector<LabelPartition> partitions) {
    if (!keeps_all_busy(partitions)) return;
    auto labelling = evaluate(graph_, std::move(partitions), options_);
    const auto placed = place(graph_, labelling, workers_);
    visits_ += visits_per_placement_;
    const std::tuple cost(placed.received, placed.most_received, labelling.total_cost);
    if (!best_)
      for (const auto& vertex : labelling.vertices) least_calls_.push_back(vertex.partition.kernel_calls());
    if (best_ && cost >= cost_) return;
    best_ = std::move(labelling);
    cost_ = cost;
  }

  // Other vectors for one vertex at a time, until none helps.
  void improve() {
    for (bool improved = true; improved && is_within_work();) {
      const auto before = cost_;
      for (std::size_t v = 0; v < graph_.size() && is_within_work(); ++v)
        if (!graph_.vertex(VertexId(v)).is_input() && !is_in_chain(VertexId(v))) improve(v);
      improved = cost_ < before;
    }
  }

  Labelling take() { return *std::move(best_); }

 private:
  // With fewer kernel calls less moves, least if one worker does everything: what others offer must make as many calls
  // as the first labelling, EinDecomp's.
  bool keeps_all_busy(const std::vector<LabelPartition>& partitions) const {
    for (std::size_t v = 0; v < least_calls_.size(); ++v)
      if (partitions[v].kernel_calls() < least_calls_[v]) return false;
    return true;
  }

  bool is_within_work() const { return visits_ + visits_per_placement_ <= kMostVisits; }

  bool is_in_chain(VertexId id) const {
    return std::any_of(graph_.chains().begin(), graph_.chains().end(), [&](const FusedChain& chain) {
      return std::find(chain.body.begin(), chain.body.end(), id) != chain.body.end();
    });
  }

  void improve(std::size_t v) {
    std::vector<std::int64_t> extents;
    for (const auto label : best_->vertices[v].partition.labels) extents.push_back(graph_.labels().extent(label));
    for (auto& parts : viable_in_slices(extents, graph_.slices_of(VertexId(v)), options_.parallelism, kMostVectors)) {
      if (parts == best_->vertices[v].partition.parts || !is_within_work()) continue;
      auto partitions = partitions_of(*best_);
      partitions[v].parts = std::move(parts);
      consider(std::move(partitions));
    }
  }

  const EinGraph& graph_;
  const DecompositionOptions& options_;
  const std::int64_t workers_;
  const double visits_per_placement_;
  double visits_ = 0;
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
  choice.consider(partitions_of(label(graph, strategy, by_wire)));
  for (const auto& other : all_strategies()) {
    try {
      choice.consider(partitions_of(label(graph, other, options)));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Label) throw;  // that strategy is not for this graph
    }
  }
  choice.improve();
  return choice.take();
}

}  // namespace eindb
