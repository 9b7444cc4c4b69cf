#include "optimizer/decomposition_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/check.hpp"
#include "optimizer/cost_model.hpp"
#include "optimizer/viable.hpp"

namespace eindb {
namespace {

// Bounds the work, which is quadratic in the vectors of a vertex: 2^10 kernel calls over 6 labels (3003 vectors) are
// enumerated in full in graphs of up to two hundred vertices. Beyond it the smallest labels stay uncut.
constexpr double kMostPairs = 2e9;
constexpr double kFewestVectors = 200;
constexpr double kMostVectors = 5000;

std::size_t vectors_per_vertex(const EinGraph& graph) {
  const double affordable = std::sqrt(kMostPairs / static_cast<double>(std::max<std::size_t>(1, graph.size())));
  return static_cast<std::size_t>(std::clamp(affordable, kFewestVectors, kMostVectors));
}

}  // namespace

std::size_t DecompositionTable::PartitionHash::operator()(const Partition& d) const {
  std::size_t hash = d.size();
  for (const auto parts : d) hash = (hash ^ static_cast<std::size_t>(parts)) * 0x9E3779B97F4A7C15ULL + (hash >> 29);
  return hash;
}

DecompositionTable::DecompositionTable(const EinGraph& graph, const DecompositionOptions& options,
                                       const std::vector<VertexIndex>& successor)
    : graph_(graph), options_(options), successor_(successor), most_vectors_(vectors_per_vertex(graph)) {}

std::vector<DecompositionTable::Step> DecompositionTable::steps_into(VertexIndex v) const {
  std::vector<Step> steps;
  const auto& inputs = graph_.vertex(VertexId(v)).inputs;
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    const auto producer = inputs[n].index();
    if (successor_[producer] != v || !members_.contains(producer)) continue;
    const auto same = [&](const Step& step) { return step.producer == producer; };
    auto step = std::find_if(steps.begin(), steps.end(), same);
    if (step == steps.end()) step = steps.insert(steps.end(), {producer, {}});
    step->inputs.push_back(n);
  }
  return steps;
}

double DecompositionTable::cost_of_stored(const Vertex& vertex, const std::vector<Partition>& needed) const {
  double cost = 0;
  for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
    const auto& producer = graph_.vertex(vertex.inputs[n]);
    if (producer.is_input() && !is_free_in_any_partition(producer, options_))
      cost += options_.model->repartition(producer.stored->grid.partition(), needed[n], producer.bound.extents(),
                                          size_of(producer.dtype));
  }
  return cost;
}

DecompositionTable::Best DecompositionTable::cheapest(const Step& step, const std::vector<Partition>& needed,
                                                      Memo& memo) const {
  Partition key;
  for (const auto n : step.inputs) key.insert(key.end(), needed[n].begin(), needed[n].end());
  const auto known = memo.find(key);
  if (known != memo.end()) return known->second;

  const auto& producer = members_.at(step.producer);
  const auto& entries = producer.entries;
  const auto& tensor = graph_.vertex(VertexId(step.producer));
  Best best{std::numeric_limits<double>::infinity(), 0};
  const auto consider = [&](std::size_t e) {
    double cost = entries[e].cost;
    for (const auto n : step.inputs)
      cost += options_.model->repartition(entries[e].output, needed[n], tensor.bound.extents(), size_of(tensor.dtype));
    if (cost < best.cost) best = {cost, e};
  };
  // First the producer that need not move. Moving costs nothing at best, so, in ascending order, what follows an
  // entry as dear as the best cannot win.
  const auto in_place = producer.entry_of.find(needed[step.inputs.front()]);
  if (in_place != producer.entry_of.end()) consider(in_place->second);
  for (std::size_t e = 0; e < entries.size() && entries[e].cost < best.cost; ++e) consider(e);
  memo.emplace(std::move(key), best);
  return best;
}

std::vector<DecompositionTable::Entry> DecompositionTable::best_entries(VertexIndex v,
                                                                        const std::vector<Step>& steps) const {
  const auto& vertex = graph_.vertex(VertexId(v));
  const auto shape = shape_of(vertex.einsum, graph_.labels());
  std::vector<Entry> entries;
  ByPartition<std::size_t> entry_of;
  std::vector<Memo> memos(steps.size());
  for (auto& d : viable(shape.extents, options_.parallelism, most_vectors_)) {
    std::vector<Partition> needed;
    for (const auto& input : shape.inputs) needed.push_back(project(d, input));
    const double own =
        options_.model->join(shape, d) + options_.model->aggregation(shape, d) + cost_of_stored(vertex, needed);
    Entry entry{project(d, shape.output), own, {}, {}};
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const auto best = cheapest(steps[s], needed, memos[s]);
      entry.cost += best.cost;
      entry.steps.push_back(best.entry);
    }
    entry.d = std::move(d);
    const auto [known, is_new] = entry_of.try_emplace(entry.output, entries.size());
    if (is_new) entries.push_back(std::move(entry));
    else if (entry.cost < entries[known->second].cost) entries[known->second] = std::move(entry);
  }
  return entries;
}

void DecompositionTable::add(VertexIndex v) {
  Member member;
  member.steps = steps_into(v);
  member.entries = best_entries(v, member.steps);
  std::stable_sort(member.entries.begin(), member.entries.end(),
                   [](const Entry& a, const Entry& b) { return a.cost < b.cost; });
  for (std::size_t e = 0; e < member.entries.size(); ++e) member.entry_of.emplace(member.entries[e].output, e);
  members_.emplace(v, std::move(member));
}

std::size_t DecompositionTable::best_entry(VertexIndex v) const {
  const auto& entries = members_.at(v).entries;
  if (v != graph_.output().index() || !options_.output_partition) return 0;
  const auto& tensor = graph_.vertex(VertexId(v));
  const auto cost = [&](const Entry& entry) {
    return entry.cost + options_.model->repartition(entry.output, *options_.output_partition, tensor.bound.extents(),
                                                    size_of(tensor.dtype));
  };
  const auto best = std::min_element(entries.begin(), entries.end(),
                                     [&](const Entry& a, const Entry& b) { return cost(a) < cost(b); });
  return static_cast<std::size_t>(best - entries.begin());
}

void DecompositionTable::label(VertexIndex v, std::vector<LabelPartition>& partitions) const {
  // A stack of its own: chains of vertices are longer than the call stack is deep.
  std::vector<std::pair<VertexIndex, std::size_t>> open{{v, best_entry(v)}};
  while (!open.empty()) {
    const auto [u, e] = open.back();
    open.pop_back();
    const auto& member = members_.at(u);
    const auto& entry = member.entries[e];
    partitions[u] = {graph_.vertex(VertexId(u)).einsum.labels(), entry.d};
    for (std::size_t s = 0; s < member.steps.size(); ++s) open.emplace_back(member.steps[s].producer, entry.steps[s]);
  }
}

}  // namespace eindb
