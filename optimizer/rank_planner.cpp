#include "optimizer/rank_planner.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "optimizer/fused_join.hpp"
#include "optimizer/rewrites/dead_vertices.hpp"
#include "optimizer/rewrites/label_substitution.hpp"
#include "plan/validator.hpp"
#include "tensor/access_form.hpp"
#include "tensor/scan_form.hpp"

namespace eindb {
namespace {

std::size_t place_in_partition(const Labels& labels, Label label) {
  const auto place = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
  CHECK(place < labels.size(), "a unit's labels are those of its partition vector");
  return place;
}

// The blocks of a label space along the given labels.
BlockPlacement projected(const BlockPlacement& space, const Labels& all, const Labels& labels) {
  BlockPlacement out;
  std::vector<std::size_t> places;
  for (const auto label : labels) places.push_back(place_in_partition(all, label));
  for (const auto place : places) out.parts.push_back(space.parts[place]);
  for (const auto& at : space.at) {
    auto& key = out.at.emplace_back();
    if (!at) continue;
    key.emplace();
    for (const auto place : places) key->push_back((*at)[place]);
  }
  return out;
}

// Whether block `part` of `parts` lies in block `other` of `others`, whatever the extent.
bool lies_in(std::int64_t part, std::int64_t parts, std::int64_t other, std::int64_t others) {
  return parts % others == 0 && part / (parts / others) == other;
}

// Whether every rank holds the block that it wants.
bool covers(const BlockPlacement& there, const BlockPlacement& wanted) {
  for (std::size_t rank = 0; rank < wanted.at.size(); ++rank) {
    if (!wanted.at[rank]) continue;
    if (!there.at[rank]) return false;
    for (std::size_t d = 0; d < wanted.parts.size(); ++d)
      if (!lies_in((*wanted.at[rank])[d], wanted.parts[d], (*there.at[rank])[d], there.parts[d])) return false;
  }
  return true;
}

std::int64_t product_of(const Partition& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{1}, std::multiplies<>());
}

// Whether some rank holds each block. Of a tensor that is read along its diagonal ranks are brought a part only.
bool is_whole(const BlockPlacement& blocks) {
  std::set<TileKey> keys;
  for (const auto& key : blocks.at)
    if (key) keys.insert(*key);
  return static_cast<std::int64_t>(keys.size()) == product_of(blocks.parts);
}

// How finely a rank works within its block: the partition vector of one vertex or chain, a multiple of the blocks.
class CallRefinement {
 public:
  // The tiles that calls read or make: the bytes of tiles relative to those of dense ones in one type, and the share of
  // their elements that are cells; 1 unless they are of cells.
  struct Tiles {
    DType dtype = DType::Float64;
    double bytes = 1;
    double cells = 1;
  };

  // `operands` in their order, and `result`.
  CallRefinement(const LabelTable& labels, const JoinNode& join, const ClusterShape& cluster, Partition blocks,
                 std::vector<Tiles> operands, const Tiles& result, std::vector<Halo> halos,
                 const std::vector<IndexEquation>& equations)
      : labels_(labels),
        join_(join),
        cluster_(cluster),
        blocks_(std::move(blocks)),
        parts_(blocks_),
        operands_(std::move(operands)),
        result_(result),
        halos_(std::move(halos)),
        uncut_(uncut_labels(join.einsum, join.compute_dtype)) {
    // The leaders of halos between ranks stay the only labels of their indices that are cut.
    for (const auto& halo : halos_)
      for (const auto& equation : equations)
        if (has_term(equation, halo.label))
          for (const auto& [label, coefficient] : equation.terms)
            if (label != halo.leader) append_distinct(uncut_, {label});
    if (result_.cells < 1) append_distinct(uncut_, join.einsum.aggregated);
    double visited = 0;  // where operands are of cells, calls visit these alone
    for (const auto& operand : operands_)
      if (operand.cells < 1) visited += operand.cells;
    if (visited > 0) visited_ = std::min(1.0, visited);
  }

  // Cuts `label` where `parts` parts do, too, as far as its extent allows.
  void raise(Label label, std::int64_t parts) {
    auto& known = parts_[place(label)];
    const auto both = std::lcm(parts, known);
    if (both <= labels_.extent(label)) known = both;
  }

  // Adopts an operand's existing cut, so that its tiles are read as they are.
  void adopt(const Labels& labels, const Partition& parts) {
    constexpr std::int64_t kMostCallsOfRank = 64;
    for (std::size_t d = 0; d < labels.size(); ++d) {
      const auto known = parts_[place(labels[d])];
      const bool is_finer = parts[d] > known && parts[d] % known == 0;
      if (!is_finer || !may_cut(labels[d]) || makes_short(labels[d], parts[d])) continue;
      if (calls() / known * parts[d] <= kMostCallsOfRank * cluster_.calls_per_rank) raise(labels[d], parts[d]);
    }
  }

  // Splits until all threads have calls, as long as each call has enough work.
  void split_calls() {
    while (calls() < cluster_.calls_per_rank && points_per_call() >= 2 * kFewestPoints) {
      auto label = largest(join_.einsum.output);
      if (!label) label = largest(join_.einsum.aggregated);
      if (!label) return;
      parts_[place(*label)] *= 2;
    }
  }

  void split_tiles() {
    for (std::size_t n = 0; n < operands_.size(); ++n) split_tiles(join_.einsum.inputs[n], operands_[n]);
    split_tiles(join_.einsum.output, result_);
  }

  void shrink_calls() {
    while (call_bytes() > cluster_.most_call_bytes) {
      const auto label = largest(join_.partition.labels);
      if (!label) return;
      parts_[place(*label)] *= 2;
    }
  }

  Partition take() { return std::move(parts_); }

 private:
  static constexpr double kFewestPoints = 1 << 16;  // the least label space points of a call of its own

  std::size_t place(Label label) const { return place_in_partition(join_.partition.labels, label); }

  // A chain is cut along its rows only; block functions and scans have their lines whole.
  bool may_cut(Label label) const {
    return join_.steps.empty() ? !contains(uncut_, label) : contains(join_.rows, label);
  }

  // A product reads one operand again in full for every part of the other's rows. For short parts that costs more than
  // assembling larger tiles.
  bool makes_short(Label label, std::int64_t parts) const {
    constexpr std::int64_t kShortest = 512;
    return !join_.einsum.aggregated.empty() && contains(join_.einsum.output, label) &&
           labels_.extent(label) < parts * kShortest;
  }

  double size_along(Label label) const {
    for (const auto& halo : halos_)
      if (halo.label == label)
        return static_cast<double>(halo.reach.largest(labels_.extent(label), parts_[place(halo.leader)]));
    return static_cast<double>(labels_.extent(label)) / static_cast<double>(parts_[place(label)]);
  }

  std::optional<Label> largest(const Labels& labels) const {
    std::optional<Label> best;
    for (const auto label : labels)
      if (may_cut(label) && size_along(label) >= 2 && (!best || size_along(label) > size_along(*best))) best = label;
    return best;
  }

  void split_tiles(const Labels& labels, const Tiles& tiles) {
    const auto cutting = cutting_labels(labels, halos_);
    while (tile_bytes(labels, tiles) > cluster_.most_tile_bytes) {
      const auto label = largest(cutting);
      if (!label) return;
      parts_[place(*label)] *= 2;
    }
  }

  std::int64_t calls() const { return product_of(parts_) / product_of(blocks_); }

  double points_per_call() const {
    double points = visited_;
    for (const auto label : join_.partition.labels) points *= size_along(label);
    return points;
  }

  double tile_bytes(const Labels& labels, const Tiles& tiles) const {
    auto bytes = static_cast<double>(size_of(tiles.dtype)) * tiles.bytes;
    for (const auto label : labels) bytes *= size_along(label);
    return bytes;
  }

  double call_bytes() const {
    double bytes = tile_bytes(join_.einsum.output, result_);
    for (std::size_t n = 0; n < operands_.size(); ++n) bytes += tile_bytes(join_.einsum.inputs[n], operands_[n]);
    return bytes;
  }

  const LabelTable& labels_;
  const JoinNode& join_;
  const ClusterShape& cluster_;
  Partition blocks_;
  Partition parts_;
  std::vector<Tiles> operands_;
  Tiles result_;
  double visited_ = 1;       // the share of the points that calls visit
  std::vector<Halo> halos_;  // between ranks
  Labels uncut_;
};

class DistributedPlanner {
 public:
  DistributedPlanner(const EinGraph& graph, const Labelling& labelling, const Placement& placement,
                     const ClusterShape& cluster)
      : graph_(graph), labelling_(labelling), placement_(placement), cluster_(cluster), result_(graph.size()) {
    plan_.ranks = cluster.ranks;
    plan_.coordinator = cluster.coordinator;
    plan_.labels = graph.labels();
    std::vector<LabelPartition> partitions;
    for (const auto& vertex : labelling.vertices) partitions.push_back(vertex.partition);
    for (const auto& chain : graph.chains()) {
      if (const auto partition = partition_of_chain(graph, chain, partitions)) {
        inside_chains_.insert(chain.body.begin(), chain.body.end());
        chains_.emplace(chain.result, fused_join(graph, chain, *partition));
      }
    }
  }

  PhysicalPlan run(const std::vector<DistributedResult>& results) {
    CHECK(results.size() == graph_.outputs().size(), "every result of a plan is wanted somewhere");
    const auto needed = reached_by_outputs(graph_);
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      const VertexId id(v);
      const auto chain = chains_.find(id);
      if (!needed[v] || (chain == chains_.end() && inside_chains_.contains(id))) continue;
      if (graph_.vertex(id).is_input()) result_[v] = scan(id);
      else result_[v] = compute(id, chain != chains_.end() ? chain->second : join_of(id));
    }
    for (std::size_t n = 0; n < results.size(); ++n) deliver(graph_.outputs()[n], results[n]);
    return std::move(plan_);
  }

 private:
  // Every rank lists the tiles that it makes or reads, but for those of a stored tensor of cells that are not there.
  void check_tiles(const PlanStep& step) const {
    constexpr std::int64_t kMostTiles = std::int64_t{1} << 24U;
    const auto tiles = step.grid.tile_count();
    if (tiles <= kMostTiles || (step.cells && std::holds_alternative<ScanStep>(step.op))) return;
    throw Error(
        ErrorKind::Unsupported,
        graph_.vertex(step.vertex).name + " has " + std::to_string(tiles) +
            " tiles of all its values, and workers list at most " + std::to_string(kMostTiles),
        std::nullopt,
        "larger tiles are fewer: ALTER TENSOR ... PARTITION; EXPLAIN tells what workers read as cells, of which "
        "only those are listed that are there");
  }

  StepId add(PlanStep step) {
    check_tiles(step);
    plan_.steps.push_back(std::move(step));
    return StepId(plan_.steps.size() - 1);
  }

  JoinNode join_of(VertexId id) const {
    const auto& vertex = graph_.vertex(id);
    JoinNode join{{}, vertex.einsum, labelling_.vertices[id.index()].partition, vertex.compute_dtype};
    for (const auto input : vertex.inputs) join.inputs.emplace_back(input.index());
    return join;
  }

  StepId scan(VertexId id) {
    const auto& tensor = *graph_.vertex(id).stored;
    const auto [list, is_new] = holder_lists_.try_emplace(tensor.name, plan_.holder_lists);
    if (is_new) ++plan_.holder_lists;
    return add({ScanStep{tensor, list->second}, id, tensor.dtype, tensor.grid, list->second, cells_of(id)});
  }

  std::optional<double> cells_of(VertexId id) const {
    const auto& cells = graph_.vertex(id).cells;
    return cells ? std::optional(cells->cells) : std::nullopt;
  }

  // Whether every rank holds the block that it wants after the step.
  bool has(StepId id, const BlockPlacement& wanted) const {
    const auto* blocks = std::get_if<BlockPlacement>(&plan_.step(id).placement);
    return blocks != nullptr && covers(*blocks, wanted);
  }

  // Whether a relation in blocks has what tiles that overlap have: it is not cut where these do.
  static bool has_halos(const PlanStep& step, const TileGrid& grid) {
    const auto& blocks = std::get<BlockPlacement>(step.placement);
    for (std::size_t d = 0; d < grid.rank(); ++d)
      if (grid.overlaps() && grid.reaches()[d] && blocks.parts[d] > 1) return false;
    return true;
  }

  // The relation cut by `grid`, with at least the tiles that `wanted` asks for.
  StepId bring(StepId source, const TileGrid& grid, const BlockPlacement& wanted) {
    // What was brought before in other tiles is cut anew where it lies: nothing is received a second time.
    auto copies = moved_[source];
    copies.insert(copies.begin(), source);
    std::optional<StepId> there_already;
    for (const auto copy : copies) {
      if (plan_.step(copy).grid.shape() != grid.shape() || !has(copy, wanted)) continue;
      if (plan_.step(copy).grid == grid) return copy;
      if (plan_.step(copy).grid.overlaps() || !has_halos(plan_.step(copy), grid)) continue;
      if (!there_already && is_whole(std::get<BlockPlacement>(plan_.step(copy).placement))) there_already = copy;
    }
    const auto from = there_already.value_or(source);
    const auto& there = plan_.step(from);
    const auto* blocks = std::get_if<BlockPlacement>(&there.placement);
    RedistributeStep moved{from};
    if (blocks != nullptr && !there.cells && there.grid.shape() == grid.shape() && !grid.overlaps())
      moved.sequence = choose_sequence({.from_grid = there.grid,
                                        .from = *blocks,
                                        .to_grid = grid,
                                        .to = wanted,
                                        .dtype = there.dtype,
                                        .is_sparse = graph_.vertex(there.vertex).density.is_sparse()},
                                       cluster_.redistribution, cluster_.transport, cluster_.memory);
    const auto step = add({std::move(moved), there.vertex, there.dtype, grid, wanted, there.cells});
    moved_[source].push_back(step);
    return step;
  }

  StepId compute(VertexId id, JoinNode join) {
    const auto& vertex = graph_.vertex(id);
    const auto& placed = placement_.vertices[id.index()];
    auto blocks = blocks_of_calls(id, join);
    const bool is_dense = !holds_cells(id, join);
    if (is_dense) align(join, blocks);
    const auto finder = is_dense ? halo_finder(join) : HaloFinder();
    join.partition.parts = refined(id, join, blocks, finder);
    join.halos = finder.halos(join.partition, plan_.labels);
    ComputeStep step{{}, {}, blocks.parts, blocks.at};
    for (std::size_t n = 0; n < join.inputs.size(); ++n) {
      const auto source = result_[join.inputs[n].index()];
      step.inputs.push_back(bring(source, join.operand_grid(n, plan_.labels),
                                  projected(blocks, join.partition.labels, join.cutting_labels(n))));
    }
    join.inputs.clear();
    const TileGrid grid(Shape(plan_.labels.extents(join.einsum.output)), join.partition.project(join.einsum.output));
    const auto of_result = projected(blocks, join.partition.labels, join.einsum.output);
    step.join = std::move(join);
    const bool partial = step.is_partial();
    const auto type = partial ? step.join.compute_dtype : vertex.dtype;
    CHECK(!partial || !vertex.cells, "cells of a result are made in one call for each part");
    auto computed = add({std::move(step), id, type, grid, of_result, cells_of(id)});
    if (partial)
      computed = add({ReduceStep{computed}, id, vertex.dtype, grid, placed.result.placement(cluster_.ranks)});
    if (grid.shape() == vertex.bound) return computed;
    const auto kept = std::get<BlockPlacement>(plan_.step(computed).placement);
    auto parts = grid.partition();
    for (std::size_t d = 0; d < parts.size(); ++d)
      if (parts[d] > vertex.bound[d]) parts[d] = kept.parts[d];
    return add(
        {RedistributeStep{computed}, id, vertex.dtype, TileGrid(vertex.bound, std::move(parts)), kept, cells_of(id)});
  }

  // Inputs of the join are vertices up to here.
  static HaloFinder halo_finder(const JoinNode& join) {
    std::vector<std::size_t> sources;
    for (const auto input : join.inputs) sources.push_back(input.index());
    return join.halo_finder(sources);
  }

  // Whether the vertex or one of its operands is of cells, which move between grids of one shape.
  bool holds_cells(VertexId id, const JoinNode& join) const {
    return cells_of(id).has_value() || std::any_of(join.inputs.begin(), join.inputs.end(), [&](const auto& input) {
             return plan_.step(result_[input.index()]).cells.has_value();
           });
  }

  // Where one of two aligned labels is cut between ranks, a rank has the same part of the other. Equal parts have equal
  // indices where the determined label has as many as the others determine: it is replaced by one that has.
  void align(JoinNode& join, BlockPlacement& blocks) {
    const auto aligned = join.steps.empty() ? aligned_labels(join.einsum, graph_.labels()) : std::nullopt;
    if (!aligned) return;
    const auto own = place_in_partition(join.partition.labels, aligned->label);
    const auto major = place_in_partition(join.partition.labels, aligned->major);
    const auto parts = blocks.parts[major];
    if (parts == 1 || blocks.parts[own] != 1 || graph_.labels().extent(aligned->major) % parts != 0 ||
        graph_.labels().extent(aligned->label) < parts)
      return;
    // Results that are partial by another label are those of all parts of the aggregated ones, and only some pairs are
    // there.
    for (const auto label : join.einsum.aggregated) {
      const bool other = label != aligned->label && label != aligned->major;
      if (other && blocks.parts[place_in_partition(join.partition.labels, label)] > 1) return;
    }
    blocks.parts[own] = parts;
    for (auto& at : blocks.at)
      if (at) (*at)[own] = (*at)[major];
    if (graph_.labels().extent(aligned->label) == aligned->extent) return;
    const auto longer = plan_.labels.add(std::string(graph_.labels().name(aligned->label)), aligned->extent);
    const auto now = [&](Label label) { return label == aligned->label ? longer : label; };
    auto& einsum = join.einsum;
    for (auto& labels : einsum.inputs) labels = rename_labels(labels, now);
    einsum.output = rename_labels(einsum.output, now);
    einsum.aggregated = rename_labels(einsum.aggregated, now);
    einsum.expression = rename_labels(einsum.expression, now);
    join.partition.labels = rename_labels(join.partition.labels, now);
  }

  // The placement's blocks, reordered to the join's labels.
  BlockPlacement blocks_of_calls(VertexId id, const JoinNode& join) const {
    const auto& placed = placement_.vertices[id.index()];
    return projected(placed.calls.placement(cluster_.ranks), placed.labels, join.partition.labels);
  }

  Partition refined(VertexId id, const JoinNode& join, const BlockPlacement& blocks, const HaloFinder& finder) const {
    const auto source = [&](std::size_t n) -> const PlanStep& { return plan_.step(result_[join.inputs[n].index()]); };
    std::vector<CallRefinement::Tiles> operands;
    for (std::size_t n = 0; n < join.inputs.size(); ++n) {
      const auto& read = source(n);
      operands.push_back(tiles_of(read.dtype, read.grid.shape(), read.cells));
    }
    const auto& vertex = graph_.vertex(id);
    CallRefinement refinement(plan_.labels, join, cluster_, blocks.parts, std::move(operands),
                              tiles_of(join.compute_dtype, vertex.bound, cells_of(id)),
                              finder.halos({join.partition.labels, blocks.parts}, plan_.labels), finder.equations());
    const auto scattered = placement_.vertices[id.index()].result.parts();
    for (std::size_t d = 0; d < join.einsum.output.size(); ++d) refinement.raise(join.einsum.output[d], scattered[d]);
    std::vector<std::size_t> order(join.inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
      return source(a).grid.shape().element_count() > source(b).grid.shape().element_count();
    });
    // Cells are gathered into any tiles, and small ones take longer to read.
    for (const auto n : order)
      if (!source(n).cells) refinement.adopt(join.einsum.inputs[n], source(n).grid.partition());
    refinement.split_calls();
    refinement.split_tiles();
    refinement.shrink_calls();
    return refinement.take();
  }

  static CallRefinement::Tiles tiles_of(DType type, const Shape& shape, std::optional<double> cells) {
    if (!cells) return {.dtype = type};
    constexpr double kNearlyAll = 0.999;
    const auto all = std::max(1.0, static_cast<double>(shape.element_count()));
    return {.dtype = type, .bytes = share_of_cells(*cells, type, shape), .cells = std::min(kNearlyAll, *cells / all)};
  }

  void deliver(VertexId output, const DistributedResult& result) {
    const auto last = result_[output.index()];
    const auto there = plan_.step(last);
    PlanStep step{RedistributeStep{last}, output, there.dtype, result.grid, plan_.holder_lists, there.cells};
    if (result.stored) {
      ++plan_.holder_lists;
    } else {
      BlockPlacement whole{Partition(result.grid.rank(), 1), {}};
      whole.at.resize(cluster_.ranks);
      whole.at[cluster_.coordinator] = TileKey(result.grid.rank(), 0);
      step.placement = std::move(whole);
    }
    plan_.results.push_back(add(std::move(step)));
  }

  const EinGraph& graph_;
  const Labelling& labelling_;
  const Placement& placement_;
  const ClusterShape& cluster_;
  PhysicalPlan plan_;
  std::vector<StepId> result_;  // of each vertex
  std::map<VertexId, JoinNode> chains_;
  std::set<VertexId> inside_chains_;
  std::map<std::string, std::size_t> holder_lists_;
  std::map<StepId, std::vector<StepId>> moved_;
};

}  // namespace

std::vector<ScannedInput> scanned_inputs(const EinGraph& graph) {
  const auto needed = reached_by_outputs(graph);
  std::map<std::string, std::size_t> lists;
  std::vector<ScannedInput> scans;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto& vertex = graph.vertex(VertexId(v));
    if (!needed[v] || !vertex.is_input()) continue;
    scans.push_back({VertexId(v), lists.try_emplace(vertex.stored->name, lists.size()).first->second});
  }
  return scans;
}

PhysicalPlan plan_for_ranks(const EinGraph& graph, const Labelling& labelling, const Placement& placement,
                            const ClusterShape& cluster, const std::vector<DistributedResult>& results) {
  auto plan = DistributedPlanner(graph, labelling, placement, cluster).run(results);
  validate(plan);
  return plan;
}

}  // namespace eindb
