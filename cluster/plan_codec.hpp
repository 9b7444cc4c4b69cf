#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plan/distributed_plan.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// A distributed plan and where the tiles are that its scans read: what a rank has to know of a statement.
struct PlacedPlan {
  DistributedPlan plan;
  std::vector<TileHolders> holders;  ///< plan.holder_lists of them
};

/// The bytes of the plan, in the format at the head of plan_codec.cpp. Thread-safe. Error{Unsupported} where
/// expressions nest more than kMaxEncodedDepth deep.
std::vector<std::byte> encode_plan(const DistributedPlan& plan, std::span<const TileHolders> holders);

/// Reads a plan that encode_plan() wrote. The bytes may be anything: Error{Corrupt} unless they are those that
/// encode_plan() gives of the result. Every index is of a label, an earlier step, a rank, a list of holders that is
/// there, and lists of holders have as many tiles as the grids that they are for; the invariants of plans are the
/// validator's to check.
PlacedPlan decode_plan(std::span<const std::byte> bytes);

/// Deeper expressions are refused. The parser's nest half as deep, and passes add little.
inline constexpr int kMaxEncodedDepth = 1000;

}  // namespace eindb
