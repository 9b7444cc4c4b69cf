#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/partitions/calibrated_model.hpp"
#include "optimizer/partitions/labelling.hpp"
#include "optimizer/partitions/machine_figures.hpp"
#include "optimizer/partitions/strategy.hpp"
#include "optimizer/plan_memory.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

/// The machine a plan is made for, and the choices left to the cost model `calibrated`.
struct MachineOptions {
  MachineFigures figures = {};
  int threads = 1;
  std::int64_t memory_limit = 0;  ///< bytes of tiles
  bool choose_parallelism = true;
  /// Whether tiles beyond the memory limit may go to a scratch file. If so, a plan fits if its operators' working tiles
  /// fit.
  bool spills = false;
  LeastMemory least_memory = {};  ///< of a plan that may spill (optimizer/plan_memory)
  /// Set for a result that is stored and whose tiles are to be chosen: its default partition.
  WantedPartitions stored_partitions = {};
  Encoding stored_encoding = Encoding::Plain;  ///< of all results that are stored
};

/// A value of p that was tried, and the prediction for its plan.
struct ParallelismCandidate {
  std::int64_t parallelism = 1;
  double seconds = 0;        ///< predicted
  double peak_bytes = 0;     ///< predicted
  double spilled_bytes = 0;  ///< bytes written to a scratch file and read again; their cost is part of `seconds`
  bool fits = true;          ///< within the memory limit
  double least_bytes = 0;    ///< of a plan that may spill: the least memory it can run in
};

struct CalibratedChoice {
  std::int64_t parallelism = 1;
  Labelling labelling;                           ///< costs in seconds
  WantedPartitions output_partitions;            ///< as given in the options, or as chosen for stored results
  std::vector<ParallelismCandidate> candidates;  ///< ascending; one if the parallelism was given
  std::int64_t fastest_parallelism = 1;          ///< the fastest candidate, regardless of memory
  double least_bytes = 0;                        ///< of plans that may spill: the smallest of their least_bytes
  /// The plan of this labelling and these partitions; nullopt if they were changed after it was made.
  std::optional<Fragment> fragment = {};
};

/// Chooses p, the partition vectors and the tiles of stored results that minimise the predicted seconds.
///
/// p is tried at 1, 2, 4, ... up to 64 per thread, at most 4096. The strategy decomposes the graph for each p, and the
/// fastest plan whose tiles fit the memory limit wins; if none fits, the plan that needs the least memory. A p is
/// skipped if starting its calls alone would take longer than the best plan.
///
/// With strategy eindecomp, plans whose vertices make different numbers of calls are tried as well, at most 65536 calls
/// each: a vertex follows the tiles of stored tensors, so that nothing is repartitioned, or makes one call if it has
/// little to do. The p reported for such a plan is the largest of its vertices' numbers of calls.
///
/// The choice may take a tenth of the seconds that the plan for p = 1, which has no choice, is predicted to take, and a
/// millisecond at least: what does not fit that is not tried, and searches end. Its work is counted and not timed, so
/// that plans depend on nothing but the statement and the figures of the machine.
///
/// A plan that may spill fits if it can run at all. Its seconds then include the scratch file's traffic and the time
/// that threads wait for room. If the plans above spill, plans with smaller calls are tried too. A smaller limit only
/// removes candidates, and no plan gets slower with more memory. Therefore a statement that runs under some limit also
/// runs under a larger one, and is predicted to take no longer there.
///
/// The tiles of a stored result are either its vertex's own partition, coarsened or refined until a tile has 0.5 to 4
/// MiB, or `stored_partitions`, whichever makes computing, writing and reading it again faster; the latter if its cells
/// are encoded in blocks with a scale, between which rows are cut. Several results are decided one after the other.
CalibratedChoice choose_calibrated(const EinGraph& graph, Strategy strategy, DecompositionOptions options,
                                   const MachineOptions& machine);

/// The prediction for a plan that keeps to the machine's memory limit by spilling.
struct SpillingSeconds {
  double seconds = 0;
  double written = 0;      ///< bytes written to a scratch file
  double least_bytes = 0;  ///< the plan cannot run if this exceeds the limit
};
/// `seconds` is the prediction without a memory limit.
SpillingSeconds seconds_in(const Fragment& plan, double seconds, const CalibratedModel& model,
                           const MachineOptions& machine);

/// The partition with tiles of 0.5 to 4 MiB (tensor/tile_size) that is nearest to the given one. Parts are doubled
/// along the longest side of the tile, or halved in the dimension with the most parts, so that the two partitions nest.
/// Tensors below 4 MiB may stay whole. Example: 4096 x 4096 FLOAT32 in [64, 1] (1 MiB each) stays; [1, 1] becomes [4,
/// 4]; [1024, 1] becomes [128, 1].
Partition storable_tiles(const Shape& shape, StoredType type, Partition partition);
/// The most bytes of a tile of few cells, if it were dense: some readers make all values of it, within `memory` bytes.
double largest_tile_of_cells(const Shape& shape, DType type, double memory);
/// The same for a result of few cells, whose tiles may be larger: at most some thousands, as far as each may become a
/// dense tile within `memory` bytes.
Partition storable_tiles_of_cells(const Shape& shape, DType type, double memory);
/// The same of tiles that nest in those of `held`.
Partition readable_tiles_of_cells(const TileGrid& held, DType type, double memory);

}  // namespace eindb
