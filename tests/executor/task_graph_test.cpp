#include "executor/task_graph.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>

#include "executor/ready_queue.hpp"
#include "optimizer/optimizer.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

Fragment planned(const EinGraph& graph, std::int64_t parallelism, std::int64_t memory_limit = 0) {
  OptimizerOptions options;
  options.parallelism = parallelism;
  options.memory_limit = memory_limit;
  return optimize(graph, options).fragment();
}

// Chains and networks with reductions, diagonals and partitions that do not nest.
EinGraph random_graph(std::mt19937& random) {
  GraphBuilder builder;
  Labels all;
  for (int l = 0; l < 6; ++l)
    all.push_back(builder.label("l" + std::to_string(l), static_cast<std::int64_t>(1 + random() % 7)));
  std::vector<GraphBuilder::Read> reads;
  Labels used;
  const auto operands = 2 + random() % 4;
  for (std::size_t n = 0; n < operands; ++n) {
    Labels labels;
    std::vector<std::int64_t> extents;
    Partition partition;
    for (const auto label : all) {
      if (random() % 5 > 1) continue;
      const auto extent = builder.graph.labels().extent(label);
      for (auto twice = random() % 9 == 0 ? 2 : 1; twice > 0; --twice) {
        labels.push_back(label);
        extents.push_back(extent);
        partition.push_back(1 + static_cast<std::int64_t>(random()) % std::min<std::int64_t>(extent, 3));
      }
    }
    append_distinct(used, labels);
    reads.push_back({builder.input("X" + std::to_string(n), extents, partition), labels});
  }
  Labels output;
  for (const auto label : used)
    if (random() % 3 == 0) output.push_back(label);
  builder.contraction("Z", reads, output);
  return builder.graph;
}

// The begin of the slice by axis of the stage.
std::vector<std::int64_t> begin_of(const Stage& stage, const std::vector<std::int64_t>& slice) {
  std::vector<std::int64_t> begin;
  for (const auto& axis : stage.axes)
    begin.push_back(axis.sliced < 0 ? 0 : slice[static_cast<std::size_t>(axis.sliced)] * axis.calls);
  return begin;
}

// Where the relation of a link begins in the result along a dimension.
std::int64_t begin_of(const Fragment& plan, const Stage& stage, const Link& link, std::size_t dimension) {
  const auto* joined = std::get_if<ConcatenationNode>(&plan.nodes[stage.join].op);
  std::int64_t begin = 0;
  if (joined == nullptr || joined->along != dimension) return begin;
  for (std::size_t n = 0; n < link.operand; ++n) begin += plan.node(joined->inputs[n]).grid.shape()[dimension];
  return begin;
}

// The tiles that a task reads, determined by ranges of indices alone: those that overlap the task's part.
std::set<std::int64_t> tiles_by_overlap(const Fragment& plan, const Stage& stage, const Link& link,
                                        const std::vector<std::int64_t>& task, const std::vector<std::int64_t>& begin) {
  const auto& source = plan.nodes[link.source].grid;
  const auto& result = plan.nodes[stage.node].grid;
  const auto* join = std::get_if<JoinNode>(&plan.nodes[stage.join].op);
  std::set<std::int64_t> ids;
  for (std::int64_t id = 0; id < source.tile_count(); ++id) {
    const auto key = source.key_of(id);
    bool reads = true;
    std::map<std::size_t, std::int64_t> part_of_axis;
    for (std::size_t d = 0; d < key.size(); ++d) {
      std::size_t axis = d;
      if (join != nullptr) {
        Labels labels = join->einsum.output;
        labels.insert(labels.end(), join->einsum.aggregated.begin(), join->einsum.aggregated.end());
        axis = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), join->einsum.inputs[link.operand][d]) -
                                        labels.begin());
        reads = reads && part_of_axis.try_emplace(axis, key[d]).first->second == key[d];
      }
      if (stage.axes[axis].aggregated && link.in_parts) {
        const auto wanted = part_range(source.shape()[d], stage.axes[axis].tasks, task[axis]);
        const auto there = source.range(d, key[d]);
        reads = reads && there.begin < wanted.end() && wanted.begin < there.end();
      } else if (stage.axes[axis].aggregated) {
        const auto calls = part_range(stage.axes[axis].calls, stage.axes[axis].tasks, task[axis]);
        const auto call = key[d] - begin[axis];
        reads = reads && call >= calls.begin && call < calls.end();
      } else {
        const auto wanted = result.range(axis, task[axis] + begin[axis]);
        auto there = source.range(d, key[d]);
        there.begin += begin_of(plan, stage, link, d);
        reads = reads && there.begin < wanted.end() && wanted.begin < there.end();
      }
    }
    if (reads) ids.insert(id);
  }
  return ids;
}

void check_region(const Fragment& plan, const TaskGraph& graph, const TaskGraph::Region& region) {
  auto work = slice_count(region.loop);
  for (auto s = region.begin; s < region.end; ++s)
    for (const auto& link : graph.stages()[s].links)
      work += graph.stages()[s].task_count * plan.nodes[link.source].grid.tile_count() * slice_count(region.loop);
  if (work > 200'000) return;
  std::vector<std::int64_t> parts;
  if (region.loop != nullptr)
    for (const auto& label : region.loop->labels) parts.push_back(label.parts);
  std::vector<std::int64_t> slice(parts.size(), 0);
  std::map<const Link*, std::map<std::int64_t, std::int64_t>> reads;  // by tile, over all slices
  do {
    for (auto s = region.begin; s < region.end; ++s) {
      const auto& stage = graph.stages()[s];
      const auto begin = begin_of(stage, slice);
      Coordinates c;
      for (const auto& link : stage.links) {
        const auto& source = plan.nodes[link.source].grid;
        std::map<std::int64_t, std::set<std::int64_t>> readers;
        for (std::int64_t task = 0; task < stage.task_count; ++task) {
          stage.find_task(task, c.task);
          const auto expected = tiles_by_overlap(plan, stage, link, c.task, begin);
          std::set<std::int64_t> tiles;
          stage.for_each_tile(link, begin, c, [&](const TileKey& key) {
            EXPECT_TRUE(tiles.insert(source.id_of(key)).second) << "each tile once";
          });
          EXPECT_EQ(tiles, expected);
          EXPECT_EQ(stage.tiles_read(link, c.task, begin), static_cast<std::int64_t>(tiles.size()));
          for (const auto tile : tiles) {
            readers[tile].insert(task);
            ++reads[&link][tile];
          }
        }
        const bool made_here = graph.is_made_by_stage(link.source) && region.first_node <= link.source;
        if (!made_here) continue;
        for (const auto& [tile, expected] : readers) {
          c.key = source.key_of(tile);
          std::set<std::int64_t> tasks;
          stage.for_each_task(link, begin, c, [&](std::int64_t task) { EXPECT_TRUE(tasks.insert(task).second); });
          EXPECT_EQ(tasks, expected);
        }
      }
    }
  } while (!slice.empty() && next_index(slice, parts));
  for (const auto& [link, tiles] : reads) {
    // A relation that every slice makes anew is read within one slice only.
    if (region.loop != nullptr && region.first_node <= link->source) continue;
    const auto& stage = graph.stages()[link->stage];
    const bool diagonal = link->cuts.size() < link->dims.size();
    for (const auto& [tile, count] : tiles) {
      const auto counted = stage.reads(*link, plan.nodes[link->source].grid.key_of(tile));
      if (diagonal) EXPECT_GE(counted, count);
      else EXPECT_EQ(counted, count);
    }
  }
}

TEST(TaskGraph, KnowsWhatTasksReadAsBruteForceDoes) {
  std::mt19937 random(5);
  int loops = 0;
  int early = 0;
  for (int round = 0; round < 120; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto graph = random_graph(random);
    const auto plan = planned(graph, std::int64_t{1} << random() % 5, round % 2 == 0 ? 0 : 2000);
    const TaskGraph tasks(plan);
    for (const auto& region : tasks.regions()) check_region(plan, tasks, region);
    loops += plan.loops.empty() ? 0 : 1;
    for (const auto& stage : tasks.stages()) early += stage.tasks_per_tile > 1 ? 1 : 0;
  }
  EXPECT_GT(loops, 10);
  EXPECT_GT(early, 5);
}

// Relations of random cuts joined along a dimension, each of them cut anew before.
TEST(TaskGraph, KnowsWhatConcatenationsReadAsBruteForceDoes) {
  std::mt19937 random(6);
  const auto cut_of = [&](const Shape& shape) {
    Partition parts;
    for (std::size_t d = 0; d < shape.rank(); ++d)
      parts.push_back(1 + static_cast<std::int64_t>(random()) % std::min<std::int64_t>(shape[d], 5));
    return TileGrid(shape, parts);
  };
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Fragment plan;
    ConcatenationNode joined{.inputs = {}, .along = random() % 2};
    std::vector<std::int64_t> extents{1 + static_cast<std::int64_t>(random() % 9),
                                      1 + static_cast<std::int64_t>(random() % 9)};
    std::int64_t extent = 0;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      extents[joined.along] = 1 + static_cast<std::int64_t>(random() % 9);
      extent += extents[joined.along];
      const Shape shape(extents);
      const auto stored = cut_of(shape);
      plan.nodes.push_back({ScanNode{InputTensor{"X", DType::Float64, stored}}, VertexId(0), DType::Float64, stored});
      plan.nodes.push_back(
          {RepartitionNode{NodeId(plan.nodes.size() - 1)}, VertexId(0), DType::Float64, cut_of(shape)});
      joined.inputs.emplace_back(plan.nodes.size() - 1);
    }
    extents[joined.along] = extent;
    plan.nodes.push_back({joined, VertexId(0), DType::Float64, cut_of(Shape(extents))});
    const TaskGraph tasks(plan);
    for (const auto& region : tasks.regions()) check_region(plan, tasks, region);
  }
}

TEST(ReadyQueue, TakesLaterStagesFirstAndRootsInTheOrderOfThePlan) {
  ReadyQueue queue;
  queue.add_roots(0, 2);
  queue.add_roots(3, 1);
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.pop(), (TaskId{0, 0}));
  queue.push({1, 5});
  queue.push({2, 1});
  queue.push({2, 0});
  EXPECT_TRUE(queue.is_urgent({2, 7}));
  EXPECT_FALSE(queue.is_urgent({1, 0}));
  EXPECT_EQ(queue.pop(), (TaskId{2, 0}));
  EXPECT_EQ(queue.pop(), (TaskId{2, 1}));
  EXPECT_EQ(queue.pop(), (TaskId{1, 5}));
  EXPECT_EQ(queue.pop(), (TaskId{0, 1}));
  EXPECT_EQ(queue.pop(), (TaskId{3, 0}));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), std::nullopt);
}

// All before a checkpoint is complete before anything behind it begins.
TEST(TaskGraph, KnowsWhereASecondThreadHasNothingToDo) {
  GraphBuilder builder;
  const auto labels = builder.labels("ijkl", 32);
  const auto [i, j, k, l] = std::array{labels[0], labels[1], labels[2], labels[3]};
  const auto a = builder.input("A", {32, 32});
  const auto b = builder.input("B", {32, 32});
  const auto c = builder.input("C", {32, 32});
  const auto first = builder.contraction("P", {{a, {i, j}}, {b, {j, k}}}, {i, k});
  builder.contraction("Z", {{first, {i, k}}, {c, {k, l}}}, {i, l});
  const auto is_one_line = [&](std::int64_t parallelism) {
    const auto plan = planned(builder.graph, parallelism);
    return TaskGraph(plan).is_one_line();
  };
  EXPECT_TRUE(is_one_line(1));
  EXPECT_FALSE(is_one_line(4));

  // Two results that do not wait for each other.
  const auto second = builder.vertex("Q", {{b, {i, j}}, {c, {j, k}}}, {i, k}, testing::product(2), Aggregate::Max);
  builder.graph.set_outputs({first, second});
  EXPECT_FALSE(is_one_line(1));
}

TEST(TaskGraph, CutsRegionsAtCheckpoints) {
  GraphBuilder builder;
  const auto labels = builder.labels("ijkl", 20'000);
  const auto sparse = [&](const std::string& name) {
    const auto id = builder.input(name, {20'000, 20'000});
    auto vertex = builder.graph.vertex(id);
    vertex.stored->cells = CellEstimate{1e5, {}};
    builder.graph.replace(id, vertex);
    return id;
  };
  const Label i = labels[0], j = labels[1], k = labels[2], l = labels[3];
  const auto a = sparse("A"), b = sparse("B"), c = sparse("C");
  const auto t = builder.contraction("T", {{a, {i, j}}, {b, {j, k}}}, {i, k});
  const auto u = builder.contraction("U", {{t, {i, k}}, {c, {k, l}}}, {i, l});
  const auto s = builder.contraction("S", {{t, {i, k}}}, {i});
  builder.graph.set_outputs({u, s});
  OptimizerOptions options;
  options.machine = MachineOptions{.figures = built_in_figures(), .threads = 1};
  options.checkpoints = OptimizerOptions::Checkpoints::Uncertain;
  const auto plan = optimize(builder.graph, options).fragment();
  ASSERT_EQ(plan.checkpoints.size(), 1U);
  const TaskGraph graph(plan);
  ASSERT_EQ(graph.regions().size(), 2U);
  EXPECT_TRUE(graph.regions()[0].ends_at_checkpoint);
  EXPECT_EQ(graph.regions()[0].last_node, plan.checkpoints.front().index());
  EXPECT_FALSE(graph.regions()[1].ends_at_checkpoint);
  EXPECT_EQ(graph.regions()[1].first_node, plan.checkpoints.front().index() + 1);
  auto whole = plan;
  whole.checkpoints.clear();
  EXPECT_EQ(TaskGraph(whole).regions().size(), 1U);
}

}  // namespace
}  // namespace eindb
