#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/partitions/calibrated_model.hpp"
#include "optimizer/partitions/labelling.hpp"
#include "optimizer/partitions/machine_figures.hpp"
#include "optimizer/partitions/strategy.hpp"
#include "optimizer/plan_memory.hpp"

namespace eindb {

/// The machine that a plan is made for, and what the model `calibrated` may choose.
struct MachineOptions {
  MachineFigures figures = {};
  int threads = 1;
  std::int64_t memory_limit = 0;  ///< bytes of tiles
  bool choose_parallelism = true;
  /// Whether tiles that do not fit the limit go to a scratch file: then a plan fits if what its operators work on does.
  bool spills = false;
  LeastMemory least_memory = {};  ///< of a plan that spills
  /// Set where a result is stored and its tiles are to be chosen: the partition that it would have otherwise.
  WantedPartitions stored_partitions = {};
};

/// A number of kernel calls that was tried.
struct ParallelismCandidate {
  std::int64_t parallelism = 1;
  double seconds = 0;        ///< predicted
  double peak_bytes = 0;     ///< predicted
  double spilled_bytes = 0;  ///< of them, written to a scratch file and read again; in `seconds`
  bool fits = true;          ///< within the memory limit
  double least_bytes = 0;    ///< what it cannot run without, of one that spills
};

struct CalibratedChoice {
  std::int64_t parallelism = 1;
  Labelling labelling;                           ///< costs in seconds
  WantedPartitions output_partitions;            ///< those of the options, or the ones chosen
  std::vector<ParallelismCandidate> candidates;  ///< ascending; one if the parallelism was given
  std::int64_t fastest_parallelism = 1;          ///< of those tried, whatever memory they take
  double least_bytes = 0;                        ///< of those that spill: what the one that needs least needs
};

/// Chooses p, the partition vectors and the tiles of a stored result so that the seconds predicted are the fewest.
///
/// p: 1, 2, 4, ... up to 64 per thread, at most 4096; each is decomposed by the strategy, and the fastest plan whose
/// tiles fit the memory limit is taken (if none fits, the one that needs least). The work is bounded and counted,
/// not timed: in large graphs only numbers of calls near that of the options are tried, and none whose calls alone
/// would take longer than the best plan.
///
/// Beside these, under strategy eindecomp, a plan whose vertices make different numbers of calls, at most 65536: along
/// the tiles of stored tensors, so that nothing is cut anew, and one where there is little to do. Its p is the most.
///
/// A plan that may spill fits if it can run at all, and takes longer by what goes to the scratch file and for threads
/// that wait for room. Where the plans above do, more are made whose calls are smaller. What is tried does not depend
/// on the limit but in that less is tried under a smaller one, and no plan takes longer with more memory: so a
/// statement that runs in some memory runs in more, and is predicted to take no longer there.
///
/// Tiles of a stored result: of its vertex's own partition, made coarser or finer until a tile has 0.5 to 4 MiB, and of
/// `stored_partitions`, the one with which computing, writing and reading it again takes less; of one result after the
/// other.
CalibratedChoice choose_calibrated(const EinGraph& graph, Strategy strategy, DecompositionOptions options,
                                   const MachineOptions& machine);

/// What a plan takes that keeps to the machine's memory limit by spilling.
struct SpillingSeconds {
  double seconds = 0;
  double written = 0;      ///< bytes, to a scratch file
  double least_bytes = 0;  ///< more than the limit: it cannot run
};
/// `seconds`: without any limit.
SpillingSeconds seconds_in(const PhysicalPlan& plan, double seconds, const CalibratedModel& model,
                           const MachineOptions& machine);

/// The partition with tiles of 0.5 to 4 MiB that is nearest to a given one: parts are doubled along the longest side
/// of the tile, or halved where there are most of them, so that both nest. Tensors below 4 MiB may stay whole.
/// Example: 4096 x 4096 FLOAT32 in [64, 1] (1 MiB each) stays; in [1, 1] it becomes [4, 4]; in [1024, 1] [128, 1].
Partition storable_tiles(const Shape& shape, DType type, Partition partition);

}  // namespace eindb
