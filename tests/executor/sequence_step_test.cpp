// Steps of a distributed plan that move a relation by a sequence of collectives.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "common/error.hpp"
#include "optimizer/redistribution/redistribution_planner.hpp"
#include "plan/tile_moves.hpp"
#include "tests/cluster/local_nodes.hpp"
#include "tests/executor/distributed_fixture.hpp"
#include "tests/optimizer/random_redistribution.hpp"

namespace eindb {
namespace {

using testing::DistributedOptions;
using testing::RandomRedistributions;
using testing::RedistributionProblem;

constexpr DType kTypes[] = {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128, DType::Int64};

// X, stored at some ranks, is brought to the blocks of a source type, and from there to those of a target type.
class SequenceProblem {
 public:
  SequenceProblem(const RedistributionProblem& problem, std::mt19937& random, DType type, double absent)
      : shape_(problem.source.global_shape()) {
    const auto from = problem.source.placement();
    const auto to = problem.target.placement();
    const auto grid = cut(Partition(shape_.rank(), 1), random);
    plan.ranks = from.at.size();
    plan.holder_lists = 1;
    plan.steps.push_back({ScanStep{{"X", type, grid}, 0}, VertexId(0), type, grid, std::size_t{0}});
    plan.steps.push_back({RedistributeStep{StepId(0)}, VertexId(0), type, cut(from.parts, random), from});
    plan.steps.push_back({RedistributeStep{StepId(1)}, VertexId(0), type, cut(to.parts, random), to});
    plan.results = {StepId(2)};
    tensors.add("X", testing::random_tensor(random, grid, type, absent, {1, 9}), grid);
    TileHolders list;
    for (std::int64_t tile = 0; tile < grid.tile_count(); ++tile) {
      std::vector<Rank> ranks;
      if (!tensors.is_absent("X", tile)) ranks.push_back(static_cast<Rank>(random() % plan.ranks));
      list.add(ranks);
    }
    lists.push_back(std::move(list));
  }

  // Returns false if no collectives lead there.
  bool use(std::optional<RedistributionPlan> sequence) {
    if (!sequence || sequence->steps.empty()) return false;
    std::get<RedistributeStep>(plan.steps[2].op).sequence = std::move(sequence);
    return true;
  }

  bool use_cheapest() {
    return use(plan_redistribution(shape_, std::get<BlockPlacement>(plan.steps[1].placement),
                                   std::get<BlockPlacement>(plan.steps[2].placement)));
  }
  bool use_fallback() {
    return use(gather_then_slice(shape_, std::get<BlockPlacement>(plan.steps[1].placement),
                                 std::get<BlockPlacement>(plan.steps[2].placement)));
  }

  testing::DistributedOutcome run(const DistributedOptions& options = {}) {
    return run_distributed(
        plan, lists, [&](Rank rank) { return std::make_unique<testing::RankSource>(tensors, plan, lists, rank); },
        options);
  }

  void expect_right(const DistributedOptions& options, const std::string& what) {
    const auto outcome = run(options);
    testing::expect_equal(assemble(outcome, plan, lists), tensors.dense("X"), what);
    const auto* moved = std::get_if<RedistributeStep>(&plan.steps[2].op);
    if (!moved->sequence) return;
    const auto foreseen = bytes_received(plan, StepId(2), lists);
    for (std::size_t rank = 0; rank < plan.ranks; ++rank)
      EXPECT_EQ(static_cast<double>(outcome.profiles[rank].steps[2].bytes_received), foreseen[rank]) << what;
  }

  PhysicalPlan plan;
  std::vector<TileHolders> lists;
  testing::StoredTensors tensors;

 private:
  // Makes a grid whose partition is a multiple of `parts`.
  TileGrid cut(Partition parts, std::mt19937& random) const {
    for (std::size_t d = 0; d < parts.size(); ++d) {
      const auto times = 1 + static_cast<std::int64_t>(random() % 3);
      if (parts[d] * times <= shape_[d]) parts[d] *= times;
    }
    return {shape_, std::move(parts)};
  }

  const Shape shape_;
};

// Runs a problem in pieces, by the cheapest sequence and by "allgather everything, then dynslice"; returns how many
// sequences ran.
int run_every_way(SequenceProblem& problem, const DistributedOptions& options, const std::string& what) {
  int sequences = 0;
  problem.expect_right(options, what + " in pieces");
  if (problem.use_cheapest()) {
    problem.expect_right(options, what + " by the cheapest sequence");
    ++sequences;
  }
  if (problem.use_fallback()) {
    problem.expect_right(options, what + " by gathering");
    ++sequences;
  }
  return sequences;
}

int run_random(int problems, double bytes, const std::function<DistributedOptions(int round)>& options_of) {
  int sequences = 0;
  for (const auto* mesh : {"{x:2}", "{x:2, y:2}", "{x:2, y:2, z:2}", "{x:2, y:3}"}) {
    RandomRedistributions types(Mesh::parse(mesh), 31);
    std::mt19937 random(32);
    for (int round = 0; round < problems; ++round) {
      const auto problem = round % 2 == 0 ? types.next(bytes) : types.next_uneven();
      const auto name = std::string(mesh) + " " + problem.source.to_string() + " -> " + problem.target.to_string();
      SequenceProblem moved(problem, random, kTypes[round % 5], round % 3 == 0 ? 0.3 : 0);
      sequences += run_every_way(moved, options_of(round), name);
    }
  }
  return sequences;
}

TEST(SequenceStep, BringsEveryElementToItsPlace) {
  EXPECT_GT(run_random(15, 2e4, [](int round) { return DistributedOptions{.threads = 1 + round % 2}; }), 60);
}

TEST(SequenceStep, OverTcp) {
  std::map<std::size_t, std::unique_ptr<LocalNodes>> nodes;
  DistributedOptions options;
  options.exchanges = [&](std::size_t ranks) {
    auto& known = nodes[ranks];
    if (known == nullptr) known = std::make_unique<LocalNodes>(ranks);
    return known->open();
  };
  EXPECT_GT(run_random(5, 2e4, [&](int) { return options; }), 15);
}

struct SequenceInMemory : ::testing::Test {
  SequenceInMemory() {
    const auto mesh = Mesh::parse("{x:2, y:2}");
    std::mt19937 random(33);
    problem.emplace(RedistributionProblem{DistributedType::parse("[128{x,y}512, 512]", mesh),
                                          DistributedType::parse("[512, 128{x,y}512]", mesh)},
                    random, DType::Float64, 0);
    EXPECT_TRUE(problem->use_cheapest());
    const auto& sequence = *std::get<RedistributeStep>(problem->plan.steps[2].op).sequence;
    working_bytes = working_elements(sequence) * 8;
  }
  std::optional<SequenceProblem> problem;
  std::int64_t working_bytes = 0;
};

// Tiles that wait go to the scratch file.
TEST_F(SequenceInMemory, KeepsToTheLimit) {
  const auto limit = 2 * working_bytes;
  problem->expect_right({.threads = 2, .limit = limit}, "in little memory");
  for (const auto& profile : problem->run({.limit = limit}).profiles) EXPECT_LE(profile.peak_bytes, limit);
}

TEST_F(SequenceInMemory, IsRefusedByAllWhereItHasNoRoom) {
  for (const auto& error : problem->run({.limit = working_bytes - 1}).errors) {
    ASSERT_TRUE(error);
    try {
      std::rethrow_exception(error);
    } catch (const Error& found) {
      EXPECT_EQ(found.kind(), ErrorKind::MemoryLimit);
    }
  }
}

}  // namespace
}  // namespace eindb
