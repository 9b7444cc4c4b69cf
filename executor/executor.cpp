#include "executor/executor.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "common/check.hpp"
#include "executor/join_operator.hpp"
#include "executor/repartition_operator.hpp"

namespace eindb {
namespace {

using RelationPtr = std::shared_ptr<Relation>;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class PlanRun {
 public:
  PlanRun(const PhysicalPlan& plan, ExecutionContext& context, TileSink& sink)
      : plan_(plan), context_(context), sink_(sink), relations_(plan.nodes.size()), readers_(plan.nodes.size(), 0) {
    profile_.nodes.resize(plan.nodes.size());
    for (const auto& node : plan.nodes)
      for (const auto input : inputs_of(node)) ++readers_[input.index()];
  }

  ExecutionProfile run() {
    const auto start = Clock::now();
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
      context_.cancellation.check();
      if (context_.progress)
        context_.progress(operator_name(plan_.nodes[n]), static_cast<std::int64_t>(n),
                          static_cast<std::int64_t>(plan_.nodes.size()));
      const auto node_start = Clock::now();
      std::visit([&](const auto& op) { run_node(n, op); }, plan_.nodes[n].op);
      profile_.nodes[n].seconds = seconds_since(node_start);
    }
    for (const auto& [n, tiles_read] : scans_) profile_.nodes[n].tiles_in = *tiles_read;
    profile_.seconds = seconds_since(start);
    profile_.peak_bytes = context_.memory->peak();
    return std::move(profile_);
  }

 private:
  void run_node(std::size_t n, const ScanNode& scan) {
    relations_[n] = std::make_shared<Relation>(scan.tensor, context_.source, context_.memory);
    scans_.emplace_back(n, relations_[n]->tiles_read());
  }

  void run_node(std::size_t n, const RepartitionNode& repartition) {
    const auto& node = plan_.nodes[n];
    const auto source = take(repartition.input);
    std::vector<TilePtr> tiles(static_cast<std::size_t>(node.grid.tile_count()));
    std::atomic<std::int64_t> tiles_in{0};
    std::atomic<std::int64_t> bytes{0};
    context_.scheduler.for_each(node.grid.tile_count(), [&](std::int64_t id) {
      context_.cancellation.check();
      std::int64_t pieces = 0;
      auto tile = gather_tile(*source, node.grid, id, *context_.memory, pieces);
      tiles_in += pieces;
      if (tile != nullptr) bytes += static_cast<std::int64_t>(tile->byte_size());
      tiles[static_cast<std::size_t>(id)] = std::move(tile);
    });
    auto& profile = profile_.nodes[n];
    profile.tiles_in = tiles_in;
    profile.tiles_out = node.grid.tile_count();
    profile.bytes = bytes;
    relations_[n] = std::make_shared<Relation>(node.dtype, node.grid, std::move(tiles));
  }

  // A join that a group-by reads is run by the group-by, which accumulates into its tiles.
  void run_node(std::size_t n, const JoinNode& join) {
    const bool grouped = n + 1 < plan_.nodes.size() && std::holds_alternative<GroupByNode>(plan_.nodes[n + 1].op) &&
                         std::get<GroupByNode>(plan_.nodes[n + 1].op).input == NodeId(n);
    if (!grouped) relations_[n] = run_join(join, n);
  }

  void run_node(std::size_t n, const GroupByNode& group_by) {
    const auto join = group_by.input.index();
    CHECK(join + 1 == n, "a group-by follows its join");
    relations_[n] = run_join(std::get<JoinNode>(plan_.nodes[join].op), n);
    std::swap(profile_.nodes[join].kernel_calls, profile_.nodes[n].kernel_calls);
  }

  void run_node(std::size_t n, const SinkNode& sink) {
    const auto source = take(sink.input);
    for (std::int64_t id = 0; id < source->grid().tile_count(); ++id) {
      context_.cancellation.check();
      auto tile = source->tile(id);
      if (tile != nullptr) profile_.nodes[n].bytes += static_cast<std::int64_t>(tile->byte_size());
      sink_.write(id, std::move(tile));
    }
    profile_.nodes[n].tiles_in = profile_.nodes[n].tiles_out = source->grid().tile_count();
  }

  RelationPtr run_join(const JoinNode& join, std::size_t result) {
    std::vector<RelationPtr> inputs;
    for (const auto input : join.inputs) inputs.push_back(take(input));
    const auto& node = plan_.nodes[result];
    JoinOperator op(join, plan_.labels, node.grid, node.dtype, std::move(inputs), context_);
    return op.run(profile_.nodes[result]);
  }

  // The relation of a node for one of its readers; the last one takes it away.
  RelationPtr take(NodeId id) {
    auto& relation = relations_[id.index()];
    CHECK(relation != nullptr, "a node runs before its readers");
    return --readers_[id.index()] == 0 ? std::move(relation) : relation;
  }

  const PhysicalPlan& plan_;
  ExecutionContext& context_;
  TileSink& sink_;
  std::vector<RelationPtr> relations_;
  std::vector<int> readers_;
  std::vector<std::pair<std::size_t, std::shared_ptr<const Relation::Counter>>>
      scans_;  // tiles come as they are needed
  ExecutionProfile profile_;
};

}  // namespace

ExecutionProfile execute(const PhysicalPlan& plan, ExecutionContext& context, TileSink& sink) {
  return PlanRun(plan, context, sink).run();
}

}  // namespace eindb
