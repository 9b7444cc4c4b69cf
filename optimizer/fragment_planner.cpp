#include "optimizer/fragment_planner.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "common/check.hpp"
#include "optimizer/concatenation.hpp"
#include "optimizer/fused_join.hpp"
#include "optimizer/partitions/labelling.hpp"
#include "optimizer/rewrites/dead_vertices.hpp"
#include "tensor/cell_block.hpp"

namespace eindb {
namespace {

std::optional<double> cell_count(const Vertex& vertex) {
  return vertex.cells ? std::optional(vertex.cells->cells) : std::nullopt;
}

class FragmentPlanner {
 public:
  FragmentPlanner(const EinGraph& graph, const Labelling& labelling) : graph_(graph), labelling_(labelling) {
    CHECK(labelling.vertices.size() == graph.size(), "every vertex of a graph is labelled before it is lowered");
    plan_.labels = graph.labels();
    result_.resize(graph.size());
    std::vector<LabelPartition> partitions;
    for (const auto& vertex : labelling.vertices) partitions.push_back(vertex.partition);
    for (const auto& chain : graph.chains())
      if (auto partition = partition_of_chain(graph, chain, partitions))
        chains_.emplace(chain.result, PlannedChain{&chain, *std::move(partition)});
  }

  Fragment run(const WantedPartitions& wanted) {
    const auto needed = reached_by_outputs(graph_);
    const auto streamed = streamed_inputs(needed);
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      if (!needed[v] || streamed[v] || is_inside_chain(VertexId(v))) continue;
      const auto* sliced = graph_.sliced_with(VertexId(v));
      if (sliced != nullptr && sliced->result != VertexId(v)) continue;
      if (const auto chain = chains_.find(VertexId(v)); chain != chains_.end())
        result_[v] = fuse(chain->second, wanted_of(graph_, wanted, VertexId(v)));
      else if (sliced != nullptr) result_[v] = loop(*sliced);
      else result_[v] = graph_.vertex(VertexId(v)).is_input() ? scan(VertexId(v)) : compute(VertexId(v));
      if (const auto number = graph_.output_number(VertexId(v)))
        deliver(VertexId(v), *number, wanted_of(graph_, wanted, VertexId(v)));
    }
    return std::move(plan_);
  }

 private:
  struct PlannedChain {
    const FusedChain* chain;
    LabelPartition partition;
  };

  // Called right after a result is computed, so that its tiles are held no longer than its readers need them.
  void deliver(VertexId output, std::size_t number, const Partition* wanted) {
    auto last = result_[output.index()];
    CHECK(last.index() < plan_.nodes.size(), "a result is delivered after it is computed");
    if (wanted != nullptr) last = cut(last, plan_.node(last).cells ? parts_in_common(last, *wanted) : *wanted);
    const auto finished = plan_.node(last);
    add({SinkNode{last, number}, output, finished.dtype, finished.grid, finished.cells});
  }

  // The finest partition that both the node's and the wanted one refine. A result of cells that is stored is delivered
  // in these few large tiles, and its sink cuts them: most of the wanted tiles may have no cell.
  Partition parts_in_common(NodeId node, const Partition& wanted) const {
    Partition common;
    const auto& parts = plan_.node(node).grid.partition();
    for (std::size_t d = 0; d < parts.size(); ++d) common.push_back(std::gcd(parts[d], wanted[d]));
    return common;
  }

  bool is_inside_chain(VertexId id) const {
    return std::any_of(chains_.begin(), chains_.end(), [&](const auto& entry) {
      return entry.first != id &&
             std::binary_search(entry.second.chain->body.begin(), entry.second.chain->body.end(), id);
    });
  }

  // One join for all vertices of a chain, or no more than a copy of what it joins, right into the tiles that are
  // wanted.
  NodeId fuse(const PlannedChain& planned, const Partition* wanted) {
    if (auto joined = concatenation(*planned.chain)) {
      const auto& vertex = graph_.vertex(planned.chain->result);
      const auto& parts = wanted != nullptr ? *wanted : planned.partition.project(vertex.einsum.output);
      return add({*std::move(joined), planned.chain->result, vertex.dtype, TileGrid(vertex.bound, parts)});
    }
    auto join = fused_join(graph_, *planned.chain, planned.partition);
    cut_inputs(join);
    const auto& vertex = graph_.vertex(planned.chain->result);
    const TileGrid grid(vertex.bound, planned.partition.project(vertex.einsum.output));
    return add({std::move(join), planned.chain->result, vertex.dtype, grid}, vertex.einsum.output);
  }

  // Inputs of the join are vertices up to here. Those that are read as they lie have no halos.
  void cut_inputs(JoinNode& join) {
    std::vector<std::size_t> sources;
    bool is_dense = true;
    for (auto& input : join.inputs) {
      sources.push_back(input.index());
      input = result_[input.index()];
      is_dense = is_dense && !plan_.node(input).cells;
    }
    if (is_dense) join.halos = join.halo_finder(sources).halos(join.partition, plan_.labels);
    for (std::size_t n = 0; n < join.inputs.size(); ++n) {
      const auto& labels = join.einsum.inputs[n];
      const auto whole = join.partition.project(labels);
      const auto& source = plan_.node(join.inputs[n]);
      if (source.grid.partition() == whole || can_be_read_in_any_partition(source))
        std::erase_if(join.halos, [&](const Halo& halo) { return contains(labels, halo.label); });
    }
    for (std::size_t n = 0; n < join.inputs.size(); ++n)
      join.inputs[n] = cut(join.inputs[n], join.operand_grid(n, plan_.labels));
  }

  std::optional<ConcatenationNode> concatenation(const FusedChain& chain) const {
    const auto found = concatenation_of(graph_, chain);
    if (!found) return std::nullopt;
    ConcatenationNode joined{.inputs = {}, .along = found->along};
    for (const auto part : found->parts) joined.inputs.push_back(result_[part.index()]);
    // What is stored is there on request, so that nobody would wait for the tiles that are computed beside it.
    const auto is_stored = [&](NodeId id) { return plan_.node(id).role() == OperatorRole::Source; };
    const auto stored = std::count_if(joined.inputs.begin(), joined.inputs.end(), is_stored);
    if (stored != 0 && std::cmp_not_equal(stored, joined.inputs.size())) return std::nullopt;
    return joined;
  }

  NodeId add(FragmentNode node, const Labels& dimensions = {}) {
    plan_.nodes.push_back(std::move(node));
    if (loop_) loop_->dimensions.push_back(dimensions);
    return NodeId(plan_.nodes.size() - 1);
  }

  static bool has_sliced_label(const Labels& labels, const SlicedContraction& sliced) {
    return std::any_of(sliced.labels.begin(), sliced.labels.end(),
                       [&](const SlicedLabel& cut) { return contains(labels, cut.label); });
  }

  // Whether the slices read the tensor from storage themselves.
  bool is_streamed(VertexId input, const Labels& labels, const SlicedContraction* sliced) const {
    const auto& vertex = graph_.vertex(input);
    return sliced != nullptr && sliced->streamed && vertex.is_input() && !vertex.stored->reads_in_any_partition() &&
           !vertex.stored->attached && has_sliced_label(labels, *sliced);
  }

  // For each vertex: whether all its readers stream it (is_streamed).
  std::vector<bool> streamed_inputs(const std::vector<bool>& needed) const {
    std::vector<bool> streamed(graph_.size(), false);
    if (graph_.sliced().empty()) return streamed;
    for (std::size_t v = 0; v < graph_.size(); ++v) streamed[v] = graph_.vertex(VertexId(v)).is_input();
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      if (!needed[v]) continue;
      const auto& vertex = graph_.vertex(VertexId(v));
      for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
        if (!is_streamed(vertex.inputs[n], vertex.einsum.inputs[n], graph_.sliced_with(VertexId(v))))
          streamed[vertex.inputs[n].index()] = false;
    }
    return streamed;
  }

  // Adds the nodes that all slices share first, then those that run once per slice.
  NodeId loop(const SlicedContraction& sliced) {
    for (const auto v : sliced.body) cut_shared_inputs(v, sliced);
    CHECK(!loop_ && sliced_ == nullptr && parts_of_slices_.empty(), "loops do not lie in each other");
    loop_ = SliceLoop{NodeId(plan_.nodes.size()), {}, sliced.labels, sliced.aggregate, {}};
    sliced_ = &sliced;
    for (const auto v : sliced.body) result_[v.index()] = compute(v);
    sliced_ = nullptr;
    loop_->result = result_[sliced.result.index()];
    CHECK(loop_->result.index() + 1 == plan_.nodes.size() &&
              loop_->dimensions.size() == plan_.nodes.size() - loop_->begin.index(),
          "a loop knows the labels of its nodes, and the last of them gives its result");
    plan_.loops.push_back(*std::exchange(loop_, std::nullopt));
    parts_of_slices_.clear();
    return plan_.loops.back().result;
  }

  void cut_shared_inputs(VertexId v, const SlicedContraction& sliced) {
    const auto& vertex = graph_.vertex(v);
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
      const auto input = vertex.inputs[n];
      const auto& labels = vertex.einsum.inputs[n];
      if (std::binary_search(sliced.body.begin(), sliced.body.end(), input)) continue;
      const bool attached =
          !is_streamed(input, labels, &sliced) && can_be_read_in_any_partition(plan_.node(result_[input.index()]));
      if (attached || !has_sliced_label(labels, sliced))
        cut(result_[input.index()], labelling_.vertices[v.index()].partition.project(labels));
    }
  }

  // Within a loop: the share of an input that belongs to the current slice, or the node that all slices share.
  NodeId cut_slice(VertexId input, const Labels& labels, const Partition& wanted) {
    CHECK(sliced_ != nullptr && loop_.has_value(), "slices are cut while their loop is built");
    const bool own = std::binary_search(sliced_->body.begin(), sliced_->body.end(), input);
    if (!own && !has_sliced_label(labels, *sliced_)) return cut(result_[input.index()], wanted);
    auto node = result_[input.index()];
    if (is_streamed(input, labels, sliced_)) node = scan_slice(input, labels);
    else if (can_be_read_in_any_partition(plan_.node(node))) return cut(node, wanted);
    CHECK(node.index() < plan_.nodes.size(), "a slice reads a node before it");
    const auto source = plan_.node(node);
    if (source.grid.partition() == wanted) return node;
    const auto [known, is_new] = parts_of_slices_.try_emplace({source.vertex, labels, wanted});
    if (is_new)
      known->second = add(
          {RepartitionNode{node}, source.vertex, source.dtype, {source.grid.shape(), wanted}, source.cells}, labels);
    return known->second;
  }

  NodeId scan_slice(VertexId input, const Labels& labels) {
    const auto& tensor = *graph_.vertex(input).stored;
    const auto [known, is_new] = parts_of_slices_.try_emplace({input, labels, {}});
    if (is_new)
      known->second =
          add({ScanNode{tensor}, input, tensor.dtype, tensor.grid, cell_count(graph_.vertex(input))}, labels);
    return known->second;
  }

  NodeId scan(VertexId v) {
    auto tensor = *graph_.vertex(v).stored;
    if (tensor.selection) tensor.selection->as_cells = selects_cells(tensor);
    return add({ScanNode{tensor}, v, tensor.dtype, tensor.grid, cell_count(graph_.vertex(v))});
  }

  // Whether a row of a tile is found in less time among its cells than among its plain values.
  static bool selects_cells(const InputTensor& tensor) {
    constexpr double kMostCells = 0.125;
    const auto& [stored, at, parameters, cells, as_cells] = *tensor.selection;
    return cells && *cells <= kMostCells * static_cast<double>(stored.shape().element_count()) &&
           !has_scales(tensor.encoding) && CellBlock::may_have(stored.shape());
  }

  // The tensor of `node` in the wanted partition.
  NodeId cut(NodeId node, const Partition& wanted) {
    CHECK(node.index() < plan_.nodes.size(), "what an operator reads has a node before it");
    return cut(node, TileGrid(plan_.node(node).grid.shape(), wanted));
  }
  NodeId cut(NodeId node, const TileGrid& wanted) {
    CHECK(node.index() < plan_.nodes.size(), "what an operator reads has a node before it");
    if (can_be_read_in_any_partition(plan_.node(node))) return rescan(node, wanted.partition());
    const auto source = plan_.node(node);
    if (!wanted.overlaps() && source.grid.partition() == wanted.partition()) return node;
    auto& known = repartitions_[{node, wanted.partition()}];
    for (const auto made : known)
      if (plan_.node(made).grid == wanted) return made;
    known.push_back(add({RepartitionNode{node}, source.vertex, source.dtype, wanted, source.cells}));
    return known.back();
  }

  static bool can_be_read_in_any_partition(const FragmentNode& node) {
    const auto* stored = node.stored();
    return stored != nullptr && stored->reads_in_any_partition();
  }

  // The first reader takes the scan itself, in the partition that it wants; a reader with another partition gets a scan
  // of its own.
  NodeId rescan(NodeId first, const Partition& wanted) {
    const auto [known, is_new] = rescans_.try_emplace({first, wanted}, first);
    if (!is_new) return known->second;
    auto node = plan_.node(first);
    node.grid = TileGrid(node.grid.shape(), wanted);
    std::get<ScanNode>(node.op).tensor.grid = node.grid;
    if (read_scans_.insert(first).second) plan_.nodes[first.index()] = std::move(node);
    else known->second = add(std::move(node));
    return known->second;
  }

  NodeId compute(VertexId v) {
    const auto& vertex = graph_.vertex(v);
    const auto& partition = labelling_.vertices[v.index()].partition;
    JoinNode join{{}, vertex.einsum, partition, vertex.compute_dtype};
    if (sliced_ == nullptr) {
      for (const auto input : vertex.inputs) join.inputs.emplace_back(input.index());
      cut_inputs(join);
    } else {
      for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
        const auto& labels = vertex.einsum.inputs[n];
        join.inputs.push_back(cut_slice(vertex.inputs[n], labels, partition.project(labels)));
      }
    }
    const auto& head = vertex.einsum.output;
    const TileGrid grid(vertex.bound, partition.project(head));
    const bool grouped = join.is_partial();
    CHECK(!grouped || !vertex.cells, "cells of a result are made in one call for each part");
    const auto joined = add({std::move(join), v, vertex.dtype, grid, cell_count(vertex)}, head);
    return grouped ? add({GroupByNode{joined}, v, vertex.dtype, grid}, head) : joined;
  }

  const EinGraph& graph_;
  const Labelling& labelling_;
  Fragment plan_;
  std::vector<NodeId> result_;  // the node of each vertex's result
  std::map<VertexId, PlannedChain> chains_;
  std::map<std::pair<NodeId, Partition>, std::vector<NodeId>> repartitions_;
  std::map<std::pair<NodeId, Partition>, NodeId> rescans_;
  std::set<NodeId> read_scans_;                // scans of attached tensors that have a reader
  std::optional<SliceLoop> loop_;              // set while the nodes of a loop are added
  const SlicedContraction* sliced_ = nullptr;  // the contraction that the loop computes
  std::map<std::tuple<VertexId, Labels, Partition>, NodeId>
      parts_of_slices_;  // nodes within the loop; scans have no partition
};

}  // namespace

Fragment plan_fragment(const EinGraph& graph, const Labelling& labelling, const WantedPartitions& output_partitions) {
  return FragmentPlanner(graph, labelling).run(output_partitions);
}

}  // namespace eindb
