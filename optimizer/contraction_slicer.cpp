#include "optimizer/contraction_slicer.hpp"

#include <algorithm>
#include <unordered_map>

#include "common/check.hpp"
#include "optimizer/paths/slicing.hpp"
#include "optimizer/rewrites/joined_factors.hpp"
#include "tensor/scan_form.hpp"

namespace eindb {
namespace {

bool has_aggregate(const Vertex& vertex, Aggregate aggregate) {
  return vertex.einsum.aggregate == aggregate || vertex.einsum.aggregate == Aggregate::None;
}

constexpr Aggregate kSliced[] = {Aggregate::Sum, Aggregate::Max, Aggregate::Min, Aggregate::LogSumExp};

// Rounding to INT64 drops fractions. It must happen once, not once per slice.
bool keeps_sums(const Vertex& vertex) { return vertex.dtype != DType::Int64 || vertex.compute_dtype == DType::Int64; }

// Assigns each vertex to the tree of the reader that it belongs to.
class Trees {
 public:
  explicit Trees(const EinGraph& graph) : graph_(graph), uses_(graph.use_counts()), root_(graph.size()) {
    for (std::size_t v = 0; v < graph.size(); ++v) root_[v] = v;
    for (std::size_t v = graph.size(); v-- > 0;) {
      const auto& vertex = graph.vertex(VertexId(v));
      for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
        if (belongs_to(vertex, n)) root_[vertex.inputs[n].index()] = root_[v];
    }
  }

  /// The vertices of every tree with more than one vertex, in the order of computation.
  std::vector<std::vector<VertexId>> list() const {
    std::vector<std::vector<VertexId>> members(graph_.size());
    for (std::size_t v = 0; v < graph_.size(); ++v) members[root_[v]].emplace_back(v);
    std::erase_if(members, [](const auto& tree) { return tree.size() < 2; });
    return members;
  }

 private:
  bool belongs_to(const Vertex& reader, std::size_t n) const {
    const auto id = reader.inputs[n];
    const auto& read = graph_.vertex(id);
    if (read.is_input() || uses_[id.index()] != 1 || reader.einsum.inputs[n] != read.einsum.output) return false;
    if (read.einsum.epilogue != nullptr) return false;  // an epilogue needs the whole sum
    if (read.cells || reader.cells) return false;       // cells are made whole
    const auto how = read.einsum.aggregate;
    if (how != Aggregate::None && how != Aggregate::Sum) return distributes(reader, n, how);
    if (has_aggregate(reader, Aggregate::Sum)) return distributes(reader, n, Aggregate::Sum) && keeps_sums(read);
    return how == Aggregate::None;
  }

  const EinGraph& graph_;
  std::vector<int> uses_;
  std::vector<std::size_t> root_;
};

// One tree as a SlicingProblem on plain values, with the mapping back to vertices.
class TreeProblem {
 public:
  TreeProblem(const EinGraph& graph, const std::vector<VertexId>& tree) : graph_(graph), tree_(tree) {
    DCHECK(std::is_sorted(tree.begin(), tree.end()), "a tree is in the order of computation");
    for (const auto id : tree)
      for (const auto input : graph.vertex(id).inputs)
        if (!in_tree(input)) ++operands_;
    for (std::size_t s = 0; s < tree.size(); ++s) result_.emplace(tree[s], operands_ + s);
    for (const auto id : tree) add_step(graph.vertex(id));
    CHECK(problem_.operands.size() == operands_ && problem_.steps.size() == tree.size(),
          "results of steps are numbered behind all operands");
    find_sliceable();
  }

  const SlicingProblem& problem() const { return problem_; }

  SlicedContraction contraction(const Slicing& slicing) const {
    CHECK(slicing.parts.size() == labels_.size(), "a slicing has parts for every label of its tree");
    CHECK(!slicing.body.empty() && slicing.body.back() == slicing.last, "what slices compute ends in the last step");
    SlicedContraction out;
    for (const auto s : slicing.body) out.body.push_back(tree_[s]);
    out.result = tree_[slicing.last];
    out.streamed = slicing.streamed;
    const auto& last = problem_.steps[slicing.last];
    for (std::size_t l = 0; l < labels_.size(); ++l) {
      if (slicing.parts[l] < 2) continue;
      out.labels.push_back({labels_[l], slicing.parts[l]});
      const auto has = [&](const auto& list) { return std::find(list.begin(), list.end(), l) != list.end(); };
      // Slices of labels that are aggregated below the root are aggregated likewise, also where the root does not.
      if (!has(last.labels)) out.aggregate = below_;
      else if (!has(last.kept) && out.aggregate == Aggregate::None)
        out.aggregate = graph_.vertex(out.result).einsum.aggregate;
    }
    return out;
  }

 private:
  bool in_tree(VertexId id) const { return std::binary_search(tree_.begin(), tree_.end(), id); }

  std::size_t number_of(Label label) {
    const auto [entry, is_new] = number_.try_emplace(label, labels_.size());
    if (is_new) {
      labels_.push_back(label);
      problem_.extents.push_back(graph_.labels().extent(label));
    }
    return entry->second;
  }

  std::vector<std::size_t> numbers_of(const Labels& labels) {
    std::vector<std::size_t> out;
    for (const auto label : labels) out.push_back(number_of(label));
    return out;
  }

  void add_step(const Vertex& vertex) {
    SlicingProblem::Step step{{}, numbers_of(vertex.einsum.labels()), numbers_of(vertex.einsum.output), 0, 0};
    step.element_bytes = static_cast<double>(std::max(size_of(vertex.dtype), size_of(vertex.compute_dtype)));
    step.flops_per_cell = vertex.einsum.aggregate == Aggregate::None ? 1 : 2;
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
      const auto id = vertex.inputs[n];
      if (in_tree(id)) step.inputs.push_back(result_.at(id));
      else step.inputs.push_back(add_operand(graph_.vertex(id), vertex.einsum.inputs[n]));
    }
    problem_.steps.push_back(std::move(step));
  }

  // An attached tensor lies in the program's memory and counts nothing.
  std::size_t add_operand(const Vertex& vertex, const Labels& labels) {
    SlicingProblem::Operand operand{numbers_of(labels), static_cast<double>(size_of(vertex.dtype))};
    if (vertex.is_input() && (vertex.stored->attached || vertex.stored->as_cells)) operand.element_bytes = 0;
    else if (vertex.is_input()) operand.stored_parts = vertex.stored->grid.partition();
    problem_.operands.push_back(std::move(operand));
    return problem_.operands.size() - 1;
  }

  // A label that occurs under two maximal vertices stands for two different loops unless they meet further down.
  // Slicing a label that is aggregated below the root gives partial values, which every vertex from there to the root
  // must keep apart; this is done for labels of one aggregate, the first in kSliced that has some.
  void find_sliceable() {
    std::vector<std::size_t> tops;
    for (const auto aggregate : kSliced) {
      below_ = aggregate;
      problem_.sliceable.assign(labels_.size(), true);
      tops.assign(labels_.size(), 0);
      if (find_sliceable_by(aggregate, tops) > 0) break;
    }
    for (std::size_t l = 0; l < tops.size(); ++l)
      if (tops[l] != 1) problem_.sliceable[l] = false;
  }

  // Returns the number of labels below the root that may be sliced with this aggregate.
  std::size_t find_sliceable_by(Aggregate aggregate, std::vector<std::size_t>& tops) {
    const auto count = problem_.steps.size();
    std::vector<bool> keeps(count, true);  // the step and all from it to the root
    std::size_t found = 0;
    for (std::size_t s = count; s-- > 0;) {
      const auto& step = problem_.steps[s];
      const auto& vertex = graph_.vertex(tree_[s]);
      for (std::size_t n = 0; n < step.inputs.size(); ++n)
        if (step.inputs[n] >= operands_)
          keeps[step.inputs[n] - operands_] = keeps[s] && distributes(vertex, n, aggregate);
      const auto uncut = uncut_labels(vertex.einsum, vertex.compute_dtype);
      for (const auto label : step.labels) {
        if (contains(uncut, labels_[label])) problem_.sliceable[label] = false;
        const bool ends = s + 1 == count || std::find(step.kept.begin(), step.kept.end(), label) == step.kept.end();
        if (!ends) continue;
        ++tops[label];
        if (s + 1 == count) {
          const bool kept = std::find(step.kept.begin(), step.kept.end(), label) != step.kept.end();
          if (vertex.einsum.user != nullptr && !kept) problem_.sliceable[label] = false;
          continue;
        }
        if (keeps[s] && vertex.einsum.aggregate == aggregate) ++found;
        else problem_.sliceable[label] = false;
      }
    }
    return found;
  }

  const EinGraph& graph_;
  const std::vector<VertexId>& tree_;
  std::size_t operands_ = 0;
  Aggregate below_ = Aggregate::Sum;  // of sliced labels that end below the root
  SlicingProblem problem_;
  Labels labels_;
  std::unordered_map<Label, std::size_t> number_;
  std::unordered_map<VertexId, std::size_t> result_;
};

SlicingProblem without_stored_operands(SlicingProblem problem) {
  for (auto& operand : problem.operands)
    if (!operand.stored_parts.empty()) operand.element_bytes = 0;
  return problem;
}

double least_bytes(const SlicingProblem& problem) {
  auto parts = problem.extents;
  for (std::size_t l = 0; l < parts.size(); ++l)
    if (!problem.sliceable[l] || parts[l] < 1) parts[l] = 1;
  return evaluate_slicing(without_stored_operands(problem), parts).bytes;
}

}  // namespace

SlicedGraph slice_contractions(EinGraph graph, double limit) {
  std::vector<SlicedContraction> found;
  std::optional<MemoryShortfall> shortfall;
  for (const auto& tree : Trees(graph).list()) {
    const TreeProblem tree_problem(graph, tree);
    const auto slicing = find_slicing(tree_problem.problem(), limit);
    if (slicing.slices > 1) found.push_back(tree_problem.contraction(slicing));
    if (slicing.bytes <= limit) continue;
    const auto least = least_bytes(tree_problem.problem());
    if (least > limit && (!shortfall || least > shortfall->bytes)) shortfall = {graph.vertex(tree.back()).name, least};
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.result < b.result; });
  for (auto& contraction : found) graph.slice(std::move(contraction));
  return {std::move(graph), std::move(shortfall)};
}

}  // namespace eindb
