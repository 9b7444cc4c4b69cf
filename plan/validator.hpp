#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "plan/ein_graph.hpp"
#include "plan/fragment.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// Checks every invariant of a logical plan. It runs after each pass, so that a wrong rewrite is found where it happens
/// rather than in a kernel. A failure is an Error{Internal} that names the vertex. Linear in the size of the graph.
///
/// For every vertex: its inputs precede it; each input is read with as many labels as it has dimensions, and extents
/// agree; the EinSum's own invariants hold (tensor/einsum.hpp); the bound equals the head's extents; the compute type
/// holds every intermediate value; a complex result is not stored in a real type. The result type may differ from the
/// expression's: passes keep the type of the vertices that they split, and CAST requests one. Outputs are distinct
/// vertices with an EinSum, and not inside a chain or a sliced body. Vertices that the graph shares with `valid`, a
/// valid graph of at most the same arity from which it was made, are not checked again.
void validate(const EinGraph& graph, std::size_t max_arity = std::numeric_limits<std::size_t>::max(),
              const EinGraph* valid = nullptr);

/// Checks every invariant of a fragment (plan/fragment.hpp), as above: inputs precede readers; sinks are
/// numbered from 0, each number once; no sink is read, and every other node is; a scan has the grid of its tensor; a
/// repartition changes only the partition; the inputs and the result of a join are cut by its partition vector; a
/// GroupByNode follows a join exactly if an aggregated label is cut; a window cuts no tile.
void validate(const Fragment& plan);

/// Checks every invariant of a physical plan (plan/physical_plan.hpp), as above. A worker receives plans from
/// outside: whatever numbers a plan contains, provided its grids and expressions could be constructed, either this
/// throws or the plan executes safely.
///
/// Steps read earlier ones, and all steps except results are read. Placements refer to `ranks` ranks, and blocks divide
/// grids. Computed and redistributed relations and results cover all blocks (kernel calls may leave some of their
/// inputs unread, such as those beside a diagonal). Partial results are read only by ReduceSteps, which read nothing
/// else. At each rank the window of a ComputeStep is a valid fragment (plan/local_fragment), and the rank's input
/// blocks contain the window.
void validate(const PhysicalPlan& plan);
/// The same with the statement's holder lists: each list has an entry for every tile of the grids that use it, with
/// ranks in ascending order; a tile of a result has at least one rank.
void validate(const PhysicalPlan& plan, std::span<const TileHolders> lists);

}  // namespace eindb
