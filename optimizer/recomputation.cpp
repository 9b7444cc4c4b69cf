#include "optimizer/recomputation.hpp"

#include <algorithm>
#include <limits>

#include "common/check.hpp"

namespace eindb {
namespace {

// Upper bound on the steps examined, some tenths of a second, for graphs of thousands of vertices.
constexpr double kMostWork = 2e6;

// Values are numbered: first the original vertices, then their copies.
class Recomputation {
 public:
  explicit Recomputation(const EinGraph& graph)
      : graph_(graph), again_(graph.size(), false), bytes_(bytes_of_values(graph)) {
    const auto held = held_bytes(order());
    CHECK(held.size() == graph.size(), "without copies every vertex is one step");
    const auto most = std::max_element(held.begin(), held.end());
    peak_ = most == held.end() ? 0 : *most;
    split_ = static_cast<std::size_t>(most - held.begin());
  }

  RecomputedGraph run(double share) {
    const auto limit = share * peak_;
    const auto candidates = candidates_at_peak();
    auto excess = excess_beyond(limit);
    for (double work = 0; excess > 0 && work < kMostWork;) {
      auto best = graph_.size();
      for (const auto v : candidates) {
        if (again_[v]) continue;
        again_[v] = true;
        const auto left = excess_beyond(limit);
        again_[v] = false;
        work += static_cast<double>(graph_.size());
        if (left >= excess) continue;
        excess = left;
        best = v;
      }
      if (best == graph_.size()) break;
      again_[best] = true;
    }
    return result();
  }

 private:
  // Values that only serve another vertex of their chain are not stored, and attached tensors take none of our memory.
  static std::vector<double> bytes_of_values(const EinGraph& graph) {
    std::vector<double> bytes;
    for (const auto& vertex : graph.vertices()) {
      const bool attached = vertex.is_input() && (vertex.stored->attached || vertex.stored->as_cells);
      auto size = attached ? 0.0 : static_cast<double>(size_of(vertex.dtype));
      for (const auto extent : vertex.bound.extents()) size *= static_cast<double>(extent);
      bytes.push_back(size);
    }
    for (const auto& chain : graph.chains())
      for (const auto id : chain.body)
        if (id != chain.result) bytes[id.index()] = 0;
    return bytes;
  }

  // Whether all readers after the split wait for an aggregate over the whole of v. Otherwise execution takes one tile
  // after the other through the whole graph and never holds all tiles of v.
  bool waits_for_all(std::size_t v) const {
    const auto& head = graph_.vertex(VertexId(v)).einsum.output;
    std::vector<bool> derived(graph_.size(), false);
    std::vector<bool> behind(graph_.size(), false);
    derived[v] = true;
    for (std::size_t n = v + 1; n < graph_.size(); ++n) {
      const auto& vertex = graph_.vertex(VertexId(n));
      for (const auto input : vertex.inputs) {
        derived[n] = derived[n] || derived[input.index()];
        behind[n] = behind[n] || behind[input.index()];
      }
      if (n > split_ && !behind[n] && std::count(vertex.inputs.begin(), vertex.inputs.end(), VertexId(v)) > 0)
        return false;
      if (derived[n] && vertex.einsum.aggregate != Aggregate::None &&
          difference(head, vertex.einsum.output).size() == head.size())
        behind[n] = true;
    }
    return true;
  }

  // Vertices that are read both before and after the moment of peak memory.
  std::vector<std::size_t> candidates_at_peak() const {
    std::vector<bool> early(graph_.size(), false);
    std::vector<bool> late(graph_.size(), false);
    for (std::size_t v = 0; v < graph_.size(); ++v)
      for (const auto input : graph_.vertex(VertexId(v)).inputs) (v <= split_ ? early : late)[input.index()] = true;
    std::vector<std::size_t> candidates;
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      const auto& vertex = graph_.vertex(VertexId(v));
      if (early[v] && late[v] && !vertex.is_input() && vertex.einsum.aggregate == Aggregate::None && waits_for_all(v))
        candidates.push_back(v);
    }
    return candidates;
  }

  std::size_t vertex_of(std::size_t value) const { return value % graph_.size(); }
  bool is_copy(std::size_t value) const { return value >= graph_.size(); }

  std::vector<std::size_t> inputs_of(std::size_t value) const {
    const auto v = vertex_of(value);
    const bool late = is_copy(value) || v > split_;
    std::vector<std::size_t> inputs;
    for (const auto input : graph_.vertex(VertexId(v)).inputs)
      inputs.push_back(input.index() + (late && again_[input.index()] ? graph_.size() : 0));
    return inputs;
  }

  // The order in which values, copies included, are computed.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> order;
    std::vector<bool> placed(2 * graph_.size(), false);
    for (std::size_t v = 0; v < graph_.size(); ++v) place(v, order, placed);
    return order;
  }

  void place(std::size_t value, std::vector<std::size_t>& order, std::vector<bool>& placed) const {
    for (const auto input : inputs_of(value))
      if (is_copy(input) && !placed[input]) place(input, order, placed);
    DCHECK(!placed[value], "a value is computed once");
    placed[value] = true;
    order.push_back(value);
  }

  // The bytes held at each step; a stored tensor is held from its first reader on.
  std::vector<double> held_bytes(const std::vector<std::size_t>& order) const {
    constexpr auto kNotYet = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> first(2 * graph_.size(), kNotYet);
    std::vector<std::size_t> last(2 * graph_.size(), kNotYet);
    for (std::size_t step = 0; step < order.size(); ++step) {
      const auto value = order[step];
      if (!graph_.vertex(VertexId(vertex_of(value))).is_input()) first[value] = last[value] = step;
      for (const auto input : inputs_of(value)) {
        first[input] = std::min(first[input], step);
        last[input] = step;
      }
    }
    std::vector<double> held(order.size() + 1, 0);  // first the changes per step, then their running sum
    for (const auto value : order) {
      if (first[value] == kNotYet) continue;
      DCHECK(first[value] <= last[value] && last[value] < order.size(), "a value is held until a step that reads it");
      held[first[value]] += bytes_[vertex_of(value)];
      held[last[value] + 1] -= bytes_[vertex_of(value)];
    }
    for (std::size_t step = 1; step < held.size(); ++step) held[step] += held[step - 1];
    held.pop_back();
    return held;
  }

  double excess_beyond(double limit) const {
    double excess = 0;
    for (const auto bytes : held_bytes(order())) excess += std::max(0.0, bytes - limit);
    return excess;
  }

  RecomputedGraph result() const {
    RecomputedGraph out;
    out.graph.labels() = graph_.labels();
    std::vector<VertexId> now(2 * graph_.size());
    for (const auto value : order()) {
      auto vertex = graph_.vertex(VertexId(vertex_of(value)));
      vertex.inputs.clear();
      for (const auto input : inputs_of(value)) {
        CHECK(now[input].index() < out.graph.size(), "values are computed before they are read");
        vertex.inputs.push_back(now[input]);
      }
      if (is_copy(value)) {
        out.names.push_back(vertex.name);
        vertex.name += "'";
      }
      now[value] = out.graph.add(std::move(vertex));
    }
    CHECK(out.graph.size() == graph_.size() + out.names.size(), "a graph has one more vertex for each copy");
    out.graph.set_outputs(outputs_now(graph_, now));
    return out;
  }

  const EinGraph& graph_;
  std::vector<bool> again_;    // for each vertex: whether it has a copy
  std::vector<double> bytes_;  // of each vertex
  std::size_t split_ = 0;      // vertices after this one read copies
  double peak_ = 0;
};

}  // namespace

RecomputedGraph recompute_values(const EinGraph& graph, double share) { return Recomputation(graph).run(share); }

}  // namespace eindb
