#include "optimizer/rewrites/repeated_joins.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "optimizer/rewrites/dead_vertices.hpp"
#include "optimizer/rewrites/vertex_merger.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {
namespace {

constexpr double kFewestReadsOfJoin = 8;     // of each element of an operand
constexpr double kFewestBytes = 256 * 1024;  // smaller values stay in the caches anyway
constexpr double kMostStripBytes = 256 * 1024;

// Values that are computed from far smaller operands by cheap operations, step by step, and are then aggregated.
class Repetition {
 public:
  explicit Repetition(const EinGraph& graph)
      : graph_(graph), names_(graph), uses_(graph.use_counts()), readers_(graph.size()) {
    for (std::size_t n = 0; n < graph_.size(); ++n)
      for (std::size_t i = 0; i < graph_.vertices()[n].inputs.size(); ++i)
        readers_[graph_.vertices()[n].inputs[i].index()].emplace_back(VertexId(n), i);
    find_values();
  }

  EinGraph run() {
    if (std::none_of(copied_.begin(), copied_.end(), [](bool copied) { return copied; })) return graph_;
    std::size_t n = 0;
    const auto out = rewrite_each(graph_, [&](EinGraph& made, const Vertex& vertex) {
      const auto& before = graph_.vertices()[n++];
      auto rewritten = vertex;
      std::unordered_map<VertexId, VertexId> copies;
      for (std::size_t i = 0; i < vertex.inputs.size(); ++i)
        if (vertex.einsum.aggregate != Aggregate::None && copied_[before.inputs[i].index()])
          rewritten.inputs[i] = copy(made, before.inputs[i], copies);
      now_.push_back(made.add(std::move(rewritten)));
      return now_.back();
    });
    return drop_dead_vertices(out);
  }

 private:
  VertexId copy(EinGraph& made, VertexId id, std::unordered_map<VertexId, VertexId>& copies) {
    if (const auto known = copies.find(id); known != copies.end()) return known->second;
    auto vertex = graph_.vertex(id);
    for (auto& input : vertex.inputs) input = copied_[input.index()] ? copy(made, input, copies) : now_[input.index()];
    vertex.name = names_.next(vertex.name);
    const auto copy = made.add(std::move(vertex));
    copies.emplace(id, copy);
    return copy;
  }

  // A value is copied if all that reads it aggregates it in strips, or is such a value, and if its own large operands
  // are such values.
  void find_values() {
    copied_.assign(graph_.size(), false);
    for (std::size_t n = 0; n < graph_.size(); ++n) copied_[n] = is_cheap_value(graph_.vertices()[n]);
    // Backwards for what reads a value, forwards for what it reads, until nothing changes.
    for (bool changed = true; changed;) {
      changed = false;
      const auto keep_if = [&](std::size_t n, bool fits) {
        if (copied_[n] && !fits) changed = true;
        copied_[n] = copied_[n] && fits;
      };
      for (std::size_t n = graph_.size(); n-- > 0;) keep_if(n, !copied_[n] || all_readers_take(VertexId(n)));
      for (std::size_t n = 0; n < graph_.size(); ++n)
        keep_if(n, !copied_[n] || has_fitting_operands(graph_.vertices()[n]));
    }
    keep_what_is_read_once();
  }

  // Trees in which every value is read once have nothing to repeat.
  void keep_what_is_read_once() {
    std::vector<bool> repeats(graph_.size(), false);
    for (std::size_t n = 0; n < graph_.size(); ++n) {
      if (!copied_[n]) continue;
      const auto& inputs = graph_.vertices()[n].inputs;
      repeats[n] = uses_[n] > 1 ||
                   std::any_of(inputs.begin(), inputs.end(), [&](VertexId input) { return repeats[input.index()]; });
    }
    for (std::size_t n = graph_.size(); n-- > 0;) {
      if (!copied_[n]) continue;
      for (const auto& [reader, place] : readers_[n])
        if (copied_[reader.index()] && repeats[reader.index()]) repeats[n] = true;
      copied_[n] = repeats[n];
    }
  }

  bool is_cheap_value(const Vertex& vertex) const {
    if (!is_plain(vertex) || vertex.einsum.aggregate != Aggregate::None) return false;
    if (DistinctLabels(vertex.einsum.output).labels().size() != vertex.einsum.output.size()) return false;
    const auto cells = cells_of(graph_.labels(), vertex.einsum.output);
    return cells * static_cast<double>(size_of(vertex.dtype)) >= kFewestBytes && is_cheap(*vertex.einsum.expression);
  }

  bool has_fitting_operands(const Vertex& vertex) const {
    const auto cells = cells_of(graph_.labels(), vertex.einsum.output);
    for (std::size_t i = 0; i < vertex.inputs.size(); ++i) {
      const auto& labels = vertex.einsum.inputs[i];
      const bool is_small = kFewestReadsOfJoin * cells_of(graph_.labels(), labels) <= cells;
      if (!is_small && !(copied_[vertex.inputs[i].index()] && reads_as_it_is(vertex, i))) return false;
    }
    return !vertex.inputs.empty();
  }

  bool all_readers_take(VertexId id) const {
    const auto& readers = readers_[id.index()];
    if (readers.empty() || static_cast<std::size_t>(uses_[id.index()]) != readers.size()) return false;  // a result
    return std::all_of(readers.begin(), readers.end(), [&](const auto& reader) {
      const auto& vertex = graph_.vertex(reader.first);
      return reads_as_it_is(vertex, reader.second) &&
             (copied_[reader.first.index()] || aggregates_in_strips(vertex, reader.second));
    });
  }

  bool reads_as_it_is(const Vertex& reader, std::size_t operand) const {
    return reader.einsum.inputs[operand] == graph_.vertex(reader.inputs[operand]).einsum.output &&
           std::count(reader.inputs.begin(), reader.inputs.end(), reader.inputs[operand]) == 1;
  }

  bool aggregates_in_strips(const Vertex& reader, std::size_t operand) const {
    const auto& value = graph_.vertex(reader.inputs[operand]);
    if (reader.einsum.aggregate == Aggregate::None) return false;
    const auto strip = difference(value.einsum.output, reader.einsum.output);
    return !strip.empty() && strip.size() < value.einsum.output.size() &&
           difference(reader.einsum.aggregated, value.einsum.output).empty() &&
           cells_of(graph_.labels(), strip) * static_cast<double>(size_of(value.dtype)) <= kMostStripBytes;
  }

  const EinGraph& graph_;
  VertexNames names_;
  std::vector<int> uses_;
  std::vector<std::vector<std::pair<VertexId, std::size_t>>> readers_;  // and as which operand
  std::vector<bool> copied_;                                            // by vertex
  std::vector<VertexId> now_;                                           // by vertex: what stands for it
};

}  // namespace

EinGraph repeat_joins(const EinGraph& graph) { return Repetition(graph).run(); }

}  // namespace eindb
