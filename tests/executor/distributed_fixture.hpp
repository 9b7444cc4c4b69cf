#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "executor/executor.hpp"
#include "executor/in_process_exchange.hpp"
#include "plan/physical_plan.hpp"
#include "plan/tile_layout.hpp"
#include "plan/validator.hpp"
#include "tests/executor/rank_threads.hpp"
#include "tests/executor/stored_tensors.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb::testing {

/// Random layouts of graphs over ranks, including ones that no planner would choose: everything that a valid plan may
/// contain.
class RandomLayout {
 public:
  RandomLayout(std::mt19937& random, const EinGraph& graph, std::size_t ranks) : random_(random), graph_(graph) {
    plan.ranks = ranks;
    plan.coordinator = static_cast<Rank>(any(ranks));
    plan.labels = graph.labels();
  }

  PhysicalPlan plan;
  std::vector<TileHolders> lists;

  std::size_t any(std::size_t below) { return random_() % below; }

  /// Adds steps for all vertices, with the result at the coordinator or in lists. `tensors` tells which stored tiles
  /// are absent.
  void lower(const StoredTensors& tensors) {
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      const auto& vertex = graph_.vertex(VertexId(v));
      results_.push_back(vertex.is_input() ? scan(VertexId(v), tensors) : compute(VertexId(v)));
    }
    for (const auto output : graph_.outputs()) deliver(output);
  }

  void deliver(VertexId output) {
    const auto last = results_[output.index()];
    const auto& made = plan.step(last);
    const TileGrid grid(made.grid.shape(), random_partition(made.grid.shape()));
    const bool stored = any(2) == 0;
    plan.results.push_back(add({RedistributeStep{last}, output, made.dtype, grid, {}, made.cells}, stored));
    if (!stored) {
      BlockPlacement whole{Partition(grid.rank(), 1), std::vector<std::optional<TileKey>>(plan.ranks)};
      whole.at[plan.coordinator] = TileKey(grid.rank(), 0);
      plan.steps.back().placement = whole;
    }
  }

  StepId scan(VertexId v, const StoredTensors& tensors) {
    const auto& tensor = *graph_.vertex(v).stored;
    const auto stored = tensor.selection ? tensor.selection->stored : tensor.grid;
    const auto [known, is_new] = list_of_.try_emplace(tensor.name, lists.size());
    if (is_new)
      lists.push_back(random_holders(stored.tile_count(), [&](auto id) { return tensors.is_absent(tensor.name, id); }));
    plan.steps.push_back({ScanStep{tensor, known->second}, v, tensor.dtype, tensor.grid, known->second, cells_of(v)});
    return StepId(plan.steps.size() - 1);
  }

  StepId compute(VertexId v) {
    const auto& vertex = graph_.vertex(v);
    const auto& labels = vertex.einsum.labels();
    // Cells of a result are made in one call for each part.
    return compute(v, {{}, vertex.einsum, {labels, {}}, vertex.compute_dtype},
                   vertex.cells ? difference(labels, vertex.einsum.aggregated) : labels);
  }

  /// A join of `inputs` cut along `cut`; the partition is chosen here.
  StepId compute(VertexId v, JoinNode join, const Labels& cut) {
    const auto& vertex = graph_.vertex(v);
    join.partition.parts.clear();
    ComputeStep step;
    std::size_t blocks = 1;
    for (const auto label : join.partition.labels) {
      const auto extent = plan.labels.extent(label);
      std::int64_t b = 1;
      if (contains(cut, label)) {
        b = 1 + static_cast<std::int64_t>(any(4));
        if (b > std::max<std::int64_t>(1, extent) || blocks * static_cast<std::size_t>(b) > plan.ranks) b = 1;
      }
      blocks *= static_cast<std::size_t>(b);
      step.blocks.push_back(b);
      const auto most = contains(cut, label) ? std::clamp<std::int64_t>(extent / b, 1, 3) : 1;
      join.partition.parts.push_back(b * (1 + static_cast<std::int64_t>(any(static_cast<std::size_t>(most)))));
    }
    step.at = random_blocks(step.blocks);
    const auto projected = [&](const Labels& labels) {
      BlockPlacement out{LabelPartition{join.partition.labels, step.blocks}.project(labels), {}};
      for (const auto& at : step.at)
        out.at.push_back(at ? std::optional(LabelPartition{join.partition.labels, *at}.project(labels)) : std::nullopt);
      return out;
    };
    for (std::size_t n = 0; n < vertex_inputs(v, join).size(); ++n) {
      const auto source = results_[vertex_inputs(v, join)[n].index()];
      const auto& labels = join.einsum.inputs[n];
      const auto made = plan.step(source);
      plan.steps.push_back({RedistributeStep{source},
                            made.vertex,
                            made.dtype,
                            {made.grid.shape(), join.partition.project(labels)},
                            projected(labels),
                            made.cells});
      step.inputs.emplace_back(plan.steps.size() - 1);
    }
    const TileGrid grid(vertex.bound, join.partition.project(join.einsum.output));
    const auto placement = projected(join.einsum.output);
    const auto compute_dtype = join.compute_dtype;
    join.inputs.clear();
    step.join = std::move(join);
    const bool partial = step.is_partial();
    plan.steps.push_back({std::move(step), v, partial ? compute_dtype : vertex.dtype, grid, placement, cells_of(v)});
    const StepId computed(plan.steps.size() - 1);
    return partial ? add({ReduceStep{computed}, v, vertex.dtype, grid, {}}, any(2) == 0) : computed;
  }

  std::vector<StepId>& results() { return results_; }

 private:
  std::optional<double> cells_of(VertexId v) const {
    const auto& cells = graph_.vertex(v).cells;
    return cells ? std::optional(cells->cells) : std::nullopt;
  }

  static std::vector<VertexId> as_vertices(const std::vector<NodeId>& nodes) {
    std::vector<VertexId> out;
    for (const auto node : nodes) out.emplace_back(node.index());
    return out;
  }
  std::vector<VertexId> vertex_inputs(VertexId v, const JoinNode& join) const {
    return join.inputs.empty() ? graph_.vertex(v).inputs : as_vertices(join.inputs);
  }

  StepId add(PlanStep step, bool listed) {
    if (listed) {
      step.placement = lists.size();
      lists.push_back(random_holders(step.grid.tile_count(), [](auto) { return false; }));
    } else {
      BlockPlacement blocks;
      std::size_t count = 1;
      for (const auto parts : step.grid.partition()) {
        auto b = 1 + static_cast<std::int64_t>(any(4));
        if (parts % b != 0 || count * static_cast<std::size_t>(b) > plan.ranks) b = 1;
        count *= static_cast<std::size_t>(b);
        blocks.parts.push_back(b);
      }
      blocks.at = random_blocks(blocks.parts);
      step.placement = std::move(blocks);
    }
    plan.steps.push_back(std::move(step));
    plan.holder_lists = lists.size();
    return StepId(plan.steps.size() - 1);
  }

  // Each block is at some rank; each other rank has one of the blocks too, or none.
  std::vector<std::optional<TileKey>> random_blocks(const Partition& parts) {
    const auto blocks = TileWindow::whole(parts);
    std::vector<std::size_t> order(plan.ranks);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<std::optional<TileKey>> at(plan.ranks);
    for (std::size_t n = 0; n < order.size(); ++n) {
      const auto count = static_cast<std::size_t>(blocks.tile_count());
      if (n < count) at[order[n]] = blocks.key_of(static_cast<std::int64_t>(n));
      else if (any(2) == 0) at[order[n]] = blocks.key_of(static_cast<std::int64_t>(any(count)));
    }
    return at;
  }

  TileHolders random_holders(std::int64_t tiles, const std::function<bool(std::int64_t)>& may_be_nowhere) {
    TileHolders list;
    for (std::int64_t id = 0; id < tiles; ++id) {
      const auto must = any(plan.ranks);
      const bool nowhere = may_be_nowhere(id) && any(2) == 0;
      std::vector<Rank> ranks;
      for (std::size_t rank = 0; rank < plan.ranks; ++rank)
        if (!nowhere && (rank == must || any(4) == 0)) ranks.push_back(static_cast<Rank>(rank));
      list.add(ranks);
    }
    return list;
  }

  Partition random_partition(const Shape& shape) {
    Partition parts;
    for (const auto extent : shape.extents())
      parts.push_back(1 +
                      static_cast<std::int64_t>(any(static_cast<std::size_t>(std::clamp<std::int64_t>(extent, 1, 6)))));
    return parts;
  }

  std::mt19937& random_;
  const EinGraph& graph_;
  std::vector<StepId> results_;  // by vertex
  std::map<std::string, std::size_t> list_of_;
};

/// The tiles in a rank's file. Tiles that the rank does not hold must not be requested.
class RankSource final : public TileSource {
 public:
  RankSource(StoredTensors& tensors, const PhysicalPlan& plan, const std::vector<TileHolders>& lists, Rank rank)
      : tensors_(tensors), rank_(rank) {
    for (const auto& step : plan.steps)
      if (const auto* scan = std::get_if<ScanStep>(&step.op)) lists_[scan->tensor.name] = &lists[scan->holders];
  }
  TilePtr read(const std::string& tensor, std::int64_t tile_id) override {
    const auto ranks = lists_.at(tensor)->of(tile_id);
    EXPECT_TRUE(std::find(ranks.begin(), ranks.end(), rank_) != ranks.end()) << "a rank reads what it holds";
    return tensors_.read(tensor, tile_id);
  }
  TilePtr read_cells(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id) override {
    const auto& whole = tensors_.dense(tensor);
    const auto shape = grid.tile_shape(grid.key_of(tile_id));
    const auto tile = read(tensor, tile_id);
    auto cells = tile == nullptr ? CellBlock::of_numbers(whole.dtype(), shape, {}, {})
                                 : CellBlock::of_dense(whole.dtype(), shape, tile->bytes());
    return std::make_shared<const Tile>(Tile::of_cells(std::make_shared<const CellBlock>(std::move(cells))));
  }

 private:
  StoredTensors& tensors_;
  std::map<std::string, const TileHolders*> lists_;
  Rank rank_;
};

/// The results of ranks that are threads of this process.
struct DistributedOutcome {
  using Tiles = std::vector<std::pair<std::int64_t, TilePtr>>;
  std::vector<std::vector<Tiles>> tiles;  // by rank and result
  std::vector<ExecutionProfile> profiles;
  std::vector<std::exception_ptr> errors;
  std::vector<std::int64_t> spilled;
  std::vector<std::int64_t> bytes_left;
};

struct DistributedOptions {
  int threads = 1;
  std::int64_t limit = std::int64_t{1} << 32;
  std::function<void(Rank, std::int64_t done)> progress = {};
  std::vector<Cancellation>* cancellations = nullptr;
  double least_overlap_bytes = 1 << 20;  // 0: whatever can travel beside a computation does
  std::function<std::vector<std::unique_ptr<Exchange>>(std::size_t ranks)> exchanges = in_process_exchanges;
};

inline DistributedOutcome run_distributed(const PhysicalPlan& plan, const std::vector<TileHolders>& lists,
                                          const std::function<std::unique_ptr<TileSource>(Rank)>& source_of,
                                          const DistributedOptions& options = {}) {
  validate(plan, lists);
  DistributedOutcome out;
  out.tiles.assign(plan.ranks, std::vector<DistributedOutcome::Tiles>(plan.results.size()));
  out.profiles.resize(plan.ranks);
  out.errors.resize(plan.ranks);
  out.spilled.resize(plan.ranks);
  out.bytes_left.resize(plan.ranks);
  struct Collect final : TileSink {
    void write(std::int64_t tile_id, TilePtr tile) override {
      EXPECT_TRUE(tile == nullptr || !tile->is_of_cells());
      tiles->emplace_back(tile_id, std::move(tile));
    }
    std::vector<std::pair<std::int64_t, TilePtr>>* tiles = nullptr;
  };
  auto exchanges = options.exchanges(plan.ranks);
  run_ranks(exchanges, [&](Exchange& exchange) {
    const auto rank = exchange.rank();
    std::vector<Collect> collected(plan.results.size());
    std::vector<TileSink*> sinks;
    for (std::size_t n = 0; n < collected.size(); ++n) {
      collected[n].tiles = &out.tiles[rank][n];
      sinks.push_back(&collected[n]);
    }
    Scheduler scheduler(options.threads);
    const Cancellation never;
    const auto source = source_of(rank);
    ExecutionContext context{.scheduler = scheduler,
                             .cancellation = options.cancellations == nullptr ? never : (*options.cancellations)[rank],
                             .memory = MemoryBudget::create(options.limit),
                             .source = *source,
                             .progress = {},
                             .least_overlap_bytes = options.least_overlap_bytes};
    if (options.progress)
      context.progress = [&](std::string_view, std::int64_t done, std::int64_t) { options.progress(rank, done); };
    try {
      out.profiles[rank] = execute(plan, lists, exchange, context, sinks);
    } catch (...) {
      out.errors[rank] = std::current_exception();
    }
    out.spilled[rank] = context.memory->written_bytes();
    std::int64_t held = 0;
    for (const auto& tiles : out.tiles[rank])
      for (const auto& [id, tile] : tiles)
        if (tile != nullptr) held += static_cast<std::int64_t>(tile->byte_size());
    out.bytes_left[rank] = std::max<std::int64_t>(0, context.memory->used() - held);
  });
  return out;
}

/// Result `number` assembled from all ranks, each of which must have its tiles in order.
inline DenseTensor assemble(const DistributedOutcome& outcome, const PhysicalPlan& plan,
                            const std::vector<TileHolders>& lists, std::size_t number = 0) {
  const auto& last = plan.step(plan.results[number]);
  const TileLayout layout(plan, plan.results[number], lists);
  std::vector<TilePtr> tiles(static_cast<std::size_t>(last.grid.tile_count()));
  for (std::size_t rank = 0; rank < plan.ranks; ++rank) {
    if (outcome.errors[rank]) std::rethrow_exception(outcome.errors[rank]);
    std::vector<std::int64_t> ids;
    for (const auto& [id, tile] : outcome.tiles[rank][number]) {
      ids.push_back(id);
      auto& known = tiles[static_cast<std::size_t>(id)];
      if (known != nullptr && tile != nullptr) expect_equal(*known, *tile, "copies of a tile are equal");
      if (tile != nullptr) known = tile;
    }
    EXPECT_EQ(ids, layout.tiles_of(static_cast<Rank>(rank))) << "a rank's tiles come in order";
    EXPECT_EQ(outcome.bytes_left[rank], 0) << "of rank " << rank;
  }
  return eindb::assemble(tiles, last.grid, last.dtype);
}

}  // namespace eindb::testing
