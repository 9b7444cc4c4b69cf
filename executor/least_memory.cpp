#include "executor/least_memory.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/checked_math.hpp"
#include "executor/kernels/workspace.hpp"
#include "executor/task_graph.hpp"
#include "tensor/cell_block.hpp"
#include "tensor/cell_cut.hpp"

namespace eindb {
namespace {

// The bytes that a source of stored tiles may count beside each tile.
constexpr std::int64_t kBesideTile = 256;

// The bytes of the sums over slices, in the type that the kernels compute in.
std::int64_t bytes_of_sums(const Fragment& plan, const SliceLoop* loop) {
  if (loop == nullptr || loop->aggregate == Aggregate::None) return 0;
  const auto& result = plan.node(loop->result);
  const auto working = plan.node(plan.worker_of(loop->result)).working_type();
  const auto size = std::max(size_of(working), size_of(result.dtype));
  return checked_multiply(result.grid.shape().element_count(), static_cast<std::int64_t>(size));
}

// `join` must outlive the result. It is the stage's join, or a copy with other constants.
std::unique_ptr<JoinOperator> join_operator(const JoinNode& join, const Fragment& plan, const Stage& stage,
                                            std::int64_t workspace) {
  const Workspace::Bound bound(static_cast<std::size_t>(workspace));
  const auto& result = plan.nodes[stage.node];
  std::vector<JoinInput> inputs;
  for (const auto input : join.inputs) inputs.push_back(join_input(plan, input));
  return std::make_unique<JoinOperator>(join, plan.labels, result.grid, result.dtype, inputs, result.cells.has_value());
}

std::int64_t beside_tiles(const Fragment& plan, const Stage& stage) {
  return kBesideTile * static_cast<std::int64_t>(inputs_of(plan.nodes[stage.join]).size());
}

// Parameters may have no values yet. Kernels need the same workspace for all values, to within some registers, so a
// number that no operation treats specially takes their place.
std::int64_t need_of(const Fragment& plan, const Stage& stage) {
  const auto* join = std::get_if<JoinNode>(&plan.nodes[stage.join].op);
  const auto tiles = checked_add(stage.need, beside_tiles(plan, stage));
  if (join == nullptr) return tiles;
  auto with_values = *join;
  with_values.substitute({[](std::size_t) { return ScalarExpression::integer(1009); }});
  return checked_add(tiles, join_operator(with_values, plan, stage, kSmallWorkspace)->workspace_bytes());
}

// A tile that a result takes over, and its copy if it has other owners, or the tiles that its cells are cut into.
std::int64_t bytes_of_delivery(const FragmentNode& node) {
  const auto tile = largest_tile_bytes(node);
  if (!node.cells) return checked_multiply(2, tile);
  const auto rank = node.grid.rank();
  const auto cells = std::ceil(static_cast<double>(tile) / bytes_of_cell(node.dtype, rank));
  return checked_add(tile, bytes_for_cut(node.dtype, rank, static_cast<std::int64_t>(cells)));
}

}  // namespace

std::unique_ptr<JoinOperator> join_operator(const Fragment& plan, const Stage& stage, std::int64_t workspace) {
  return join_operator(std::get<JoinNode>(plan.nodes[stage.join].op), plan, stage, workspace);
}

std::int64_t least_memory(const Fragment& plan) {
  const TaskGraph graph(plan, [] { return std::int64_t{0}; });
  std::int64_t least = 0;
  for (const auto& region : graph.regions()) {
    const auto sums = bytes_of_sums(plan, region.loop);
    for (auto s = region.begin; s < region.end; ++s)
      least = std::max(least, checked_add(sums, need_of(plan, graph.stages()[s])));
  }
  for (const auto& node : plan.nodes)
    if (node.role() == OperatorRole::Delivery) least = std::max(least, bytes_of_delivery(node));
  return least;
}

}  // namespace eindb
