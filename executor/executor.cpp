#include "executor/executor.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/join_operator.hpp"
#include "executor/repartition_operator.hpp"
#include "executor/sliced_result.hpp"

namespace eindb {
namespace {

using RelationPtr = std::shared_ptr<Relation>;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Where a loop over slices is: the part of each of its labels.
struct Slice {
  const SliceLoop& loop;
  SlicedResult result;
  TileKey at = {};
  bool last = false;
};

class PlanRun {
 public:
  PlanRun(const PhysicalPlan& plan, ExecutionContext& context, TileSink& sink)
      : plan_(plan),
        context_(context),
        sink_(sink),
        relations_(plan.nodes.size()),
        readers_(plan.nodes.size(), 0),
        joins_(plan.nodes.size()),
        reads_(plan.nodes.size()),
        steps_(static_cast<std::int64_t>(plan.nodes.size())) {
    profile_.nodes.resize(plan.nodes.size());
    for (const auto& node : plan.nodes)
      for (const auto input : inputs_of(node)) ++readers_[input.index()];
    for (const auto& loop : plan.loops) steps_ += (slices_of(loop).tile_count() - 1) * nodes_of(loop);
  }

  ExecutionProfile run() {
    const auto start = Clock::now();
    auto loop = plan_.loops.begin();
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
      if (loop != plan_.loops.end() && loop->begin.index() == n) {
        run_loop(*loop);
        n = loop->result.index();
        ++loop;
      } else {
        run_step(n);
        joins_[n].reset();
      }
    }
    for (std::size_t n = 0; n < reads_.size(); ++n)
      if (reads_[n] != nullptr) profile_.nodes[n].tiles_in = *reads_[n];
    profile_.seconds = seconds_since(start);
    profile_.peak_bytes = context_.memory->peak();
    return std::move(profile_);
  }

 private:
  static TileWindow slices_of(const SliceLoop& loop) {
    Partition parts;
    for (const auto& label : loop.labels) parts.push_back(label.parts);
    return TileWindow::whole(parts);
  }
  static std::int64_t nodes_of(const SliceLoop& loop) {
    return static_cast<std::int64_t>(loop.result.index() - loop.begin.index()) + 1;
  }

  void run_step(std::size_t n) {
    context_.cancellation.check();
    if (context_.progress) context_.progress(operator_name(plan_.nodes[n]), steps_done_, steps_);
    ++steps_done_;
    const auto start = Clock::now();
    std::visit([&](const auto& op) { run_node(n, op); }, plan_.nodes[n].op);
    profile_.nodes[n].seconds += seconds_since(start);
  }

  // Every slice frees what it made, but for the result that they have in common.
  void run_loop(const SliceLoop& loop) {
    const auto result = loop.result.index();
    const auto slices = slices_of(loop);
    const auto readers = readers_;
    slice_.emplace(Slice{
        loop, SlicedResult(loop.aggregate, plan_.nodes[result].dtype, plan_.nodes[result].grid, context_.memory)});
    for (std::int64_t n = 0; n < slices.tile_count(); ++n) {
      slice_->at = slices.key_of(n);
      slice_->last = n + 1 == slices.tile_count();
      for (auto node = loop.begin.index(); node <= result; ++node) {
        readers_[node] = readers[node];
        run_step(node);
      }
    }
    relations_[result] = slice_->result.finish([&](Tile& tile) { joins_[result]->apply_epilogue(tile); });
    profile_.nodes[result].bytes = relations_[result]->bytes();
    slice_.reset();
    for (auto node = loop.begin.index(); node <= result; ++node) joins_[node].reset();
  }

  bool in_loop(NodeId id) const { return slice_ && slice_->loop.contains(id); }

  // The keys over `labels`, cut into `parts`, that lie in the slice at hand.
  TileWindow window(const Labels& labels, const Partition& parts) const {
    auto window = TileWindow::whole(parts);
    if (!slice_) return window;
    for (std::size_t l = 0; l < slice_->at.size(); ++l) {
      const auto& [label, slices] = slice_->loop.labels[l];
      for (std::size_t d = 0; d < labels.size(); ++d) {
        if (labels[d] != label) continue;
        window.size[d] = parts[d] / slices;
        window.begin[d] = slice_->at[l] * window.size[d];
      }
    }
    return window;
  }

  TileWindow window_of(std::size_t n) const {
    const auto& parts = plan_.nodes[n].grid.partition();
    if (!slice_) return TileWindow::whole(parts);
    return window(slice_->loop.dimensions[n - slice_->loop.begin.index()], parts);
  }

  void run_node(std::size_t n, const ScanNode& scan) {
    relations_[n] = std::make_shared<Relation>(scan.tensor, context_.source, context_.memory);
    if (reads_[n] == nullptr) reads_[n] = relations_[n]->tiles_read();
    else relations_[n]->count_reads_in(reads_[n]);
  }

  void run_node(std::size_t n, const RepartitionNode& repartition) {
    const auto& node = plan_.nodes[n];
    const auto source = take(repartition.input);
    const auto window = window_of(n);
    std::vector<TilePtr> tiles(static_cast<std::size_t>(window.tile_count()));
    std::atomic<std::int64_t> tiles_in{0};
    std::atomic<std::int64_t> bytes{0};
    std::atomic<std::int64_t> elements{0};
    context_.scheduler.for_each(window.tile_count(), [&](std::int64_t number) {
      context_.cancellation.check();
      std::int64_t pieces = 0;
      auto tile = gather_tile(*source, node.grid, node.grid.id_of(window.key_of(number)), *context_.memory, pieces);
      tiles_in += pieces;
      if (tile != nullptr) {
        bytes += static_cast<std::int64_t>(tile->byte_size());
        elements += tile->shape().element_count();
      }
      tiles[static_cast<std::size_t>(number)] = std::move(tile);
    });
    auto& profile = profile_.nodes[n];
    profile.tiles_in += tiles_in;
    profile.tiles_out += window.tile_count();
    profile.bytes += bytes;
    profile.elements += elements;
    relations_[n] = std::make_shared<Relation>(node.dtype, node.grid, window, std::move(tiles));
  }

  // A join that a group-by reads is run by the group-by, which accumulates into its tiles.
  void run_node(std::size_t n, const JoinNode& join) {
    const bool grouped = n + 1 < plan_.nodes.size() && std::holds_alternative<GroupByNode>(plan_.nodes[n + 1].op) &&
                         std::get<GroupByNode>(plan_.nodes[n + 1].op).input == NodeId(n);
    if (!grouped) run_join(join, n, profile_.nodes[n]);
  }

  void run_node(std::size_t n, const GroupByNode& group_by) {
    const auto join = group_by.input.index();
    CHECK(join + 1 == n, "a group-by follows its join");
    const auto& join_node = std::get<JoinNode>(plan_.nodes[join].op);
    auto& profile = profile_.nodes[n];
    NodeProfile& of_join = profile_.nodes[join];
    profile.elements = 0;
    run_join(join_node, n, profile);
    of_join.kernel_calls += std::exchange(profile.kernel_calls, 0);
    of_join.elements += profile.elements;
    // Of all slices together: all calls of a group but one.
    const auto calls_per_group = checked_product(join_node.partition.project(join_node.einsum.aggregated));
    profile.elements = (calls_per_group - 1) * plan_.nodes[n].grid.shape().element_count();
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

  void run_join(const JoinNode& join, std::size_t result, NodeProfile& profile) {
    std::vector<RelationPtr> inputs;
    std::vector<DType> types;
    for (const auto input : join.inputs) {
      inputs.push_back(take(input));
      types.push_back(inputs.back()->dtype());
    }
    const auto& node = plan_.nodes[result];
    auto& op = joins_[result];
    if (op == nullptr) op = std::make_unique<JoinOperator>(join, plan_.labels, node.grid, node.dtype, types, context_);
    const auto keys = window(join.partition.labels, join.partition.parts);
    if (slice_ && slice_->loop.result == NodeId(result)) op->run_into(slice_->result, inputs, keys, profile);
    else relations_[result] = op->run(inputs, keys, profile);
  }

  // The relation of a node for one of its readers; the last one takes it away. What a loop finds there it needs until
  // its last slice.
  RelationPtr take(NodeId id) {
    auto& relation = relations_[id.index()];
    CHECK(relation != nullptr, "a node runs before its readers");
    if (slice_ && !in_loop(id) && !slice_->last) return relation;
    return --readers_[id.index()] == 0 ? std::move(relation) : relation;
  }

  const PhysicalPlan& plan_;
  ExecutionContext& context_;
  TileSink& sink_;
  std::vector<RelationPtr> relations_;
  std::vector<int> readers_;
  std::vector<std::unique_ptr<JoinOperator>> joins_;       // those in use; kept from slice to slice
  std::vector<std::shared_ptr<Relation::Counter>> reads_;  // of scans: tiles come as they are needed
  std::optional<Slice> slice_;                             // set in a loop
  std::int64_t steps_;                                     // nodes, counted once per slice
  std::int64_t steps_done_ = 0;
  ExecutionProfile profile_;
};

}  // namespace

ExecutionProfile execute(const PhysicalPlan& plan, ExecutionContext& context, TileSink& sink) {
  return PlanRun(plan, context, sink).run();
}

}  // namespace eindb
