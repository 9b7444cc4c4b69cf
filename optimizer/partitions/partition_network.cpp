#include "optimizer/partitions/partition_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "common/check.hpp"
#include "optimizer/partitions/viable.hpp"
#include "tensor/scan_form.hpp"

namespace eindb {
namespace {

// Bounds the work, which is quadratic in the vectors of a vertex. 2^10 kernel calls over 6 labels (3003 vectors) are
// enumerated in full in graphs of up to a hundred vertices. Beyond this the smallest labels stay uncut.
constexpr double kMostComparedPairs = 1e9;
constexpr double kFewestVectors = 200;
constexpr double kMostVectorsPerVertex = 3200;

std::size_t vectors_per_vertex(const EinGraph& graph) {
  const double affordable = std::sqrt(kMostComparedPairs / static_cast<double>(std::max<std::size_t>(1, graph.size())));
  return static_cast<std::size_t>(std::clamp(affordable, kFewestVectors, kMostVectorsPerVertex));
}

struct PartitionHash {
  std::size_t operator()(const Partition& d) const {
    std::size_t hash = d.size();
    for (const auto parts : d) hash = (hash ^ static_cast<std::size_t>(parts)) * 0x9E3779B97F4A7C15ULL + (hash >> 29U);
    return hash;
  }
};

// The partitions that the vectors of a vertex give to one tensor that it reads or makes.
struct Cuts {
  std::vector<std::uint32_t> class_of;  // for each vector
  std::vector<Partition> distinct;      // for each class
};

template <class F>
Cuts cuts(const std::vector<Partition>& vectors, F&& cut_by) {
  Cuts out;
  std::unordered_map<Partition, std::uint32_t, PartitionHash> known;
  for (const auto& d : vectors) {
    Partition cut = cut_by(d);
    const auto [entry, is_new] = known.try_emplace(cut, static_cast<std::uint32_t>(out.distinct.size()));
    if (is_new) out.distinct.push_back(std::move(cut));
    out.class_of.push_back(entry->second);
  }
  return out;
}

// The choices that all vertices of one shape share.
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
    CHECK(choices.inputs.size() == vertex.inputs.size(), "the vectors of a vertex cut each of its operands");
    shape_of_[v] = &choices;
    auto costs = choices.costs;
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
      const auto& producer = graph_.vertex(vertex.inputs[n]);
      if (producer.is_input() && !is_free_in_any_partition(producer, options_))
        add_cost(producer, producer.stored->grid.partition(), choices.inputs[n], true, costs);
    }
    if (const auto* wanted = wanted_of(graph_, options_.output_partitions, VertexId(v)))
      add_cost(vertex, *wanted, choices.output, false, costs);

    const auto variable = out_.choices.add_variable(std::move(costs));
    CHECK(variable == out_.vertex_of.size() && variable == out_.vectors_of.size(),
          "variables are numbered in the order of their vertices");
    out_.variable_of[v] = variable;
    out_.vertex_of.push_back(v);
    out_.vectors_of.push_back(choices.vectors);
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
      if (!graph_.vertex(vertex.inputs[n]).is_input()) add_edge(vertex.inputs[n].index(), variable, choices.inputs[n]);
  }

  static VertexShape without_work(VertexShape shape) {
    shape.work = {};
    shape.made.clear();
    shape.is_read = false;
    return shape;
  }

  // Determines the vectors of a vertex and their costs.
  struct Key {
    VertexShape shape;
    Partition slices;
    Partition stored;  // see stored_parts
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // For every label the most parts that a stored operand has along it, if vectors may follow stored cuts; otherwise
  // empty.
  Partition stored_parts(const Vertex& vertex) const {
    if (!options_.fewer_calls) return {};
    const auto labels = vertex.einsum.labels();
    const auto uncut = uncut_labels(vertex.einsum, vertex.compute_dtype);
    Partition parts(labels.size(), 1);
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
      const auto& producer = graph_.vertex(vertex.inputs[n]);
      if (!producer.is_input() || is_free_in_any_partition(producer, options_)) continue;
      for (std::size_t d = 0; d < vertex.einsum.inputs[n].size(); ++d) {
        const auto place = std::find(labels.begin(), labels.end(), vertex.einsum.inputs[n][d]) - labels.begin();
        CHECK(static_cast<std::size_t>(place) < parts.size(), "an operand is read with labels of its vertex");
        if (contains(uncut, vertex.einsum.inputs[n][d])) continue;
        if (vertex.cells && contains(vertex.einsum.aggregated, vertex.einsum.inputs[n][d])) continue;
        auto& most = parts[static_cast<std::size_t>(place)];
        most = std::max(most, producer.stored->grid.partition()[d]);
      }
    }
    return parts;
  }

  // The vectors that make p calls. With fewer_calls, those of 1, 2, 4, ... p calls and those that follow stored cuts,
  // which are few and may make more calls.
  std::vector<Partition> vectors_of(const VertexShape& shape, const Partition& slices, const Partition& stored) const {
    if (!options_.fewer_calls)
      return viable_in_slices(cuttable_extents(shape), slices, options_.parallelism, most_vectors_);
    std::vector<Partition> out;
    std::unordered_set<Partition, PartitionHash> known;
    const auto add = [&](const Partition& d) {
      if (known.insert(d).second) out.push_back(d);
    };
    constexpr std::size_t kMostStored = 6;  // labels that may follow a stored cut
    constexpr double kMostStoredCalls = 65536;
    const auto sliced = std::any_of(slices.begin(), slices.end(), [](auto parts) { return parts > 1; });
    const auto cut =
        static_cast<std::size_t>(std::count_if(stored.begin(), stored.end(), [](auto n) { return n > 1; }));
    for (std::size_t set = 0; !sliced && cut <= kMostStored && set < std::size_t{1} << cut; ++set) {
      Partition d(stored.size(), 1);
      for (std::size_t n = 0, bit = 0; n < d.size(); ++n)
        if (stored[n] > 1 && (set >> bit++ & 1U) != 0) d[n] = stored[n];
      if (kernel_calls(d) <= kMostStoredCalls) add(d);
    }
    for (std::int64_t p = 1; p <= options_.parallelism; p *= 2)
      for (const auto& d : viable_in_slices(cuttable_extents(shape), slices, p, most_vectors_)) add(d);
    return options_.most_call_bytes > 0 ? of_small_calls(shape, std::move(out)) : out;
  }

  static double call_bytes(const VertexShape& shape, const Partition& d) {
    const auto tile = [&](const std::vector<std::size_t>& places, std::size_t element) {
      auto bytes = static_cast<double>(element);
      for (const auto n : places) bytes *= static_cast<double>(largest_part(shape.extents[n], d[n]));
      return bytes;
    };
    const auto compute = size_of(shape.work.compute);
    double bytes = tile(shape.output, compute == shape.work.output_bytes ? compute : compute + shape.work.output_bytes);
    for (std::size_t n = 0; n < shape.inputs.size(); ++n)
      bytes += read_elements(shape, d, n) *
               static_cast<double>(n < shape.work.input_bytes.size() ? shape.work.input_bytes[n] : compute) *
               stored_share(shape, n);
    return bytes;
  }

  // The vectors whose calls hold at most most_call_bytes, or those that hold the least if there are none.
  std::vector<Partition> of_small_calls(const VertexShape& shape, std::vector<Partition> vectors) const {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& d : vectors) least = std::min(least, call_bytes(shape, d));
    const auto most = std::max(least, options_.most_call_bytes);
    std::erase_if(vectors, [&](const auto& d) { return call_bytes(shape, d) > most; });
    return vectors;
  }

  const ShapeChoices& choices_of(VertexId id) {
    const auto& vertex = graph_.vertex(id);
    Key key{options_.shapes != nullptr ? options_.shapes->of(id, false) : shape_of(graph_, vertex),
            graph_.slices_of(id), stored_parts(vertex)};
    // The number of elements moved does not depend on kernels, so vertices that differ only in their work share
    // choices.
    if (options_.model == &transfers_model()) key.shape = without_work(std::move(key.shape));
    const auto known = shapes_.find(key);
    if (known != shapes_.end()) return known->second;
    const auto& [shape, slices, stored] = key;
    ShapeChoices out;
    auto vectors = vectors_of(shape, slices, stored);
    CHECK(!vectors.empty(), "a vertex has a vector to choose");
    for (const auto& d : vectors)
      out.costs.push_back(options_.model->join(shape, d) + options_.model->aggregation(shape, d));
    for (std::size_t n = 0; n < shape.inputs.size(); ++n)
      out.inputs.push_back(cuts(vectors, [&](const Partition& d) { return read_partition(key.shape, d, n); }));
    out.output = cuts(vectors, [&](const Partition& d) { return project(d, key.shape.output); });
    out.vectors = std::make_shared<const std::vector<Partition>>(std::move(vectors));
    return shapes_.emplace(std::move(key), std::move(out)).first->second;
  }

  // Adds the cost of moving a tensor from a given partition to that of each vector, or the reverse.
  void add_cost(const Vertex& tensor, const Partition& given, const Cuts& cuts, bool from_given,
                std::vector<double>& costs) const {
    std::vector<double> of_class;
    for (const auto& cut : cuts.distinct)
      of_class.push_back(from_given ? repartition(tensor, given, cut) : repartition(tensor, cut, given));
    CHECK(cuts.class_of.size() == costs.size(), "every vector of a vertex cuts its tensors");
    for (std::size_t s = 0; s < costs.size(); ++s) costs[s] += of_class[cuts.class_of[s]];
  }

  double repartition(const Vertex& tensor, const Partition& from, const Partition& to) const {
    return options_.model->repartition(from, to, tensor.bound.extents(), size_of(tensor.dtype)) *
           tensor.density.present * tensor.stored_share();
  }

  void add_edge(std::size_t producer, std::size_t consumer_variable, const Cuts& read) {
    CHECK(out_.variable_of[producer] != PartitionNetwork::kNone, "what a vertex reads is added before it");
    const auto& given = shape_of_.at(producer)->output;
    const auto& tensor = graph_.vertex(VertexId(producer));
    auto& table = tables_[{&given, &read, size_of(tensor.dtype), tensor.density.present * tensor.stored_share()}];
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
  std::map<Key, ShapeChoices> shapes_;
  std::unordered_map<std::size_t, const ShapeChoices*> shape_of_;  // for each vertex added
  std::map<std::tuple<const Cuts*, const Cuts*, std::size_t, double>, std::shared_ptr<const ChoiceNetwork::Table>>
      tables_;
};

}  // namespace

std::vector<LabelPartition> PartitionNetwork::partitions(const EinGraph& graph,
                                                         const ChoiceNetwork::States& states) const {
  CHECK(states.size() == vertex_of.size() && vectors_of.size() == vertex_of.size(),
        "every variable has a vertex, vectors and a state");
  std::vector<LabelPartition> out(graph.size());
  for (std::size_t n = 0; n < vertex_of.size(); ++n)
    out[vertex_of[n]] = {graph.vertex(VertexId(vertex_of[n])).einsum.labels(), (*vectors_of[n])[states[n]]};
  return out;
}

PartitionNetwork partition_network(const EinGraph& graph, const DecompositionOptions& options) {
  return Builder(graph, options).run();
}

}  // namespace eindb
