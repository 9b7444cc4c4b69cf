#pragma once

// The format, in the fields of ByteWriter. [x] is a list of x behind its length, x? a flag and, if that is set, an x;
// a|b stands for one of them, as the byte before it says.
//
//   plan        version:byte ranks coordinator labels:[name extent] holder_lists steps:[step] results:[step number]
//               and, without a length, holder_lists times holders
//   step        op:byte (scan | redistribute | compute | reduce, in the order of PlanStep::op) vertex dtype grid
//               placement:byte (blocks | holder list's number) cells:real?
//   scan        tensor holders
//   redistribute
//               input step, sequence:[collective]?, which begins where the input lies, in blocks
//   collective  kind:byte, then nothing (dynslice) | [[rank]] (allgather, alltoall) | [rank] (allpermute), as in the
//               order of RedistributionStep::collective; blocks after it, cost:real
//   reduce      input step
//   compute     inputs:[step] einsum [label] parts of each label, compute_dtype chain:[chain step] rows:[label]
//               halos:[label leader:label reach] blocks
//   chain step  vertex inputs:[operand] einsum compute_dtype
//   blocks      [parts] [key?], a key having as many parts as there are `parts`, and no length of its own
//   tensor      name dtype encoding:byte grid selection? attached:flag present:real as_cells:flag
//   selection   grid index? of each dimension of the grid
//   grid        [extent] parts of each dimension, [reach?], of each dimension or none at all
//   reach       extent step least most divisor
//   einsum      inputs:[[label]] output:[label] aggregated:[label] aggregate block? user? expression
//   epilogue:expression? user        name, whether commutative, associative, idempotent, [join function],
//   combination:expression and
//               initial:expression
//   expression  kind, then an operand | op [expression] | type:byte (of a value; 0 for none) and an integer | a real |
//               a label | a generator's seed and cell:[label] | a parameter's number and whether it is an integer
//   holders     [tiles [rank]] of runs of tiles that the same ranks hold

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "plan/physical_plan.hpp"

namespace eindb::plan_code {

using Kind = ScalarExpression::Kind;
using BlocksAt = std::vector<std::optional<TileKey>>;

inline constexpr std::uint8_t kVersion = 15;
inline constexpr std::uint64_t kMostRanks = std::uint64_t{std::numeric_limits<Rank>::max()} + 1;
inline constexpr std::uint64_t kMostVertices = std::numeric_limits<std::uint32_t>::max();

enum class Operation : std::uint8_t { Scan, Redistribute, Compute, Reduce };
enum class Placing : std::uint8_t { Blocks, Holders };
enum class CollectiveKind : std::uint8_t { DynSlice, AllGather, AllToAll, AllPermute };

/// Whether a user's aggregate belongs to it.
inline bool is_of_user(const EinSum& einsum) {
  return einsum.aggregate == Aggregate::User || (einsum.block && einsum.block->op == BlockOp::UserRecurrence);
}

}  // namespace eindb::plan_code
