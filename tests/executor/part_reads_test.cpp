// Joins that read parts of larger tiles, from the optimizer's pass to the tiles of the results.
#include "optimizer/part_reads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>

#include "executor/executor.hpp"
#include "executor/least_memory.hpp"
#include "executor/scheduler.hpp"
#include "optimizer/optimizer.hpp"
#include "plan/task_memory.hpp"
#include "plan/validator.hpp"
#include "tests/executor/random_statement.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;
using testing::RandomStatement;
using testing::StoredTensors;

constexpr auto kEndless = std::numeric_limits<double>::infinity();

// Copies tiles, so that the memory of the statement does not hold its results.
struct CollectCopies final : TileSink {
  void write(std::int64_t, TilePtr tile) override {
    if (tile == nullptr) return tiles.push_back(nullptr);
    auto copy = Tile::uninitialized(tile->dtype(), tile->shape());
    std::copy(tile->bytes().begin(), tile->bytes().end(), copy.mutable_bytes().begin());
    tiles.push_back(std::make_shared<const Tile>(std::move(copy)));
  }
  std::vector<TilePtr> tiles;
};

std::vector<DenseTensor> results_of(const Fragment& plan, StoredTensors& tensors, int threads, std::int64_t limit) {
  Scheduler scheduler(threads);
  const Cancellation never;
  ExecutionContext context{.scheduler = scheduler,
                           .cancellation = never,
                           .memory = MemoryBudget::create(limit),
                           .source = tensors,
                           .progress = {}};
  std::vector<CollectCopies> collected(plan.result_count());
  std::vector<TileSink*> sinks;
  for (auto& sink : collected) sinks.push_back(&sink);
  run_fragment(plan, context, sinks);
  std::vector<DenseTensor> results;
  for (std::size_t n = 0; n < collected.size(); ++n) {
    results.push_back(assemble(collected[n].tiles, plan.sink(n).grid, plan.sink(n).dtype));
    collected[n].tiles.clear();
  }
  EXPECT_EQ(context.memory->used(), 0) << "every tile is let go";
  return results;
}

std::size_t repartitions_in(const Fragment& plan) {
  std::size_t count = 0;
  for (const auto& node : plan.nodes) count += std::holds_alternative<RepartitionNode>(node.op) ? 1 : 0;
  return count;
}

std::size_t part_reads_in(const Fragment& plan) {
  std::size_t count = 0;
  for (const auto& node : plan.nodes)
    if (const auto* join = std::get_if<JoinNode>(&node.op)) count += join->in_parts.size();
  return count;
}

// With any cutting of operands and vertices; also where memory is scarce, so that tasks wait and go on.
TEST(PartReads, AgreeWithTheReference) {
  std::size_t in_parts = 0;
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::mt19937 random(static_cast<unsigned>(round));
    RandomStatement statement(random, round % 2 == 0 ? 0.3 : 0.0, {-2, 2}, true);
    if (round % 3 == 0) statement.want_several();
    OptimizerOptions options;
    options.parallelism = std::int64_t{1} << (round % 6);
    const auto plan = optimize(statement.builder.graph, options);
    const auto& fragment = plan.fragment();
    validate(plan_of(fragment));
    in_parts += part_reads_in(fragment);
    const auto limit = round % 4 == 0 ? least_memory(fragment) : std::int64_t{1} << 40;
    const auto found = results_of(fragment, statement.tensors, 1 + round % 2, limit);
    const auto expected = statement.expected();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t n = 0; n < found.size(); ++n)
      testing::expect_equal(found[n], expected[n], "result " + std::to_string(n));
    if (HasFailure()) return;
  }
  EXPECT_GT(in_parts, 20U);
}

// A product of matrices of which X is stored in `stored` parts.
struct StoredProduct {
  StoredProduct(std::int64_t extent, const Partition& stored, std::int64_t parallelism) {
    const auto l = builder.labels("ijk", extent);
    const auto x = builder.input("X", {extent, extent}, stored);
    const auto y = builder.input("Y", {extent, extent}, {1, 1});
    builder.contraction("Z", {{x, {l[0], l[1]}}, {y, {l[1], l[2]}}}, {l[0], l[2]});
    options.parallelism = parallelism;
    options.disabled_passes = {"part_reads"};
    plan = optimize(builder.graph, options);
  }

  GraphBuilder builder;
  OptimizerOptions options;
  OptimizedPlan plan;
};

TEST(PartReads, TakePartsOfLargerTiles) {
  const StoredProduct product(1024, {1, 1}, 4);
  ASSERT_GT(repartitions_in(product.plan.fragment()), 0U);
  const auto fragment = read_in_parts(product.plan.fragment(), kEndless, 2);
  ASSERT_TRUE(fragment);
  EXPECT_EQ(repartitions_in(*fragment), 0U);
  EXPECT_GT(part_reads_in(*fragment), 0U);
}

TEST(PartReads, CopySmallerTilesTogether) {
  const StoredProduct product(1024, {64, 64}, 4);
  ASSERT_GT(repartitions_in(product.plan.fragment()), 0U);
  const auto fragment = read_in_parts(product.plan.fragment(), kEndless, 2);
  EXPECT_GT(repartitions_in(fragment ? *fragment : product.plan.fragment()), 0U);
}

TEST(PartReads, TakeNoMoreMemoryThanThereIs) {
  const StoredProduct product(1024, {1, 1}, 64);
  const auto most = [](const Fragment& plan) {
    double bytes = 0;
    for (std::size_t n = 0; n < plan.nodes.size(); ++n)
      if (plan.nodes[n].has_tasks()) bytes = std::max(bytes, task_bytes(plan, NodeId(n)));
    return bytes;
  };
  const auto& before = product.plan.fragment();
  const auto after = read_in_parts(before, 1 << 20, 2);
  EXPECT_LE(most(after ? *after : before), std::max(most(before), double{1 << 17}));
}

}  // namespace
}  // namespace eindb
