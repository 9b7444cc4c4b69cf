#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/distributed_query.hpp"

namespace eindb {

/// What collectives alone would take where all that moves is blocks of workers.
struct CollectivesDescription {
  std::vector<std::string> steps;        ///< a line each
  double elements = 0;                   ///< what they cost (optimizer/redistribution)
  std::int64_t elements_by_busiest = 0;  ///< of the direct exchange that is made
};

/// What a step took, of the slowest rank.
struct MeasuredStep {
  std::int64_t bytes = 0;  ///< received by all ranks
  double seconds = 0;
  double seconds_waiting = 0;
};

/// A step that all ranks run.
struct StepDescription {
  std::size_t id = 0;
  std::string name;
  std::string vertex;
  std::vector<std::size_t> inputs;
  Partition grid;
  std::string placement;  ///< as a distributed type, or "stored"
  double bytes = 0;       ///< received by all ranks, if no tile is all zero
  double bytes_by_busiest = 0;
  std::optional<CollectivesDescription> collectives = std::nullopt;
  std::optional<MeasuredStep> actual = std::nullopt;
};

/// What one rank did in all steps together.
struct RankDescription {
  std::string worker;
  double seconds = 0;
  double seconds_waiting = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::int64_t peak_bytes = 0;
};

/// What all ranks took for a query.
struct MeasuredRanks {
  double seconds = 0;
  double seconds_before_delivery = 0;  ///< until the last worker had its part of the result
  std::int64_t bytes_received = 0;
  double skew = 1;  ///< the computing time of the busiest rank over the mean
  std::vector<RankDescription> ranks;
};

/// What the ranks of a cluster do for a query, and did if it ran.
struct ClusterDescription {
  std::vector<StepDescription> steps;
  double bytes_received = 0;  ///< by all ranks, if no tile is all zero
  double bytes_received_by_busiest = 0;
  double planning_seconds = 0;           ///< to find or make these steps, and to find the tiles that they read
  PlanSource source = PlanSource::Made;  ///< of the steps; the query's own plan has another
  std::optional<MeasuredRanks> actual = std::nullopt;
};

ClusterDescription describe_cluster(const PlannedQuery& planned, const ClusterProfile& profile);

}  // namespace eindb
