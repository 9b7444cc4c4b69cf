// Ranks that are threads of one process execute distributed plans.
#include "executor/distributed_run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "common/error.hpp"
#include "optimizer/fused_join.hpp"
#include "plan/tile_moves.hpp"
#include "tests/executor/distributed_fixture.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;
using testing::RandomLayout;
using testing::run_distributed;

constexpr DType kTypes[] = {DType::Int64, DType::Float64, DType::Float32, DType::Complex128};
constexpr std::size_t kRanks[] = {1, 2, 3, 4, 8};

// One to four vertices in a row, each of the one before it and a stored tensor, with labels of all extents, epilogues,
// values of labels, selections and every aggregate.
class RandomStatement {
 public:
  RandomStatement(std::mt19937& random, double absent, std::pair<int, int> values) : random_(random) {
    for (int l = 0; l < 4; ++l) all_.push_back(builder.label("l" + std::to_string(l), 1 + any(6)));
    const auto type = kTypes[any(4)];
    const auto vertices = 1 + any(4);
    std::optional<GraphBuilder::Read> previous;
    for (std::int64_t v = 0; v < vertices; ++v) {
      std::vector<GraphBuilder::Read> reads;
      if (previous) reads.push_back(*previous);
      const auto inputs = previous ? any(2) : any(3);
      for (std::int64_t n = 0; n <= inputs; ++n)
        reads.push_back(
            input("X" + std::to_string(v) + std::to_string(n), any(3) == 0 ? kTypes[any(4)] : type, absent, values));
      previous = vertex("Z" + std::to_string(v), reads, absent == 0);
    }
  }

  GraphBuilder builder;
  testing::StoredTensors tensors;

  DenseTensor expected() const {
    return testing::evaluate_graph(builder.graph, [&](const Vertex& vertex) { return dense(*vertex.stored); });
  }

 private:
  std::int64_t any(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }

  // The tensor, or what is selected from it.
  DenseTensor dense(const InputTensor& tensor) const {
    const auto& whole = tensors.dense(tensor.name);
    auto out = Tile::uninitialized(tensor.dtype, tensor.grid.shape());
    const auto strides = whole.shape().row_major_strides();
    std::vector<std::int64_t> free;
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) {
      if (tensor.selection && tensor.selection->at[d]) offset += *tensor.selection->at[d] * strides[d];
      else free.push_back(strides[d]);
    }
    const auto size = size_of(tensor.dtype);
    copy_block(out.mutable_bytes().data(), out.shape().row_major_strides(),
               whole.bytes().data() + static_cast<std::size_t>(offset) * size, free, out.shape().extents(), size);
    return out;
  }

  GraphBuilder::Read input(const std::string& name, DType type, double absent, std::pair<int, int> values) {
    Labels labels;
    for (const auto label : all_)
      if (any(2) == 0) labels.push_back(label);
    if (!labels.empty() && any(8) == 0) labels.push_back(labels[0]);  // a diagonal
    const auto extents = builder.graph.labels().extents(labels);
    auto stored = extents;
    std::vector<std::optional<std::int64_t>> at(extents.size());
    if (any(4) == 0) {
      stored.insert(stored.begin(), 5);
      at.insert(at.begin(), any(5));
    }
    Partition parts;
    for (const auto extent : stored) parts.push_back(1 + any(extent));
    const TileGrid grid(Shape(stored), parts);
    tensors.add(name, testing::random_tensor(random_, grid, type, absent, values), grid);
    InputTensor tensor{name, type, grid};
    if (stored.size() > extents.size()) tensor = held_at(tensor, at);
    return {builder.graph.add(make_input(tensor)), labels};
  }

  GraphBuilder::Read vertex(const std::string& name, const std::vector<GraphBuilder::Read>& reads, bool plain) {
    EinSum e;
    std::vector<VertexId> inputs;
    Labels used;
    bool complex = false;
    bool stored = true;
    for (const auto& read : reads) {
      inputs.push_back(read.vertex);
      e.inputs.push_back(read.labels);
      append_distinct(used, read.labels);
      complex = complex || is_complex(builder.graph.vertex(read.vertex).dtype);
      stored = stored && builder.graph.vertex(read.vertex).is_input();
    }
    e.expression = testing::product(reads.size());
    if (!plain && any(3) == 0) {
      e.expression = testing::call(ScalarOp::Add, {e.expression, testing::index(all_[0])});
      append_distinct(used, {all_[0]});
      stored = false;
    }
    for (const auto label : used) (any(2) == 0 ? e.output : e.aggregated).push_back(label);
    if (any(4) == 0)
      for (const auto label : difference(all_, used)) e.output.push_back(label);
    if (!e.aggregated.empty()) {
      const Aggregate kinds[] = {Aggregate::Sum, Aggregate::Sum, stored ? Aggregate::Prod : Aggregate::Sum,
                                 complex ? Aggregate::Sum : Aggregate::Min, complex ? Aggregate::Sum : Aggregate::Max};
      e.aggregate = plain ? Aggregate::Sum : kinds[any(5)];
      if (!plain && any(3) == 0) e.epilogue = testing::call(ScalarOp::Add, {testing::op(0), testing::number(any(2))});
    }
    const auto output = e.output;
    const auto id = builder.graph.add(make_vertex(builder.graph, name, inputs, std::move(e)));
    builder.graph.set_output(id);
    return {id, output};
  }

  std::mt19937& random_;
  Labels all_;
};

std::function<std::unique_ptr<TileSource>(Rank)> sources(testing::StoredTensors& tensors, const RandomLayout& layout) {
  return [&](Rank rank) { return std::make_unique<testing::RankSource>(tensors, layout.plan, layout.lists, rank); };
}

TEST(DistributedRun, AgreesWithTheReferenceWhateverTheLayout) {
  int reduced = 0;
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::mt19937 random(static_cast<unsigned>(round));
    RandomStatement statement(random, round % 3 == 0 ? 0.0 : 0.4, {-1, 1});
    RandomLayout layout(random, statement.builder.graph, kRanks[round % 5]);
    layout.lower(statement.tensors);
    layout.plan.holder_lists = layout.lists.size();
    const auto outcome =
        run_distributed(layout.plan, layout.lists, sources(statement.tensors, layout), {.threads = 1 + round % 2});
    testing::expect_equal(assemble(outcome, layout.plan, layout.lists), statement.expected(), "result");
    for (const auto& step : layout.plan.steps) reduced += std::holds_alternative<ReduceStep>(step.op) ? 1 : 0;
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_GT(reduced, 50);
}

// With no tile that is all zero.
TEST(DistributedRun, ReceivesTheBytesThatWereForeseen) {
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
        const auto headers = step.messages_received * static_cast<std::int64_t>(PieceHeader::kBytes);
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
  // Z[i,k] = SUM(X[i,j] * Y[j,k]) of Float64, 384 x 384 in tiles of 64 x 64, at random ranks.
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
    // Until partial results are to be reduced.
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

TEST_F(DistributedProduct, IsTheSameWhateverArrivesFirst) {
  lay_out(7, 8);
  const auto first = assemble(run_distributed(layout->plan, layout->lists, sources(tensors, *layout), {.threads = 2}),
                              layout->plan, layout->lists);
  for (int again = 0; again < 5; ++again) {
    const auto outcome = run_distributed(layout->plan, layout->lists, sources(tensors, *layout), {.threads = 2});
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

TEST_F(DistributedProduct, ErrorsOfOneRankEndAll) {
  lay_out(9, 4);
  for (Rank failing = 0; failing < 4; ++failing) {
    struct Broken final : TileSource {
      TilePtr read(const std::string&, std::int64_t) override { throw Error(ErrorKind::Corrupt, "a tile is corrupt"); }
    };
    const auto outcome = run_distributed(layout->plan, layout->lists, [&](Rank rank) -> std::unique_ptr<TileSource> {
      if (rank == failing) return std::make_unique<Broken>();
      return std::make_unique<testing::RankSource>(tensors, layout->plan, layout->lists, rank);
    });
    for (const auto& error : outcome.errors) {
      ASSERT_TRUE(error);
      try {
        std::rethrow_exception(error);
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Corrupt) << e.message();
      }
    }
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
    const int expected = when + 1 < steps ? 4 : cancelled;  // ranks may have ended before the last step's request
    EXPECT_EQ(cancelled, expected) << "in step " << when;
  }
}

// A softmax, whose rows alone are cut.
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
    layout.compute(z, fused_join(builder.graph, chain, {l, {1, 1}}), {l[0]});
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
