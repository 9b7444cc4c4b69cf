#include "optimizer/rewrites/chain_fusion.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "optimizer/rewrites/dead_vertices.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/access_form.hpp"

namespace eindb {
namespace {

// Half of a second-level cache, for the operands that every strip reads again and for the values that a strip holds.
constexpr double kCacheBytes = 512 * 1024;
constexpr double kFewestRows = 32;  // of a matrix product's strip

// Whether workers should have parts of an index that is split, or merged, which chains cannot give them.
bool stays_apart(const EinGraph& graph, const Vertex& vertex, const PlanningTerms& terms) {
  if (terms.workers < 2 || vertex.is_input()) return false;
  const auto aligned = aligned_labels(vertex.einsum, graph.labels());
  return aligned && aligned->extent > graph.labels().extent(aligned->major);
}

class ChainFinder {
 public:
  ChainFinder(const EinGraph& graph, const PlanningTerms& terms)
      : graph_(graph), uses_(graph.use_counts()), needed_(reached_by_outputs(graph)), taken_(graph.size(), false) {
    for (std::size_t n = 0; n < graph.size(); ++n) taken_[n] = stays_apart(graph, graph.vertices()[n], terms);
  }

  EinGraph run() {
    auto fused = graph_;
    for (std::size_t n = graph_.size(); n-- > 0;) {
      if (!needed_[n] || taken_[n] || graph_.vertices()[n].is_input()) continue;
      if (auto chain = grown_from(VertexId(n))) fused.fuse(*std::move(chain));
    }
    return fused;
  }

 private:
  std::optional<FusedChain> grown_from(VertexId sink) {
    std::vector<VertexId> body{sink};  // in the order of the graph
    Labels rows = graph_.vertex(sink).einsum.output;
    if (!fits(body, rows)) return std::nullopt;
    // Readers come later in the graph, so going backwards all readers of a vertex have been decided.
    std::set<VertexId> read;  // by the body, not yet decided
    const auto add_inputs = [&](VertexId id) {
      const auto& inputs = graph_.vertex(id).inputs;
      read.insert(inputs.begin(), inputs.end());
    };
    for (add_inputs(sink); !read.empty();) {
      const auto candidate = *std::prev(read.end());
      read.erase(candidate);
      CHECK(candidate < body.front(), "what a chain reads comes before it");
      if (taken_[candidate.index()] || graph_.vertex(candidate).is_input() || !is_read_by_alone(candidate, body))
        continue;
      auto with = body;
      with.insert(with.begin(), candidate);
      auto fewer = rows_with(graph_.vertex(candidate), rows);
      if (!fits(with, fewer) || (fewer.size() < rows.size() && hinders_larger(candidate, read))) continue;
      body = std::move(with);
      rows = std::move(fewer);
      add_inputs(candidate);
    }
    if (body.size() < 2) return std::nullopt;
    CHECK(!rows.empty() && body.back() == sink, "a chain has rows and ends in its sink");
    DCHECK(std::is_sorted(body.begin(), body.end()), "the body of a chain is in the order of the graph");
    for (const auto id : body) {
      CHECK(!taken_[id.index()], "a vertex is in one chain");
      taken_[id.index()] = true;
    }
    return FusedChain{sink, body, cutting_order(body, rows)};
  }

  bool is_read_by_alone(VertexId candidate, const std::vector<VertexId>& body) const {
    const auto& vertex = graph_.vertex(candidate);
    if (vertex.dtype != vertex.compute_dtype) return false;
    int reads = 0;
    poll_cancellation_after(body.size());
    for (const auto id : body) {
      const auto& reader = graph_.vertex(id);
      for (std::size_t i = 0; i < reader.inputs.size(); ++i) {
        if (reader.inputs[i] != candidate) continue;
        if (reader.einsum.inputs[i] != vertex.einsum.output) return false;
        if (is_product(reader) && is_product(vertex)) return false;
        ++reads;
      }
    }
    return reads > 0 && reads == uses_[candidate.index()];
  }

  // Whether the vertex's readers in a chain read its operand in its place.
  bool is_window(const Vertex& vertex) const { return is_window_of(graph_, vertex); }

  // Whether a larger value that may join the chain needs the rows that a matrix product takes from it.
  bool hinders_larger(VertexId product, const std::set<VertexId>& read) const {
    if (!is_product(graph_.vertex(product))) return false;
    const auto own = cells(graph_.vertex(product).einsum.output);
    return std::any_of(read.begin(), read.end(), [&](VertexId other) {
      const auto& vertex = graph_.vertex(other);
      return !vertex.is_input() && !taken_[other.index()] && uses_[other.index()] == 1 &&
             cells(vertex.einsum.output) > own;
    });
  }

  // Whether the vertex is like a matrix product: it has two operands, each with labels that the other lacks, so that
  // the elements of both are used repeatedly.
  static bool is_product(const Vertex& vertex) {
    if (vertex.einsum.aggregate == Aggregate::None || vertex.inputs.size() != 2) return false;
    const auto& inputs = vertex.einsum.inputs;
    return !difference(inputs[0], inputs[1]).empty() && !difference(inputs[1], inputs[0]).empty();
  }

  // At most one operand of a product may lack rows, since it is read again for every strip. If both do, the smaller one
  // may.
  Labels rows_with(const Vertex& vertex, const Labels& rows) const {
    if (is_window(vertex)) return rows;
    auto common = intersection(rows, vertex.einsum.output);
    if (!is_product(vertex)) return common;
    const auto& [a, b] = std::pair(vertex.einsum.inputs[0], vertex.einsum.inputs[1]);
    const auto without_a = difference(common, a);
    const auto without_b = difference(common, b);
    if (without_a.empty() || without_b.empty()) return common;
    return difference(common, cells(a) < cells(b) ? without_b : without_a);
  }

  bool fits(const std::vector<VertexId>& body, const Labels& rows) const {
    if (rows.empty()) return false;
    double strip = 0;
    double again = 0;  // of an operand, what every strip reads again
    bool multiplies = false;
    bool has_strips = false;
    for (const auto id : body) {
      const auto& vertex = graph_.vertex(id);
      has_strips = has_strips || (id != body.back() && !is_window(vertex));
      if (vertex.einsum.block) return false;  // it takes vectors whole, and its result has no strips
      if (vertex.cells) return false;
      for (const auto label : vertex.einsum.labels())
        if (graph_.labels().extent(label) == 0) return false;
      for (std::size_t i = 0; i < vertex.inputs.size(); ++i) {
        const auto& labels = vertex.einsum.inputs[i];
        if (graph_.vertex(vertex.inputs[i]).cells) return false;
        if (!is_window(vertex))
          again = std::max(again, cells(difference(labels, rows)) * bytes(graph_.vertex(vertex.inputs[i])));
        multiplies = multiplies || (is_product(vertex) && !difference(rows, labels).empty());
      }
      if (!is_window(vertex)) strip += cells(difference(vertex.einsum.output, rows)) * bytes(vertex);
    }
    // A vertex whose only companions are windows is computed in one piece, without strips.
    return !has_strips || (again <= kCacheBytes && strip * (multiplies ? kFewestRows : 1) <= kCacheBytes);
  }

  // Labels that most operands have come first: cutting them leaves the least to be read again.
  Labels cutting_order(const std::vector<VertexId>& body, Labels rows) const {
    const auto occurrences = [&](Label row) {
      std::int64_t count = 0;
      for (const auto id : body) {
        const auto& vertex = graph_.vertex(id);
        if (is_window(vertex)) count += contains(vertex.einsum.output, row) ? 1 : 0;  // it moves what is read
        else
          for (const auto& labels : vertex.einsum.inputs) count += contains(labels, row) ? 1 : 0;
      }
      return count;
    };
    std::stable_sort(rows.begin(), rows.end(), [&](Label a, Label b) { return occurrences(a) > occurrences(b); });
    return rows;
  }

  static Labels intersection(const Labels& a, const Labels& b) {
    Labels out;
    std::copy_if(a.begin(), a.end(), std::back_inserter(out), [&](Label label) { return contains(b, label); });
    return out;
  }
  double cells(const Labels& labels) const {
    double count = 1;
    for (const auto label : labels) count *= static_cast<double>(graph_.labels().extent(label));
    return count;
  }
  static double bytes(const Vertex& vertex) { return static_cast<double>(size_of(vertex.compute_dtype)); }

  const EinGraph& graph_;
  std::vector<int> uses_;
  std::vector<bool> needed_;
  std::vector<bool> taken_;
};

// Gives each vertex that reads a window one of its own, which then can be in its chain. A window costs nothing where it
// is in a chain, and stores its cells where it is not.
EinGraph with_own_windows(const EinGraph& graph, const PlanningTerms& terms) {
  std::vector<std::optional<VertexId>> first_reader(graph.size());
  std::vector<bool> is_shared(graph.size(), false);
  for (std::size_t n = 0; n < graph.size(); ++n) {
    for (const auto input : graph.vertices()[n].inputs) {
      auto& first = first_reader[input.index()];
      if (!first) first = VertexId(n);
      is_shared[input.index()] = is_shared[input.index()] || first != VertexId(n);
    }
  }
  for (std::size_t n = 0; n < graph.size(); ++n)
    is_shared[n] = is_shared[n] && !graph.is_output(VertexId(n)) && is_window_of(graph, graph.vertices()[n]) &&
                   !stays_apart(graph, graph.vertices()[n], terms);
  if (std::none_of(is_shared.begin(), is_shared.end(), [](bool shared) { return shared; })) return graph;
  VertexNames names(graph);
  std::size_t n = 0;
  return rewrite_each(graph, [&](EinGraph& made, const Vertex& vertex) {
    const VertexId before(n++);
    auto rewritten = vertex;
    std::map<VertexId, VertexId> copies;
    for (std::size_t i = 0; i < vertex.inputs.size(); ++i) {
      const auto read = graph.vertex(before).inputs[i];
      if (!is_shared[read.index()] || first_reader[read.index()] == before || vertex.einsum.block) continue;
      auto [copy, is_new] = copies.try_emplace(read, VertexId(0));
      if (is_new) {
        auto window = made.vertex(vertex.inputs[i]);
        window.name = names.next(window.name);
        copy->second = made.add(std::move(window));
      }
      rewritten.inputs[i] = copy->second;
    }
    return made.add(std::move(rewritten));
  });
}

}  // namespace

EinGraph fuse_chains(const EinGraph& graph, const PlanningTerms& terms) {
  return ChainFinder(with_own_windows(graph, terms), terms).run();
}

}  // namespace eindb
