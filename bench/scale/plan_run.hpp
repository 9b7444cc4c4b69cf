#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/partitions/calibrated_model.hpp"
#include "plan/physical_plan.hpp"

namespace eindb::bench {

/// A cluster that need not exist. Ranks are placed on hosts in their order; the coordinator is a rank like the others.
struct PaperCluster {
  std::size_t ranks_per_host = 1;
  double cores_per_host = 1;  ///< a rank computes on one thread, as fast as the machine whose figures predict its calls
  double bandwidth = 12.5e9;  ///< bytes a second into a host, and as many out of it at the same time
  double latency = 5e-6;      ///< seconds from a message's last byte sent to its first byte received
  /// The processor seconds that messages cost the sender and the receiver. `per_byte` is the receiver's alone.
  TransportCosts software = TransportCosts::of_mpi();
  /// How many steps a rank looks ahead for one that it can run while another waits for bytes; 1: none, as ranks do.
  std::size_t steps_ahead = 1;
};

/// The message that a rank receives from another in one step.
struct PaperMessage {
  Rank to = 0;
  std::uint32_t pieces = 0;
  double bytes = 0;
  double packed = 0;  ///< bytes of parts of tiles, which are copied to be sent; whole tiles are sent as they lie
};

/// The work of each rank in one step. Steps that exchange equal messages share a value.
struct PaperStep {
  std::vector<double> seconds;                   ///< of kernel calls; empty: nobody computes
  std::vector<std::vector<PaperMessage>> given;  ///< by sender; empty: nothing moves
  std::vector<std::uint32_t> awaited;            ///< messages, by receiver
  std::vector<double> copied;         ///< bytes that a rank puts together to tiles; whole ones stay as they are
  std::vector<std::uint32_t> pieces;  ///< that it puts together
};

struct PaperSteps {
  std::vector<PaperStep> kinds;
  std::vector<std::size_t> kind_of;              ///< for each step of the plan
  std::vector<std::vector<std::size_t>> inputs;  ///< for each step of the plan
};

/// The work of all ranks in each step of a valid plan. Its relations must all move in pieces. `lists` are the plan's
/// holder lists; the model has the figures of the machine on which kernel calls are imagined. Takes time and memory in
/// proportion to the pieces of different steps.
PaperSteps steps_on_paper(const EinGraph& graph, const PhysicalPlan& plan, std::span<const TileHolders> lists,
                          const CalibratedModel& model);

/// How a plan went.
struct PaperRun {
  double seconds = 0;     ///< until the last rank has done the last step
  double computing = 0;   ///< seconds of the processor for kernel calls, of a rank on average
  double exchanging = 0;  ///< and for messages
  double bytes = 0;       ///< received by all ranks
  double most_bytes = 0;  ///< received by the busiest
  std::uint64_t messages = 0;
};

/// Runs the steps as events: each rank takes the steps in their order, computes, sends a message to each rank that
/// lacks something, and waits until all that it lacks is there. A host has one link, on which messages follow each
/// other in both directions; ranks of one host reach each other at no more than the cost of their processors, which
/// they share evenly. Deterministic.
PaperRun run_on_paper(const PaperSteps& steps, std::size_t ranks, const PaperCluster& cluster);

}  // namespace eindb::bench
