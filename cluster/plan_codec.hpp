#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plan/physical_plan.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// A plan for several ranks with the locations of the tiles that its scans read: everything that a rank must know of a
/// statement.
struct PlacedPlan {
  PhysicalPlan plan;
  std::vector<TileHolders> holders;  ///< plan.holder_lists of them
};

/// Encodes the plan in the format at the head of plan_code.hpp. Thread-safe. Error{Unsupported} if expressions are
/// nested deeper than kMaxEncodedDepth.
std::vector<std::byte> encode_plan(const PhysicalPlan& plan, std::span<const TileHolders> holders);

/// Decodes a plan from encode_plan(). The bytes are untrusted: Error{Corrupt} unless encode_plan() would give the same
/// bytes for the result. Every index refers to an existing label, earlier step, rank or holder list, and holder lists
/// have as many tiles as their grids. The validator checks the invariants of plans.
PlacedPlan decode_plan(std::span<const std::byte> bytes);

/// The nesting limit of expressions. The parser's limit is half of it, and passes add little.
inline constexpr int kMaxEncodedDepth = 1000;

}  // namespace eindb
