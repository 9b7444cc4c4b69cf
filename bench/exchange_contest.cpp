#include "bench/exchange_contest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>

#include "bench/median.hpp"
#include "common/check.hpp"
#include "executor/executor.hpp"
#include "plan/index_box.hpp"
#include "plan/validator.hpp"

namespace eindb::bench {
namespace {

constexpr DType kType = DType::Float32;
constexpr std::int64_t kMostTiles = 4;  // of a block
constexpr std::int64_t kFewestElements = 1 << 16;
constexpr int kLeastRounds = 5;
constexpr int kMostRounds = 15;
constexpr double kSecondsOfProblem = 0.1;

// The grid in whose tiles the blocks lie: each is cut along its longest dimension while its tiles are large enough.
TileGrid grid_of(const Shape& shape, Partition parts) {
  for (std::int64_t tiles = 1; tiles < kMostTiles; tiles *= 2) {
    std::size_t longest = 0;
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < parts.size(); ++d) {
      elements *= shape[d] / parts[d];
      if (shape[d] / parts[d] > shape[longest] / parts[longest]) longest = d;
    }
    if (elements < 2 * kFewestElements) break;
    parts[longest] *= 2;
  }
  return {shape, std::move(parts)};
}

// Tiles of the grid of a problem's source, each made when it is first read.
class FilledTiles final : public TileSource {
 public:
  explicit FilledTiles(TileGrid grid) : grid_(std::move(grid)) {}
  TilePtr read(const std::string& /*tensor*/, std::int64_t tile_id) override {
    auto& tile = tiles_[tile_id];
    if (tile != nullptr) return tile;
    auto made = Tile::uninitialized(kType, grid_.tile_shape(grid_.key_of(tile_id)));
    std::fill_n(made.mutable_data<float>(), made.shape().element_count(), static_cast<float>(tile_id + 1));
    return tile = std::make_shared<const Tile>(std::move(made));
  }
  bool keeps_tiles() const override { return true; }

 private:
  TileGrid grid_;
  std::map<std::int64_t, TilePtr> tiles_;
};

class NoSink final : public TileSink {
 public:
  void write(std::int64_t /*tile_id*/, TilePtr /*tile*/) override {}
};

// Every rank has stored what it holds in the source: only the last step moves anything.
class Statement {
 public:
  Statement(const testing::RedistributionProblem& problem, const TransportCosts& costs)
      : from_(problem.source.placement()),
        to_(problem.target.placement()),
        from_grid_(grid_of(problem.source.global_shape(), from_.parts)),
        to_grid_(grid_of(problem.source.global_shape(), to_.parts)),
        source_(from_grid_) {
    const BlockExchange moved{from_grid_, from_, to_grid_, to_, kType};
    predicted = forecast(moved, costs, kMemory);
    chosen = choose_sequence(moved, ExchangeWay::Auto, costs, kMemory);
    plan_.ranks = from_.at.size();
    plan_.holder_lists = 1;
    plan_.steps.push_back({ScanStep{{"X", kType, from_grid_}, 0}, VertexId(0), kType, from_grid_, std::size_t{0}});
    plan_.steps.push_back({RedistributeStep{StepId(0)}, VertexId(0), kType, from_grid_, from_});
    plan_.steps.push_back({RedistributeStep{StepId(1)}, VertexId(0), kType, to_grid_, to_});
    plan_.results = {StepId(2)};
    TileHolders holders;
    for (std::int64_t tile = 0; tile < from_grid_.tile_count(); ++tile) {
      auto block = from_grid_.key_of(tile);
      for (std::size_t d = 0; d < block.size(); ++d) block[d] /= from_grid_.partition()[d] / from_.parts[d];
      std::vector<Rank> ranks;
      for (std::size_t rank = 0; rank < plan_.ranks; ++rank)
        if (from_.at[rank] == block) ranks.push_back(static_cast<Rank>(rank));
      holders.add(ranks);
    }
    lists_.push_back(std::move(holders));
    validate(plan_, lists_);
  }

  // Seconds of the step at this rank.
  double run(const std::optional<RedistributionPlan>& sequence, Exchange& exchange) {
    std::get<RedistributeStep>(plan_.steps[2].op).sequence = sequence;
    Scheduler scheduler(1);
    const Cancellation never;
    ExecutionContext context{.scheduler = scheduler,
                             .cancellation = never,
                             .memory = MemoryBudget::create(static_cast<std::int64_t>(kMemory)),
                             .source = source_,
                             .progress = {}};
    NoSink sink;
    TileSink* sinks[] = {&sink};
    return execute(plan_, lists_, exchange, context, sinks).steps[2].seconds;
  }

  ExchangeForecast predicted;
  std::optional<RedistributionPlan> chosen;

 private:
  static constexpr double kMemory = 1e9;

  BlockPlacement from_;
  BlockPlacement to_;
  TileGrid from_grid_;
  TileGrid to_grid_;
  FilledTiles source_;
  PhysicalPlan plan_;
  std::vector<TileHolders> lists_;
};

double slowest(Exchange& exchange, double mine) {
  Exchange::Group everyone(exchange.size());
  std::iota(everyone.begin(), everyone.end(), Rank{0});
  std::vector<double> all(exchange.size());
  exchange.all_gather(everyone, std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return *std::max_element(all.begin(), all.end());
}

ExchangeRound run_round(const testing::RedistributionProblem& problem, const TransportCosts& costs,
                        Exchange& exchange) {
  Statement statement(problem, costs);
  const auto& sequence = statement.predicted.sequence;
  std::vector<double> pieces;
  std::vector<double> collectives;
  double spent = 0;
  for (int n = 0; n < kMostRounds && (n < kLeastRounds || spent < kSecondsOfProblem); ++n) {
    pieces.push_back(slowest(exchange, statement.run(std::nullopt, exchange)));
    spent += pieces.back();
    if (!sequence) continue;
    collectives.push_back(slowest(exchange, statement.run(sequence, exchange)));
    spent += collectives.back();
  }
  ExchangeRound round;
  round.pieces = median(std::move(pieces));
  round.has_choice = sequence.has_value();
  round.collectives = sequence ? median(std::move(collectives)) : round.pieces;
  round.chose_collectives = statement.chosen.has_value();
  round.predicted_pieces = statement.predicted.pieces_seconds;
  round.predicted_collectives = statement.predicted.sequence_seconds;
  return round;
}

template <class F>
double geometric_mean(const std::vector<ExchangeRound>& rounds, F ratio_of) {
  double sum = 0;
  for (const auto& round : rounds) sum += std::log(ratio_of(round));
  return rounds.empty() ? 1 : std::exp(sum / static_cast<double>(rounds.size()));
}

}  // namespace

std::vector<ExchangeRound> run_exchanges(const std::vector<testing::RedistributionProblem>& problems,
                                         const TransportCosts& costs, Exchange& exchange) {
  std::vector<ExchangeRound> rounds;
  for (const auto& problem : problems) rounds.push_back(run_round(problem, costs, exchange));
  return rounds;
}

void print_exchange_contest(std::size_t problems, Exchange& exchange) {
  for (const double kilobytes : {64.0, 1024.0, 16384.0}) {
    testing::RandomRedistributions random(Mesh::parse("{x:2, y:2, z:2}"), 2024);
    std::vector<testing::RedistributionProblem> drawn;
    while (drawn.size() < problems) {
      auto problem = random.next(kilobytes * 1024);
      if (moved_elements(problem.source.global_shape(), problem.source.placement(), problem.target.placement())
              .received > 0)
        drawn.push_back(std::move(problem));
    }
    const auto rounds = run_exchanges(drawn, TransportCosts::of_tcp(), exchange);
    if (exchange.rank() != 0) continue;
    const auto count = [&](auto holds) { return std::count_if(rounds.begin(), rounds.end(), holds); };
    std::printf(
        "%.0f KB, %zu problems, %td with a choice: auto / better %.3f, pieces / better %.3f, "
        "collectives / better %.3f; auto took collectives %td times, the better way %td times\n",
        kilobytes, rounds.size(), count([](auto& r) { return r.has_choice; }),
        geometric_mean(rounds, [](auto& r) { return r.chosen() / r.better(); }),
        geometric_mean(rounds, [](auto& r) { return r.pieces / r.better(); }),
        geometric_mean(rounds, [](auto& r) { return r.collectives / r.better(); }),
        count([](auto& r) { return r.chose_collectives; }), count([](auto& r) { return r.chosen() <= r.better(); }));
    std::printf(
        "  measured over predicted: pieces %.2f, collectives %.2f\n",
        geometric_mean(rounds, [](auto& r) { return r.pieces / r.predicted_pieces; }),
        geometric_mean(rounds, [](auto& r) { return r.has_choice ? r.collectives / r.predicted_collectives : 1.0; }));
  }
}

}  // namespace eindb::bench
