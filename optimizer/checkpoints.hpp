#pragma once

#include <vector>

#include "optimizer/partitions/calibrated_model.hpp"
#include "plan/ein_graph.hpp"
#include "plan/fragment.hpp"

namespace eindb {

/// The nodes of a plan after which what follows may be planned again (Fragment::checkpoints): those whose number of
/// cells is uncertain, where what reads them takes long enough for that to matter. Uncertain are joins of several
/// operands of cells, as these are taken to be spread independently of each other: a column with many cells may meet a
/// row with many, or cells may meet nowhere. A plan without such nodes has no checkpoint, nor has one of a graph in
/// which values are compared with an extreme of them (Vertex::is_compared).
/// `always`: after every node whose cells are no result, for tests. Pure.
std::vector<NodeId> choose_checkpoints(const EinGraph& graph, const Fragment& plan, const CalibratedModel& model,
                                       bool always = false);

/// The least seconds of what is left of a plan for which it is planned again: what planning takes, about.
inline constexpr double kLeastSecondsLeft = 1e-3;

/// The predicted seconds of the vertices that are not computed yet behind a checkpoint, by one thread, if the
/// checkpoint's vertex has so many cells. What depends on it has the cells that were expected.
double seconds_left(const EinGraph& graph, const Fragment& plan, NodeId checkpoint, double cells,
                    const CalibratedModel& model);

}  // namespace eindb
