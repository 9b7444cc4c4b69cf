#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "plan/distributed_plan.hpp"
#include "plan/ein_graph.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// Checks every invariant of a logical plan; run after each pass, so that a broken rewrite is found where it
/// happened and not in a kernel. A failure is an Error{Internal} that names the vertex. Cost: linear in the graph.
///
/// Of every vertex: its inputs come before it; each input is read with as many labels as it has dimensions, and
/// their extents agree; the EinSum's own invariants hold (tensor/einsum.hpp); the bound is the head's extents; the
/// compute type holds every intermediate value, and a complex result is not stored in a real type. A result type
/// other than the expression's own is allowed: passes keep the type of what they split, and CAST asks for one.
/// Outputs are vertices with an EinSum, none of them twice, and not inside of a chain or of slices.
void validate(const EinGraph& graph, std::size_t max_arity = std::numeric_limits<std::size_t>::max());

/// Checks every invariant of a physical plan (plan/physical_plan.hpp), as above:
/// inputs come before readers; sinks have the numbers from 0 on, each once; no sink is read, and every other node is;
/// a scan has the grid of its tensor;
/// a repartition changes the partition and nothing else; the inputs of a join are cut as its partition vector says,
/// and so is its result; a GroupByNode follows a join exactly if an aggregated label is cut; a window cuts no tile.
void validate(const PhysicalPlan& plan);

/// Checks every invariant of a distributed plan (plan/distributed_plan.hpp), as above. A worker's plans come from
/// outside: whatever numbers are in the plan, and if only its grids and expressions are values that could be made, this
/// throws or executing it does not go wrong.
///
/// Steps read earlier ones, and all but results are read; placements name `ranks` ranks, and blocks divide grids; what
/// is computed, redistributed or a result is so in all blocks (of what is brought for kernel calls, some may be read
/// by none: those beside a diagonal); partial results are read by ReduceSteps alone, and these read nothing else; the
/// window of a ComputeStep at each rank is a valid physical plan (plan/local_plan), whose inputs lie in blocks in which
/// it is.
void validate(const DistributedPlan& plan);
/// The same with the statement's holder lists: each has an entry for every tile of the grids that it is used for, of
/// ranks in ascending order; a tile of a result has at least one.
void validate(const DistributedPlan& plan, std::span<const TileHolders> lists);

}  // namespace eindb
