#pragma once

#include <cstddef>
#include <limits>

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
void validate(const EinGraph& graph, std::size_t max_arity = std::numeric_limits<std::size_t>::max());

/// Checks every invariant of a physical plan (plan/physical_plan.hpp), as above:
/// inputs come before readers; the one sink is last, and every other node is read; a scan has the grid of its tensor;
/// a repartition changes the partition and nothing else; the inputs of a join are cut as its partition vector says,
/// and so is its result; a GroupByNode follows a join exactly if an aggregated label is cut; a window cuts no tile.
void validate(const PhysicalPlan& plan);

}  // namespace eindb
