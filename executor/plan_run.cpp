#include "executor/plan_run.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/checkpoint.hpp"
#include "executor/least_memory.hpp"

namespace eindb {
namespace {

// The divisor for the part of the limit that workspaces of all workers use, if kernels can work with less.
constexpr std::int64_t kWorkspaceShare = 8;

// The memory for results that wait for their operands: what tasks do not need, at most a quarter of the limit.
std::int64_t most_begun(const Fragment& plan, std::int64_t limit) {
  return std::clamp<std::int64_t>(limit - least_memory(plan), 0, limit / 4);
}

std::size_t worker_count(std::size_t threads, const TaskGraph& graph) {
  return graph.cost() < kPointsOfOneThread || graph.is_one_line() ? 1 : threads;
}

// The number of tiles that every task of the stage reads at the link; -1 if it varies.
std::int64_t uniform_tiles_read(const Link& link) {
  std::int64_t count = 1;
  for (const auto& [axis, cut] : link.cuts) {
    if (cut.length >= 0 || cut.reach) return -1;
    if (cut.tasks % cut.tiles == 0) continue;
    if (cut.tiles % cut.tasks != 0) return -1;
    count *= cut.tiles / cut.tasks;
  }
  return count;
}

// The number of the stage's tasks that read every tile; -1 if it varies.
std::int64_t uniform_reads(const Stage& stage, const Link& link) {
  auto count = link.repeats * stage.task_count;
  for (const auto& [axis, cut] : link.cuts) {
    if (cut.length >= 0 || cut.reach || cut.tiles % cut.tasks != 0) return -1;
    count /= stage.axes[axis].tasks;
  }
  return count;
}

TileWindow slices_of(const SliceLoop& loop) {
  Partition parts;
  for (const auto& label : loop.labels) parts.push_back(label.parts);
  return TileWindow::whole(parts);
}

}  // namespace

PlanRun::PlanRun(const Fragment& plan, const Conditions& conditions)
    : plan_(plan),
      conditions_(conditions),
      graph_(plan, [&] { return most_begun(plan, conditions.memory_limit); }),
      nodes_(plan.nodes.size()),
      stages_(graph_.stages().size()),
      workers_(worker_count(conditions.threads, graph_)),
      first_workspace_bound_(std::max(
          kSmallWorkspace, conditions.memory_limit / kWorkspaceShare / static_cast<std::int64_t>(workers_.size()))),
      workspace_bound_(first_workspace_bound_),
      joins_(stages_.size()),
      keeps_joins_(keeps(stages_.size())) {
  for (auto& worker : workers_) worker.nodes.resize(plan.nodes.size());
}

ExecutionProfile PlanRun::run(ExecutionContext& context, std::span<TileSink* const> sinks) {
  const auto start = std::chrono::steady_clock::now();
  begin(context, sinks);
  context.cancellation.check();
  progress_->advance("start", 0);
  is_whole_ = true;
  for (const auto& region : graph_.regions()) {
    if (region.loop != nullptr) {
      run_slices(region);
      continue;
    }
    begin_region(region, {});
    work_on_region();
    if (region.ends_at_checkpoint && !goes_on_after(region.last_node)) {
      is_whole_ = false;
      break;
    }
    end_region(region, true);
  }
  collect_profile();
  profile_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  profile_.peak_bytes = context.memory->peak();
  let_go();
  return std::move(profile_);
}

// Figures and counters of an earlier run are those of none.
void PlanRun::begin(ExecutionContext& context, std::span<TileSink* const> sinks) {
  CHECK(sinks.size() == plan_.result_count(), "every result of a plan goes to a sink");
  CHECK(std::find(sinks.begin(), sinks.end(), nullptr) == sinks.end(), "a sink that results go to is there");
  CHECK(conditions_of(context) == conditions_, "a run has the memory and the threads that its operators were made for");
  CHECK(context_ == nullptr, "one run of a plan ends before the next one begins");
  context_ = &context;
  results_ = sinks;
  progress_.emplace(context, graph_.cost());
  profile_ = {};
  profile_.nodes.resize(plan_.nodes.size());
  for (auto& worker : workers_) {
    std::fill(worker.nodes.begin(), worker.nodes.end(), NodeProfile{});
    worker.workspace_bytes = 0;
  }
  for (auto& node : nodes_) {
    if (node.stored_reads == nullptr) continue;
    node.stored_reads->tiles = 0;
    node.stored_reads->cells = 0;
  }
  ended_ = 0;
}

// Nothing of the statement stays: tiles, memory of its budget, or what was lent to it.
void PlanRun::let_go() {
  for (auto& node : nodes_) {
    node.relation.reset();
    node.whole.reset();
  }
  for (auto& worker : workers_) worker.buffers.decoded.clear();
  sinks_.clear();
  progress_.reset();
  results_ = {};
  context_ = nullptr;
}

bool PlanRun::goes_on_after(std::size_t checkpoint) {
  if (context_->watch == nullptr) return true;
  ReachedCheckpoint reached{.node = NodeId(checkpoint)};
  for (const auto& worker : workers_) reached.cells += worker.nodes[checkpoint].cells;
  for (std::size_t n = 0; n <= checkpoint; ++n)
    if (nodes_[n].relation != nullptr && nodes_[n].stored_reads == nullptr && graph_.last_reader(n) > checkpoint)
      reached.held.emplace_back(NodeId(n), nodes_[n].relation);
  if (context_->watch->goes_on(reached)) return true;
  profile_.ended_at = checkpoint;
  return false;
}

// Every slice frees its relations, except the common result.
void PlanRun::run_slices(const TaskGraph::Region& region) {
  CHECK(!sliced_, "a loop over slices ends before the next one begins");
  const auto& loop = *region.loop;
  const auto result = loop.result.index();
  const auto& node = plan_.nodes[result];
  sliced_node_ = result;
  sliced_.emplace(loop.aggregate, node.dtype, node.grid, context_->memory);
  const auto slices = slices_of(loop);
  for (std::int64_t n = 0; n < slices.tile_count(); ++n) {
    begin_region(region, slices.key_of(n));
    work_on_region();
    end_region(region, n + 1 == slices.tile_count());
  }
  const auto& join = join_of(graph_.stage_of(result));
  nodes_[result].relation =
      sliced_->finish([&](std::int64_t id) { return join.nothing_aggregated(id, context_->memory); },
                      [&](Tile& tile) { join.apply_epilogue(tile); });
  profile_.nodes[result].bytes = nodes_[result].relation->bytes();
  sliced_.reset();
  count_reads_of(result, node.grid.tile_count());
}

void PlanRun::begin_region(const TaskGraph::Region& region, const TileKey& slice) {
  CHECK(ready_.empty() && deferred_.empty() && suspended_.empty() && shared_.empty(), "a region leaves no task behind");
  CHECK(promised_ == 0, "bytes are promised to tasks that run");
  for (auto& node : nodes_) {
    node.is_made_here = false;
    node.whole.reset();
  }
  ready_.clear();
  tasks_left_ = 0;
  sinks_.clear();
  held_behind_ =
      region.ends_at_checkpoint && context_->watch != nullptr ? std::optional(region.last_node) : std::nullopt;
  for (auto n = region.first_node; n <= region.last_node; ++n) {
    if (plan_.nodes[n].stored() != nullptr) begin_scan(n);
    else if (graph_.is_made_by_stage(n)) begin_stage(graph_.stage_of(n), slice);
    else if (plan_.nodes[n].result_number()) begin_sink(n);
  }
}

void PlanRun::begin_scan(std::size_t node) {
  auto& tiles = nodes_[node];
  if (tiles.stored_reads == nullptr) tiles.stored_reads = std::make_shared<Relation::Counter>();
  tiles.relation =
      std::make_shared<Relation>(*plan_.nodes[node].stored(), context_->source, context_->memory, tiles.stored_reads);
  count_reads_of(node, plan_.nodes[node].grid.tile_count());
}

void PlanRun::begin_stage(const Stage& stage, const TileKey& slice) {
  const auto number = static_cast<std::size_t>(&stage - graph_.stages().data());
  auto& run = stages_[number];
  run.stage = &stage;
  run.begin.clear();
  auto& window = run.window;
  window.begin.clear();
  window.size.clear();
  for (std::size_t a = 0; a < stage.axes.size(); ++a) {
    const auto& axis = stage.axes[a];
    CHECK(axis.sliced < 0 || std::cmp_less(axis.sliced, slice.size()), "a slice says where each of its labels stands");
    run.begin.push_back(axis.begin);
    if (axis.sliced >= 0) run.begin[a] += slice[static_cast<std::size_t>(axis.sliced)] * axis.calls;
    if (a >= stage.rank) continue;
    window.begin.push_back(run.begin[a]);
    window.size.push_back(axis.tasks);
  }
  run.inputs.clear();
  run.waits = 0;
  for (const auto& link : stage.links) {
    CHECK(nodes_[link.source].relation != nullptr, "a stage reads what is there when it begins");
    run.inputs.push_back(nodes_[link.source].relation.get());
    if (!nodes_[link.source].is_made_here) continue;
    nodes_[link.source].waiting.push_back(&link);
    const auto tiles = uniform_tiles_read(link);
    run.waits = tiles < 0 || run.waits < 0 ? -1 : run.waits + tiles;
  }
  const auto tasks = static_cast<std::size_t>(stage.task_count);
  if (run.waits == 0) ready_.add_roots(number, stage.task_count);
  run.arrived.reset(run.waits == 0 || run.waits == 1 ? 0 : tasks);
  run.groups = nullptr;
  if (stage.tasks_per_tile > 1) {
    CHECK(stage.task_count % stage.tasks_per_tile == 0, "each tile of a stage has as many tasks");
    const auto tiles = tasks / static_cast<std::size_t>(stage.tasks_per_tile);
    run.groups = std::make_unique<Group[]>(tiles);
    for (std::size_t n = 0; n < tiles; ++n) run.groups[n].left = stage.tasks_per_tile;
  }
  const auto& node = plan_.nodes[stage.node];
  run.join = plan_.nodes[stage.join].role() == OperatorRole::Kernel ? &join_of(stage) : nullptr;
  nodes_[stage.node].waiting.clear();
  nodes_[stage.node].is_made_here = true;
  tasks_left_ += stage.task_count;
  if (sliced_ && stage.node == sliced_node_) return;
  const auto tiles = window.tile_count();
  nodes_[stage.node].relation = window.size == node.grid.partition()
                                    ? std::make_shared<Relation>(node.dtype, node.grid, context_->memory)
                                    : std::make_shared<Relation>(node.dtype, node.grid, window, context_->memory);
  nodes_[stage.node].relation->set_next_use(static_cast<std::int64_t>(graph_.last_reader(stage.node)));
  count_reads_of(stage.node, tiles);
}

void PlanRun::begin_sink(std::size_t node) {
  const auto& op = plan_.nodes[node];
  CHECK(*op.result_number() < results_.size(), "a result has its sink");
  SinkRun sink{node, inputs_of(op).front().index(), results_[*op.result_number()], 0, 0, {}};
  CHECK(nodes_[sink.source].relation != nullptr, "a result that is handed over is there");
  sink.tiles = nodes_[sink.source].relation->tile_count();
  if (nodes_[sink.source].is_made_here) sink.is_there.assign(static_cast<std::size_t>(sink.tiles), false);
  if (may_be_whole(sink.source)) nodes_[sink.source].whole = sink.to->whole();
  profile_.nodes[node].tiles_in = profile_.nodes[node].tiles_out = sink.tiles;
  sinks_.push_back(std::move(sink));
}

// Whether the tiles of a node are made in this region, for a sink alone, and each in one piece of memory.
bool PlanRun::may_be_whole(std::size_t node) const {
  if (!nodes_[node].is_made_here || graph_.sinks_of(node) != 1 || !graph_.readers(node).empty()) return false;
  const auto& stage = graph_.stage_of(node);
  const auto& run = stages_[static_cast<std::size_t>(&stage - graph_.stages().data())];
  const auto& grid = plan_.nodes[node].grid;
  return run.join != nullptr && run.join->makes_final_values() && run.groups == nullptr && grid.cuts_into_runs() &&
         nodes_[node].relation->tile_count() == grid.tile_count();
}

// Relations from before a loop are needed until its last slice.
void PlanRun::end_region(const TaskGraph::Region& region, bool last_slice) {
  for (std::size_t n = last_slice ? 0 : region.first_node; n <= region.last_node; ++n)
    if (!last_slice || graph_.last_reader(n) <= region.last_node) nodes_[n].relation.reset();
  if (!last_slice) return;
  for (auto s = region.begin; s < region.end; ++s) {
    if (!keeps_joins_ && (region.loop == nullptr || graph_.stages()[s].node != region.loop->result.index()))
      joins_[s].reset();
  }
}

const JoinOperator& PlanRun::join_of(const Stage& stage) {
  auto& join = joins_[static_cast<std::size_t>(&stage - graph_.stages().data())];
  if (join != nullptr) return *join;
  join = join_operator(plan_, stage, workspace_bound_);
  if (checked_add(stage.need, join->workspace_bytes()) <= context_->memory->limit()) return *join;
  workspace_bound_ = kSmallWorkspace;
  join = join_operator(plan_, stage, workspace_bound_);
  return *join;
}

// Prepares for releasing the tiles of the node's relation one at a time.
void PlanRun::count_reads_of(std::size_t node, std::int64_t tiles) {
  auto& counted = nodes_[node];
  counted.total = graph_.sinks_of(node);
  for (const auto* link : graph_.readers(node)) {
    const auto reads = uniform_reads(graph_.stages()[link->stage], *link);
    counted.total = reads < 0 || counted.total < 0 ? -1 : counted.total + reads;
  }
  CHECK(counted.total <= UINT32_MAX, "reads of a tile are counted in 32 bits");
  counted.reads.reset(counted.total == 1 ? 0 : static_cast<std::size_t>(tiles));
}

void PlanRun::Counters::reset(std::size_t count) {
  if (count != size) at = count == 0 ? nullptr : std::make_unique<std::atomic<std::uint32_t>[]>(count);
  else
    for (std::size_t n = 0; n < count; ++n) at[n].store(0, std::memory_order_relaxed);
  size = count;
}

std::int64_t PlanRun::reads_of(std::size_t node, const TileKey& key) const {
  if (nodes_[node].total >= 0) return nodes_[node].total;
  auto reads = graph_.sinks_of(node);
  for (const auto* link : graph_.readers(node)) reads += graph_.stages()[link->stage].reads(*link, key);
  return reads;
}

void PlanRun::work_on_region() {
  if (workers_.size() == 1) work(0);
  else context_->scheduler.run_workers([this](std::size_t number) { work(number); });
  if (error_) std::rethrow_exception(error_);
  CHECK(tasks_left_ == 0 && running_ == 0, "a region ends when all of its tasks have run");
}

// Seconds are averages over the threads that worked on the node.
void PlanRun::collect_profile() {
  std::vector<int> threads(plan_.nodes.size(), 0);
  for (const auto& worker : workers_) {
    profile_.workspace_bytes += worker.workspace_bytes;
    for (std::size_t n = 0; n < worker.nodes.size(); ++n) {
      const auto& part = worker.nodes[n];
      auto& node = profile_.nodes[n];
      if (part.seconds > 0) ++threads[n];
      node.seconds += part.seconds;
      node.kernel_calls += part.kernel_calls;
      node.tiles_in += part.tiles_in;
      node.elements += part.elements;
      node.bytes += part.bytes;
      node.cells += part.cells;
    }
  }
  for (std::size_t n = 0; n < threads.size(); ++n)
    if (threads[n] > 1) profile_.nodes[n].seconds /= threads[n];
  for (const auto& region : graph_.regions())
    for (auto s = region.begin; s < region.end && profile_.ran(region.last_node); ++s)
      complete_profile(graph_.stages()[s], slice_count(region.loop));
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    if (nodes_[n].stored_reads != nullptr) {
      profile_.nodes[n].tiles_in = nodes_[n].stored_reads->tiles;
      profile_.nodes[n].cells = nodes_[n].stored_reads->cells;
    }
}

// Fills in the figures known in advance, and moves the calls and operands of a group's join to the join's node.
void PlanRun::complete_profile(const Stage& stage, std::int64_t slices) {
  auto& result = profile_.nodes[stage.node];
  const auto tiles = stage.task_count / stage.tasks_per_tile * slices;
  result.tiles_out = tiles;
  const auto& kernel = plan_.nodes[stage.join];
  if (kernel.role() != OperatorRole::Kernel) return;
  result.tiles_in = result.kernel_calls * static_cast<std::int64_t>(std::get<JoinNode>(kernel.op).inputs.size());
  result.skipped_calls = tiles * stage.calls_per_tile - result.kernel_calls;
  if (stage.join == stage.node) return;
  auto& of_join = profile_.nodes[stage.join];
  of_join.kernel_calls = std::exchange(result.kernel_calls, 0);
  of_join.skipped_calls = std::exchange(result.skipped_calls, 0);
  of_join.elements = std::exchange(result.elements, 0);
  // Over all slices: all calls of a group except one.
  const auto& join = std::get<JoinNode>(kernel.op);
  std::int64_t calls_per_group = 1;
  for (const auto label : join.einsum.aggregated)
    calls_per_group *= join.partition.of(label) / plan_.window_of(label).parts;
  std::int64_t elements = 1;
  for (const auto label : join.einsum.output) {
    const auto window = plan_.window_of(label);
    elements *= part_range(plan_.labels.extent(label), window.parts, window.part).size;
  }
  result.elements = (calls_per_group - 1) * elements;
}

}  // namespace eindb
