#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "optimizer/redistribution/collective_costs.hpp"
#include "plan/physical_plan.hpp"
#include "plan/redistribution_plan.hpp"
#include "plan/transport_costs.hpp"
#include "tensor/dtype.hpp"

namespace eindb {

/// How relations move between blocks of ranks, as SET redistribution says: in one exchange of pieces, by sequences of
/// collectives wherever they can be run, or each in the way that is predicted to take less time.
enum class ExchangeWay : std::uint8_t { Auto, Pieces, Collectives };

/// "auto", "pieces" or "collectives".
std::string_view name_of(ExchangeWay way);
/// nullopt if no way has that name.
std::optional<ExchangeWay> exchange_way_of(std::string_view name);

/// The costs of collectives by a transport, in units of the time in which a rank receives an element.
CollectiveCosts per_element(const TransportCosts& costs, DType dtype);

/// A relation that is to move between two placements in blocks, from the tiles of one grid to those of another.
struct BlockExchange {
  const TileGrid& from_grid;
  const BlockPlacement& from;
  const TileGrid& to_grid;
  const BlockPlacement& to;
  DType dtype = DType::Float64;
  bool is_sparse = false;  ///< whether some tiles are probably all zero: pieces of those do not travel
  double share = 1;        ///< the bytes that tiles take relative to dense ones: less than 1 of cells
};

/// The exchange of a step that moves a relation between blocks, as if no tile were all zero; nullopt for other steps.
/// It refers to the plan.
std::optional<BlockExchange> exchange_of(const PhysicalPlan& plan, const PlanStep& step);

/// The predictions for both ways of one exchange: the seconds of the busiest rank if no tile is all zero.
struct ExchangeForecast {
  double pieces_seconds = 0;
  /// The quickest sequence. nullopt if there is none: the relation is sparse, no collectives lead there, nothing
  /// travels, or the ranks have no room for it.
  std::optional<RedistributionPlan> sequence = std::nullopt;
  double sequence_seconds = 0;
  std::int64_t sequence_bytes = 0;  ///< that a rank has in blocks and buffers at once, at most
};

/// Predicts both ways. Every rank can hold `memory` bytes of tiles, of which a sequence takes at most half.
ExchangeForecast forecast(const BlockExchange& exchange, const TransportCosts& costs, double memory);

/// Returns the sequence by which an exchange moves in the given way; nullopt if it moves in pieces.
std::optional<RedistributionPlan> choose_sequence(const BlockExchange& exchange, ExchangeWay way,
                                                  const TransportCosts& costs, double memory);

}  // namespace eindb
