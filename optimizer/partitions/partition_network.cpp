#include "optimizer/partitions/partition_network.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "optimizer/partitions/viable.hpp"

namespace eindb {
namespace {

// Bounds the work, which is quadratic in the vectors of a vertex: 2^10 kernel calls over 6 labels (3003 vectors) are
// enumerated in full in graphs of up to a hundred vertices. Beyond it the smallest labels stay uncut.
constexpr double kMostPairs = 1e9;
constexpr double kFewestVectors = 200;
constexpr double kMostVectors = 3200;

std::size_t vectors_per_vertex(const EinGraph& graph) {
  const double affordable = std::sqrt(kMostPairs / static_cast<double>(std::max<std::size_t>(1, graph.size())));
  return static_cast<std::size_t>(std::clamp(affordable, kFewestVectors, kMostVectors));
}

struct PartitionHash {
  std::size_t operator()(const Partition& d) const {
    std::size_t hash = d.size();
    for (const auto parts : d) hash = (hash ^ static_cast<std::size_t>(parts)) * 0x9E3779B97F4A7C15ULL + (hash >> 29U);
    return hash;
  }
};

// How the vectors of a vertex cut one tensor that it reads or gives.
struct Cuts {
  std::vector<std::uint32_t> class_of;  // of each vector
  std::vector<Partition> distinct;      // of each class
};

Cuts cuts(const std::vector<Partition>& vectors, const std::vector<std::size_t>& places) {
  Cuts out;
  std::unordered_map<Partition, std::uint32_t, PartitionHash> known;
  for (const auto& d : vectors) {
    auto cut = project(d, places);
    const auto [entry, is_new] = known.try_emplace(cut, static_cast<std::uint32_t>(out.distinct.size()));
    if (is_new) out.distinct.push_back(std::move(cut));
    out.class_of.push_back(entry->second);
  }
  return out;
}

// All that vertices of one shape have in common.
struct ShapeChoices {
  std::shared_ptr<const std::vector<Partition>> vectors;
  std::vector<double> costs;
  std::vector<Cuts> inputs;
  Cuts output;
};

class Builder {
 public:
  Builder(const EinGraph& graph, const DecompositionOptions& options)
      : graph_(graph), options_(options), most_vectors_(vectors_per_vertex(graph)) {
    out_.variable_of.assign(graph.size(), PartitionNetwork::kNone);
  }

  PartitionNetwork run() {
    for (std::size_t v = 0; v < graph_.size(); ++v)
      if (!graph_.vertex(VertexId(v)).is_input()) add(v);
    return std::move(out_);
  }

 private:
  void add(std::size_t v) {
    const auto& vertex = graph_.vertex(VertexId(v));
    const auto& choices = choices_of(VertexId(v));
    shape_of_[v] = &choices;
    auto costs = choices.costs;
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
      const auto& producer = graph_.vertex(vertex.inputs[n]);
      if (producer.is_input() && !is_free_in_any_partition(producer, options_))
        add_cost(producer, producer.stored->grid.partition(), choices.inputs[n], true, costs);
    }
    if (v == graph_.output().index() && options_.output_partition)
      add_cost(vertex, *options_.output_partition, choices.output, false, costs);

    const auto variable = out_.choices.add_variable(std::move(costs));
    out_.variable_of[v] = variable;
    out_.vertex_of.push_back(v);
    out_.vectors_of.push_back(choices.vectors);
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
      if (!graph_.vertex(vertex.inputs[n]).is_input()) add_edge(vertex.inputs[n].index(), variable, choices.inputs[n]);
  }

  const ShapeChoices& choices_of(VertexId id) {
    std::pair key(shape_of(graph_, graph_.vertex(id)), graph_.slices_of(id));
    // Elements moved do not depend on what kernels do: vertices that differ in it alone share their choices.
    if (options_.model == &transfers_model()) key.first.work = {};
    const auto known = shapes_.find(key);
    if (known != shapes_.end()) return known->second;
    const auto& [shape, slices] = key;
    ShapeChoices out;
    auto vectors = viable_in_slices(shape.extents, slices, options_.parallelism, most_vectors_);
    for (const auto& d : vectors)
      out.costs.push_back(options_.model->join(shape, d) + options_.model->aggregation(shape, d));
    for (const auto& input : shape.inputs) out.inputs.push_back(cuts(vectors, input));
    out.output = cuts(vectors, shape.output);
    out.vectors = std::make_shared<const std::vector<Partition>>(std::move(vectors));
    return shapes_.emplace(std::move(key), std::move(out)).first->second;
  }

  // What it costs to bring a tensor from a given partition to that of each vector, or the other way.
  void add_cost(const Vertex& tensor, const Partition& given, const Cuts& cuts, bool from_given,
                std::vector<double>& costs) const {
    std::vector<double> of_class;
    for (const auto& cut : cuts.distinct)
      of_class.push_back(from_given ? repartition(tensor, given, cut) : repartition(tensor, cut, given));
    for (std::size_t s = 0; s < costs.size(); ++s) costs[s] += of_class[cuts.class_of[s]];
  }

  double repartition(const Vertex& tensor, const Partition& from, const Partition& to) const {
    return options_.model->repartition(from, to, tensor.bound.extents(), size_of(tensor.dtype));
  }

  void add_edge(std::size_t producer, std::size_t consumer_variable, const Cuts& read) {
    const auto& given = shape_of_.at(producer)->output;
    const auto& tensor = graph_.vertex(VertexId(producer));
    auto& table = tables_[{&given, &read, size_of(tensor.dtype)}];
    if (!table) {
      auto costs = std::make_shared<ChoiceNetwork::Table>();
      *costs = {given.distinct.size(), read.distinct.size(), {}};
      costs->values.reserve(costs->rows * costs->columns);
      for (const auto& from : given.distinct)
        for (const auto& to : read.distinct) costs->values.push_back(repartition(tensor, from, to));
      table = std::move(costs);
    }
    out_.choices.add_edge({out_.variable_of[producer], consumer_variable, given.class_of, read.class_of, table});
  }

  const EinGraph& graph_;
  const DecompositionOptions& options_;
  const std::size_t most_vectors_;
  PartitionNetwork out_;
  std::map<std::pair<VertexShape, Partition>, ShapeChoices> shapes_;  // by shape and slices
  std::unordered_map<std::size_t, const ShapeChoices*> shape_of_;     // of each vertex added
  std::map<std::tuple<const Cuts*, const Cuts*, std::size_t>, std::shared_ptr<const ChoiceNetwork::Table>> tables_;
};

}  // namespace

std::vector<LabelPartition> PartitionNetwork::partitions(const EinGraph& graph,
                                                         const ChoiceNetwork::States& states) const {
  std::vector<LabelPartition> out(graph.size());
  for (std::size_t n = 0; n < vertex_of.size(); ++n)
    out[vertex_of[n]] = {graph.vertex(VertexId(vertex_of[n])).einsum.labels(), (*vectors_of[n])[states[n]]};
  return out;
}

PartitionNetwork partition_network(const EinGraph& graph, const DecompositionOptions& options) {
  return Builder(graph, options).run();
}

}  // namespace eindb
