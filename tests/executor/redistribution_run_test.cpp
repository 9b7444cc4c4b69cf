#include "executor/redistribution_run.hpp"

#include <gtest/gtest.h>

#include <mutex>

#include "common/error.hpp"
#include "executor/in_process_exchange.hpp"
#include "optimizer/redistribution/redistribution_planner.hpp"
#include "tests/executor/rank_threads.hpp"
#include "tests/optimizer/random_redistribution.hpp"

namespace eindb {
namespace {

using testing::RandomRedistributions;

// A block whose elements are their positions in the whole tensor.
Tile numbered_block(const Shape& shape, const BlockPlacement& placement, std::size_t rank) {
  const auto box = block_box(shape, placement, rank);
  auto tile = Tile::uninitialized(DType::Int64, shape_of(box));
  auto* values = tile.mutable_data<std::int64_t>();
  const auto strides = shape.row_major_strides();
  std::vector<std::int64_t> index(box.size(), 0);
  if (tile.shape().element_count() == 0) return tile;
  do {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < box.size(); ++d) place += (box[d].begin + index[d]) * strides[d];
    *values++ = place;
  } while (next_index(index, tile.shape().extents()));
  return tile;
}

std::optional<Tile> block_of(const Shape& shape, const BlockPlacement& placement, std::size_t rank) {
  return placement.at[rank] ? std::optional(numbered_block(shape, placement, rank)) : std::nullopt;
}

bool equal(const std::optional<Tile>& a, const std::optional<Tile>& b) {
  if (!a || !b) return !a && !b;
  return a->shape() == b->shape() && std::equal(a->bytes().begin(), a->bytes().end(), b->bytes().begin());
}

// Runs a plan on threads, checks every element at every rank, and returns the bytes received by all ranks.
std::int64_t run_and_check(const RedistributionPlan& plan, const std::string& name) {
  auto exchanges = in_process_exchanges(plan.source.at.size());
  std::mutex mutex;
  std::int64_t received = 0;
  run_ranks(exchanges, [&](Exchange& exchange) {
    const auto rank = exchange.rank();
    const auto result = run_redistribution(plan, DType::Int64, block_of(plan.shape, plan.source, rank), exchange);
    const auto expected = block_of(plan.shape, plan.target(), rank);
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(equal(result, expected)) << "rank " << rank << " of " << name;
    received += exchange.counters().bytes_received;
  });
  return received;
}

// Whether every grid of the plan cuts into equal parts, which over-partitioning does not require.
bool is_even(const RedistributionPlan& plan) {
  return std::all_of(plan.steps.begin(), plan.steps.end(), [&](const auto& step) {
    for (std::size_t d = 0; d < plan.shape.rank(); ++d)
      if (plan.shape[d] % step.result.parts[d] != 0) return false;
    return true;
  });
}

TEST(RedistributionRun, RandomPlansBringEveryElementToItsPlace) {
  for (const auto* mesh : {"{x:2, y:2, z:2}", "{x:2, y:3}", "{x:4, y:3}"}) {
    RandomRedistributions random(Mesh::parse(mesh), 21);
    for (int round = 0; round < 30; ++round) {
      const auto p = random.next(4e4);
      const auto name = p.source.to_string() + " -> " + p.target.to_string();
      const auto plan = *plan_redistribution(p.source, p.target);
      const auto received = run_and_check(plan, name);
      EXPECT_GE(received, 8 * moved_elements(plan).received) << name;
      EXPECT_TRUE(received == 8 * moved_elements(plan).received || !is_even(plan)) << name;
      run_and_check(*gather_then_slice(plan.shape, plan.source, plan.target()), name);
    }
  }
}

TEST(RedistributionRun, UnevenBlocksArePaddedOnTheWay) {
  RandomRedistributions random(Mesh::parse("{x:2, y:3}"), 22);
  for (int round = 0; round < 60; ++round) {
    const auto p = random.next_uneven();
    const auto name = p.source.to_string() + " -> " + p.target.to_string();
    const auto plan = plan_redistribution(p.source, p.target);
    if (!plan) continue;
    EXPECT_GE(run_and_check(*plan, name), 8 * moved_elements(*plan).received);
  }
}

TEST(RedistributionRun, RanksWithoutBlocksTakeNoPart) {
  const auto mesh = Mesh::parse("{x:3}");
  auto source = DistributedType::parse("[2{x}6, 5]", mesh).placement();
  auto target = DistributedType::parse("[6, 2{x}5]", mesh).placement();
  source.at.emplace_back(std::nullopt);
  target.at.emplace_back(std::nullopt);
  const Shape shape({6, 5});
  run_and_check(*plan_redistribution(shape, source, target), "among workers");
}

// Ranks detect that they disagree about the plan.
TEST(RedistributionRun, PiecesOfOtherSizesAreCorrupt) {
  const auto mesh = Mesh::parse("{x:2}");
  const auto from = DistributedType::parse("[2{x}4]", mesh).placement();
  const auto to = DistributedType::parse("[4]", mesh).placement();
  const auto plan = *plan_redistribution(Shape({4}), from, to);
  const auto other = *plan_redistribution(Shape({8}), from, to);
  auto exchanges = in_process_exchanges(2);
  std::mutex mutex;
  int corrupt = 0;
  run_ranks(exchanges, [&](Exchange& exchange) {
    const auto& mine = exchange.rank() == 0 ? plan : other;
    try {
      run_redistribution(mine, DType::Int64, numbered_block(mine.shape, from, exchange.rank()), exchange);
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      corrupt += error.kind() == ErrorKind::Corrupt ? 1 : 0;
      exchange.abort(std::current_exception());
    }
  });
  EXPECT_GE(corrupt, 1);
}

}  // namespace
}  // namespace eindb
