// Ranks that are threads of one process execute plans.
#include "executor/steps_run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "common/error.hpp"
#include "executor/step_order.hpp"
#include "optimizer/cell_choice.hpp"
#include "optimizer/fused_join.hpp"
#include "optimizer/partitions/calibrated_model.hpp"
#include "plan/tile_moves.hpp"
#include "tests/executor/distributed_fixture.hpp"
#include "tests/executor/random_statement.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;
using testing::RandomLayout;
using testing::RandomStatement;
using testing::run_distributed;

constexpr std::size_t kRanks[] = {1, 2, 3, 4, 8};

std::function<std::unique_ptr<TileSource>(Rank)> sources(testing::StoredTensors& tensors, const RandomLayout& layout) {
  return [&](Rank rank) { return std::make_unique<testing::RankSource>(tensors, layout.plan, layout.lists, rank); };
}

void expect_as_reference(const RandomLayout& layout, RandomStatement& statement,
                         const testing::DistributedOptions& options) {
  const auto outcome = run_distributed(layout.plan, layout.lists, sources(statement.tensors, layout), options);
  const auto expected = statement.expected();
  for (std::size_t n = 0; n < expected.size(); ++n)
    testing::expect_equal(assemble(outcome, layout.plan, layout.lists, n), expected[n], "result " + std::to_string(n));
}

TEST(StepsRun, AgreesWithTheReferenceWhateverTheLayout) {
  int reduced = 0;
  std::size_t overlapped = 0;
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::mt19937 random(static_cast<unsigned>(round));
    RandomStatement statement(random, round % 3 == 0 ? 0.0 : 0.4, {-1, 1});
    if (round % 2 == 0) statement.want_several();
    RandomLayout layout(random, statement.builder.graph, kRanks[round % 5]);
    layout.lower(statement.tensors);
    layout.plan.holder_lists = layout.lists.size();
    expect_as_reference(layout, statement, {.threads = 1 + round % 2});
    expect_as_reference(layout, statement, {.threads = 1 + round % 2, .least_overlap_bytes = 0});
    overlapped += step_order(layout.plan).overlapped.size();
    for (const auto& step : layout.plan.steps) reduced += std::holds_alternative<ReduceStep>(step.op) ? 1 : 0;
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_GT(reduced, 50);
  EXPECT_GT(overlapped, 100U);
}

// Holds as cells whatever can be: inputs, and results of these.
EinGraph with_cells(EinGraph graph) {
  for (std::size_t v = 0; v < graph.size(); ++v) {
    auto vertex = graph.vertex(VertexId(v));
    if (!vertex.is_input() || vertex.stored->selection) continue;
    vertex.stored->cells = CellEstimate{.cells = 1 + static_cast<double>(vertex.bound.element_count()) / 4};
    graph.replace(VertexId(v), std::move(vertex));
  }
  const CalibratedModel model(built_in_figures(), 1);
  return choose_cells(std::move(graph), model, {.always = true});
}

TEST(StepsRun, AgreesWithTheReferenceWhereTilesAreOfCells) {
  int moved = 0;
  int made = 0;
  int dense = 0;
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::mt19937 random(static_cast<unsigned>(round));
    RandomStatement statement(random, 0.4, {-1, 1}, true);
    if (round % 2 == 0) statement.want_several();
    const auto graph = with_cells(statement.builder.graph);
    RandomLayout layout(random, graph, kRanks[round % 5]);
    layout.lower(statement.tensors);
    layout.plan.holder_lists = layout.lists.size();
    expect_as_reference(layout, statement, {.threads = 1 + round % 2, .least_overlap_bytes = 0});
    for (const auto& step : layout.plan.steps) {
      moved += step.cells && std::holds_alternative<RedistributeStep>(step.op) ? 1 : 0;
      if (std::holds_alternative<ComputeStep>(step.op)) ++(step.cells ? made : dense);
    }
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_GT(moved, 100);
  EXPECT_GT(made, 30);
  EXPECT_GT(dense, 30);
}

// Without all-zero tiles.
TEST(StepsRun, ReceivesTheBytesThatWereForeseen) {
  double total = 0;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::mt19937 random(static_cast<unsigned>(round));
    RandomStatement statement(random, 0, {1, 2});
    RandomLayout layout(random, statement.builder.graph, kRanks[round % 5]);
    layout.lower(statement.tensors);
    layout.plan.holder_lists = layout.lists.size();
    const auto outcome = run_distributed(layout.plan, layout.lists, sources(statement.tensors, layout));
    assemble(outcome, layout.plan, layout.lists);
    std::int64_t sent = 0;
    std::int64_t received = 0;
    for (std::size_t n = 0; n < layout.plan.steps.size(); ++n) {
      const auto foreseen = bytes_received(layout.plan, StepId(n), layout.lists);
      for (std::size_t rank = 0; rank < layout.plan.ranks; ++rank) {
        const auto& step = outcome.profiles[rank].steps[n];
        const auto headers = step.messages_received * static_cast<std::int64_t>(PiecesHeader::kStepBytes) +
                             step.pieces_received * static_cast<std::int64_t>(PiecesHeader::kPieceBytes);
        EXPECT_EQ(static_cast<double>(step.bytes_received - headers), foreseen[rank]) << "step " << n;
        sent += step.bytes_sent;
        received += step.bytes_received;
        total += foreseen[rank];
      }
    }
    EXPECT_EQ(sent, received);
  }
  EXPECT_GT(total, 10000);
}

struct DistributedProduct : ::testing::Test {
  // Z[i,k] = SUM(X[i,j] * Y[j,k]) in Float64, 384 x 384 in tiles of 64 x 64, at random ranks.
  void lay_out(unsigned seed, std::size_t ranks) {
    random.seed(seed);
    const auto l = builder.labels("ijk", 384);
    const TileGrid grid(Shape({384, 384}), {6, 6});
    std::vector<GraphBuilder::Read> reads;
    for (const std::string name : {"X", "Y"}) {
      auto dense = Tile::uninitialized(DType::Float64, grid.shape());
      for (std::int64_t n = 0; n < dense.shape().element_count(); ++n)
        dense.mutable_data<double>()[n] = std::uniform_real_distribution<>(-1, 1)(random);
      tensors.add(name, std::move(dense), grid);
      const Labels labels = name == "X" ? Labels{l[0], l[1]} : Labels{l[1], l[2]};
      reads.push_back({builder.input(name, {384, 384}, {6, 6}), labels});
    }
    builder.contraction("Z", reads, {l[0], l[2]});
    layout.emplace(random, builder.graph, ranks);
    // Repeated until partial results must be reduced.
    do {
      layout.emplace(random, builder.graph, ranks);
      layout->lower(tensors);
      layout->plan.holder_lists = layout->lists.size();
    } while (std::none_of(layout->plan.steps.begin(), layout->plan.steps.end(),
                          [](const auto& step) { return std::holds_alternative<ReduceStep>(step.op); }));
  }

  std::mt19937 random;
  GraphBuilder builder;
  testing::StoredTensors tensors;
  std::optional<RandomLayout> layout;
};

// With one thread per rank, since several threads add to a tile in the order of arrival.
TEST_F(DistributedProduct, IsTheSameWhateverArrivesFirst) {
  lay_out(7, 8);
  const auto first =
      assemble(run_distributed(layout->plan, layout->lists, sources(tensors, *layout)), layout->plan, layout->lists);
  for (int again = 0; again < 10; ++again) {
    const auto outcome = run_distributed(layout->plan, layout->lists, sources(tensors, *layout),
                                         {.least_overlap_bytes = again % 2 == 0 ? 0.0 : 1e9});
    const auto result = assemble(outcome, layout->plan, layout->lists);
    EXPECT_EQ(std::memcmp(result.bytes().data(), first.bytes().data(), first.byte_size()), 0);
  }
}

TEST_F(DistributedProduct, SpillsWhatARankCannotHold) {
  lay_out(8, 3);
  const auto whole = run_distributed(layout->plan, layout->lists, sources(tensors, *layout));
  const auto expected = assemble(whole, layout->plan, layout->lists);
  const auto peak = std::max_element(whole.profiles.begin(), whole.profiles.end(), [](const auto& a, const auto& b) {
                      return a.peak_bytes < b.peak_bytes;
                    })->peak_bytes;
  const auto limit = peak * 2 / 3;
  const auto little =
      run_distributed(layout->plan, layout->lists, sources(tensors, *layout), {.threads = 2, .limit = limit});
  const auto result = assemble(little, layout->plan, layout->lists);
  EXPECT_EQ(std::memcmp(result.bytes().data(), expected.bytes().data(), expected.byte_size()), 0);
  std::int64_t spilled = 0;
  for (const auto bytes : little.spilled) spilled += bytes;
  EXPECT_GT(spilled, 0);
  for (const auto& profile : little.profiles) EXPECT_LE(profile.peak_bytes, limit);
}

class CorruptTiles final : public TileSource {
 public:
  TilePtr read(const std::string&, std::int64_t) override { throw Error(ErrorKind::Corrupt, "a tile is corrupt"); }
};

// Every rank has ended with the error of the one whose tiles are corrupt.
void expect_corrupt_everywhere(const std::vector<std::exception_ptr>& errors) {
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    try {
      std::rethrow_exception(error);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Corrupt) << e.message();
    }
  }
}

TEST_F(DistributedProduct, ErrorsOfOneRankEndAll) {
  lay_out(9, 4);
  for (Rank failing = 0; failing < 4; ++failing) {
    const auto outcome = run_distributed(layout->plan, layout->lists, [&](Rank rank) -> std::unique_ptr<TileSource> {
      if (rank == failing) return std::make_unique<CorruptTiles>();
      return std::make_unique<testing::RankSource>(tensors, layout->plan, layout->lists, rank);
    });
    expect_corrupt_everywhere(outcome.errors);
  }
}

TEST_F(DistributedProduct, IsCancelledEverywhereFromAnyRank) {
  lay_out(10, 4);
  const auto steps = static_cast<std::int64_t>(layout->plan.steps.size());
  for (std::int64_t when = 0; when < steps; ++when) {
    std::vector<Cancellation> cancellations(4);
    const auto outcome = run_distributed(layout->plan, layout->lists, sources(tensors, *layout),
                                         {.progress =
                                              [&](Rank rank, std::int64_t done) {
                                                if (rank == when % 4 && done >= 1000 * when / steps)
                                                  cancellations[rank].request();
                                              },
                                          .cancellations = &cancellations});
    int cancelled = 0;
    for (const auto& error : outcome.errors) {
      if (!error) continue;
      try {
        std::rethrow_exception(error);
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Cancelled) << e.message();
        ++cancelled;
      }
    }
    EXPECT_GT(cancelled, 0);
    const int expected = when + 1 < steps ? 4 : cancelled;  // ranks may end before the last step's request
    EXPECT_EQ(cancelled, expected) << "in step " << when;
  }
}

// Two products that have nothing to do with each other, so that what one reads travels while the other is made, and
// their sum. 384 x 384 in tiles of 64 x 64.
struct TwoProducts : ::testing::Test {
  void lay_out(unsigned seed, std::size_t ranks) {
    random.seed(seed);
    const auto l = builder.labels("ijk", 384);
    const TileGrid grid(Shape({384, 384}), {6, 6});
    std::vector<VertexId> inputs;
    for (const std::string name : {"A", "B", "C", "D"}) {
      auto dense = Tile::uninitialized(DType::Float64, grid.shape());
      for (std::int64_t n = 0; n < dense.shape().element_count(); ++n)
        dense.mutable_data<double>()[n] = std::uniform_real_distribution<>(-1, 1)(random);
      tensors.add(name, std::move(dense), grid);
      inputs.push_back(builder.input(name, {384, 384}, {6, 6}));
    }
    const Labels ij{l[0], l[1]};
    const Labels jk{l[1], l[2]};
    const Labels ik{l[0], l[2]};
    const auto first = builder.contraction("P", {{inputs[0], ij}, {inputs[1], jk}}, ik);
    const auto second = builder.contraction("Q", {{inputs[2], ij}, {inputs[3], jk}}, ik);
    builder.vertex("Z", {{first, ik}, {second, ik}}, ik,
                   testing::call(ScalarOp::Add, {testing::op(0), testing::op(1)}));
    layout.emplace(random, builder.graph, ranks);
    layout->lower(tensors);
    layout->plan.holder_lists = layout->lists.size();
    ASSERT_FALSE(step_order(layout->plan).overlapped.empty());
  }
  testing::DistributedOutcome run(const testing::DistributedOptions& options) {
    return run_distributed(layout->plan, layout->lists, sources(tensors, *layout), options);
  }

  std::mt19937 random;
  GraphBuilder builder;
  testing::StoredTensors tensors;
  std::optional<RandomLayout> layout;
};

// The memory of a rank is kept within any limit that suffices without overlapping, and the result is the same to the
// bit. (Another limit may give another one: kernels have other workspaces.)
TEST_F(TwoProducts, AreTheSameInLittleMemory) {
  std::int64_t spilled = 0;
  int little = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    builder = {};
    tensors = {};
    lay_out(seed, 3);
    const auto whole = run({.least_overlap_bytes = 1e9});
    std::int64_t peak = 0;
    for (const auto& profile : whole.profiles) peak = std::max(peak, profile.peak_bytes);
    for (auto limit = 8 * peak;; limit = limit * 3 / 4) {
      SCOPED_TRACE("limit " + std::to_string(limit) + " of " + std::to_string(peak));
      const auto in_order = run({.limit = limit, .least_overlap_bytes = 1e9});
      if (std::any_of(in_order.errors.begin(), in_order.errors.end(),
                      [](const auto& error) { return error != nullptr; }))
        break;
      little += limit < peak ? 1 : 0;
      const auto outcome = run({.limit = limit, .least_overlap_bytes = 0});
      const auto expected = assemble(in_order, layout->plan, layout->lists);
      const auto result = assemble(outcome, layout->plan, layout->lists);
      EXPECT_EQ(std::memcmp(result.bytes().data(), expected.bytes().data(), expected.byte_size()), 0);
      for (const auto& profile : outcome.profiles) EXPECT_LE(profile.peak_bytes, limit);
      for (const auto bytes : outcome.spilled) spilled += bytes;
    }
  }
  EXPECT_GT(spilled, 0);
  EXPECT_GT(little, 4);
}

TEST_F(TwoProducts, EndEverywhereWhereOneRankFails) {
  lay_out(5, 4);
  for (Rank failing = 0; failing < 4; ++failing) {
    const auto source = [&](Rank rank) -> std::unique_ptr<TileSource> {
      if (rank == failing) return std::make_unique<CorruptTiles>();
      return std::make_unique<testing::RankSource>(tensors, layout->plan, layout->lists, rank);
    };
    const auto outcome = run_distributed(layout->plan, layout->lists, source, {.least_overlap_bytes = 0});
    expect_corrupt_everywhere(outcome.errors);
  }
}

TEST_F(TwoProducts, AreCancelledEverywhereFromAnyRank) {
  lay_out(6, 4);
  for (std::int64_t when = 0; when < 20; ++when) {
    std::vector<Cancellation> cancellations(4);
    const auto outcome = run({.progress =
                                  [&](Rank rank, std::int64_t done) {
                                    if (rank == when % 4 && done >= 25 * when) cancellations[rank].request();
                                  },
                              .cancellations = &cancellations,
                              .least_overlap_bytes = 0});
    for (const auto& error : outcome.errors) {
      ASSERT_TRUE(error) << "at " << when;
      try {
        std::rethrow_exception(error);
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Cancelled) << e.message();
      }
    }
  }
}

// A softmax that is cut only by rows.
TEST(DistributedChain, IsComputedInBlocksOfItsRows) {
  for (const std::size_t ranks : kRanks) {
    std::mt19937 random(static_cast<unsigned>(ranks));
    GraphBuilder builder;
    const Labels l{builder.label("i", 13), builder.label("j", 7)};
    const TileGrid grid(Shape({13, 7}), {3, 2});
    testing::StoredTensors tensors;
    tensors.add("X", testing::random_tensor(random, grid, DType::Float64, 0.3), grid);
    const auto x = builder.input("X", {13, 7}, {3, 2});
    const auto m = builder.vertex("M", {{x, l}}, {l[0]}, testing::op(0), Aggregate::Max);
    const auto difference = testing::call(ScalarOp::Subtract, {testing::op(0), testing::op(1)});
    const auto e = builder.vertex("E", {{x, l}, {m, {l[0]}}}, l, testing::call(ScalarOp::Exp, {difference}));
    const auto t = builder.vertex("T", {{e, l}}, {l[0]}, testing::op(0));
    const auto z = builder.vertex("Z", {{e, l}, {t, {l[0]}}}, l,
                                  testing::call(ScalarOp::Divide, {testing::op(0), testing::op(1)}));
    RandomLayout layout(random, builder.graph, ranks);
    layout.results().assign(builder.graph.size(), layout.scan(x, tensors));
    const FusedChain chain{z, {m, e, t, z}, {l[0]}};
    layout.plan.results = {layout.compute(z, fused_join(builder.graph, chain, {l, {1, 1}}), {l[0]})};
    layout.plan.holder_lists = layout.lists.size();
    const auto outcome = run_distributed(layout.plan, layout.lists, sources(tensors, layout));
    const auto result = assemble(outcome, layout.plan, layout.lists);
    const auto expected = testing::evaluate_graph(builder.graph, [&](const Vertex&) {
      return eindb::assemble(split(tensors.dense("X"), grid), grid, DType::Float64);
    });
    for (std::int64_t n = 0; n < 13 * 7; ++n) EXPECT_NEAR(result.data<double>()[n], expected.data<double>()[n], 1e-14);
  }
}

}  // namespace
}  // namespace eindb
