#include "optimizer/redistribution/exchange_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "common/check.hpp"
#include "optimizer/redistribution/redistribution_planner.hpp"

namespace eindb {
namespace {

constexpr std::array<std::string_view, 3> kExchangeWays{"auto", "pieces", "collectives"};
// The share of a rank's memory that a sequence may take. Tiles that wait meanwhile can go to the scratch file.
constexpr double kShareOfSequence = 0.5;

std::int64_t tiles_in(const TileGrid& grid, std::size_t d, const PartRange& range) {
  if (range.size == 0) return 0;
  const auto part = [&](std::int64_t index) { return part_of(grid.shape()[d], grid.partition()[d], index); };
  return part(range.end() - 1) - part(range.begin) + 1;
}

// The pieces into which the tiles of both grids cut a box.
struct PiecesOfBox {
  double pieces = 1;              // what a tile of one grid and a tile of the other have in common
  bool are_all_of_target = true;  // whether each is a whole tile of the result
  bool are_all_of_source = true;

  PiecesOfBox(const BlockExchange& exchange, const IndexBox& box) {
    for (std::size_t d = 0; d < box.size(); ++d) {
      const auto targets = tiles_in(exchange.to_grid, d, box[d]);
      const auto sources = tiles_in(exchange.from_grid, d, box[d]);
      std::int64_t common = 0;
      if (targets > 0) {
        const auto first = part_of(exchange.to_grid.shape()[d], exchange.to_grid.partition()[d], box[d].begin);
        for (std::int64_t part = first; part < first + targets; ++part)
          common += tiles_in(exchange.from_grid, d, range_within(exchange.to_grid, d, part, box[d]));
      }
      pieces *= static_cast<double>(common);
      are_all_of_target = are_all_of_target && common == targets;
      are_all_of_source = are_all_of_source && common == sources;
    }
  }

 private:
  static PartRange range_within(const TileGrid& grid, std::size_t d, std::int64_t part, const PartRange& box) {
    const auto range = grid.range(d, part);
    const auto begin = std::max(range.begin, box.begin);
    return {begin, std::max<std::int64_t>(0, std::min(range.end(), box.end()) - begin)};
  }
};

// The seconds of the slowest rank. It is assumed to give as much as it receives.
double seconds_in_pieces(const BlockExchange& exchange, const TransportCosts& costs) {
  const auto& shape = exchange.to_grid.shape();
  const auto size = static_cast<double>(size_of(exchange.dtype)) * exchange.share;
  double most = 0;
  for (std::size_t rank = 0; rank < exchange.to.at.size(); ++rank) {
    if (!exchange.to.at[rank]) continue;
    const auto wanted = block_box(shape, exchange.to, rank);
    const auto elements = static_cast<double>(element_count(wanted));
    double kept = 0;
    if (exchange.from.at[rank])
      kept = static_cast<double>(element_count(common_box(wanted, block_box(shape, exchange.from, rank))));
    const PiecesOfBox box(exchange, wanted);
    const auto lacking = elements > 0 ? (elements - kept) / elements : 0;
    const auto travelling = std::ceil(box.pieces * lacking);
    const auto peers = std::min(travelling, static_cast<double>(exchange.to.at.size() - 1));
    double copied = 0;  // packed, unpacked, and put together of what is here
    if (!box.are_all_of_source) copied += elements - kept;
    if (!box.are_all_of_target) copied += elements - kept;
    if (!box.are_all_of_source || !box.are_all_of_target) copied += kept;
    auto seconds = costs.per_piece * (box.pieces + travelling) + costs.per_copied_byte * size * copied +
                   costs.per_byte * size * (elements - kept) + costs.per_streams;
    if (travelling > 0) seconds += costs.per_exchange + costs.per_peer * peers;
    most = std::max(most, seconds);
  }
  return most;
}

// The seconds of the collectives, of putting tiles together to blocks, and of cutting blocks into tiles.
double seconds_of_sequence(const RedistributionPlan& sequence, const BlockExchange& exchange,
                           const TransportCosts& costs) {
  const auto size = static_cast<double>(size_of(exchange.dtype));
  const auto blocks = static_cast<double>(largest_block(sequence.shape, exchange.from)) +
                      static_cast<double>(largest_block(sequence.shape, exchange.to));
  return costs.per_byte * size * sequence.cost() + costs.per_copied_byte * size * blocks;
}

// The quickest sequence that takes no more than `bytes`. It may take more memory than both ends do.
std::optional<RedistributionPlan> sequence_within(const BlockExchange& exchange, const TransportCosts& costs,
                                                  double bytes) {
  constexpr double kBlocksAtOnce = 4;  // two of a step, and their buffers
  const auto& shape = exchange.to_grid.shape();
  const auto size = static_cast<double>(size_of(exchange.dtype));
  const auto room = std::min(static_cast<double>(shape.element_count()), bytes / size / kBlocksAtOnce);
  for (const auto memory : {static_cast<std::int64_t>(room), std::int64_t{0}}) {
    auto plan = plan_redistribution(shape, exchange.from, exchange.to, {per_element(costs, exchange.dtype), memory});
    if (!plan) return std::nullopt;
    if (static_cast<double>(working_elements(*plan)) * size <= bytes) return plan;
  }
  return std::nullopt;
}

}  // namespace

CollectiveCosts per_element(const TransportCosts& costs, DType dtype) {
  CHECK(costs.per_byte > 0, "it takes time to receive a byte");
  const auto received = costs.per_byte * static_cast<double>(size_of(dtype));
  return {.per_collective = costs.per_exchange / received,
          .per_peer = costs.per_peer / received,
          .per_kept_element = costs.per_copied_byte / costs.per_byte,
          .per_packed_element = costs.per_copied_byte / costs.per_byte};
}

std::string_view name_of(ExchangeWay way) { return kExchangeWays[static_cast<std::size_t>(way)]; }

std::optional<ExchangeWay> exchange_way_of(std::string_view name) {
  const auto found = std::find(kExchangeWays.begin(), kExchangeWays.end(), name);
  if (found == kExchangeWays.end()) return std::nullopt;
  return static_cast<ExchangeWay>(found - kExchangeWays.begin());
}

std::optional<BlockExchange> exchange_of(const PhysicalPlan& plan, const PlanStep& step) {
  const auto* moved = std::get_if<RedistributeStep>(&step.op);
  if (moved == nullptr) return std::nullopt;
  const auto& input = plan.step(moved->input);
  const auto* from = std::get_if<BlockPlacement>(&input.placement);
  const auto* to = std::get_if<BlockPlacement>(&step.placement);
  if (from == nullptr || to == nullptr || step.grid.overlaps()) return std::nullopt;
  return BlockExchange{.from_grid = input.grid,
                       .from = *from,
                       .to_grid = step.grid,
                       .to = *to,
                       .dtype = step.dtype,
                       .is_sparse = step.cells.has_value(),
                       .share = step.packed_share()};
}

ExchangeForecast forecast(const BlockExchange& exchange, const TransportCosts& costs, double memory) {
  ExchangeForecast out{.pieces_seconds = seconds_in_pieces(exchange, costs)};
  const bool travels = moved_elements(exchange.to_grid.shape(), exchange.from, exchange.to).received > 0;
  if (exchange.is_sparse || !travels) return out;
  out.sequence = sequence_within(exchange, costs, kShareOfSequence * memory);
  if (!out.sequence) return out;
  out.sequence_seconds = seconds_of_sequence(*out.sequence, exchange, costs);
  out.sequence_bytes = working_elements(*out.sequence) * static_cast<std::int64_t>(size_of(exchange.dtype));
  return out;
}

std::optional<RedistributionPlan> choose_sequence(const BlockExchange& exchange, ExchangeWay way,
                                                  const TransportCosts& costs, double memory) {
  if (way == ExchangeWay::Pieces) return std::nullopt;
  auto both = forecast(exchange, costs, memory);
  if (way == ExchangeWay::Auto && both.sequence && both.sequence_seconds >= both.pieces_seconds) return std::nullopt;
  return std::move(both.sequence);
}

}  // namespace eindb
