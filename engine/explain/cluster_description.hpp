#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/query/distributed_query.hpp"

namespace eindb {

/// The two ways of an exchange between blocks of workers, of which the plan takes one. Predictions are those of
/// optimizer/redistribution/exchange_choice, for the busiest rank.
struct ExchangeDescription {
  bool by_collectives = false;  ///< the plan's way; otherwise in pieces
  double pieces_seconds = 0;
  std::optional<double> collectives_seconds = std::nullopt;  ///< nullopt: no sequence of collectives can be run
  std::vector<std::string> collectives = {};                 ///< one line each
  std::int64_t collectives_bytes = 0;                        ///< of blocks and buffers that a rank has at once, at most
};

/// Measured times and bytes of a step. Times are those of the slowest rank.
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
  std::string placement;                               ///< as a distributed type, or "stored"
  std::optional<std::size_t> computes = std::nullopt;  ///< the number of the vertex that its kernel computes
  DescriptionFields own;                               ///< what its operator alone has to say
  double density = 1;                                  ///< the share of its elements that are there, about
  std::optional<double> cells = std::nullopt;          ///< set if its tiles are of cells: about how many they have
  bool reads_values_of_cells = false;                  ///< a scan of all values of a tensor that has few cells
  double bytes = 0;                                    ///< received by all ranks, if no tile is all zero
  double bytes_by_busiest = 0;
  std::optional<ExchangeDescription> exchange = std::nullopt;  ///< set for redistributions between blocks
  std::optional<MeasuredStep> actual = std::nullopt;
};

/// Measured totals of one rank over all steps.
struct RankDescription {
  std::string worker;
  double seconds = 0;
  double seconds_computing = 0;   ///< in compute steps
  double seconds_exchanging = 0;  ///< sending and receiving, with reading and packing what is sent, without waiting
  double seconds_waiting = 0;     ///< for other ranks
  double seconds_assembling = 0;  ///< making tiles of what was here and what came
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::int64_t peak_bytes = 0;
};

/// Measured totals of a query over all ranks.
struct MeasuredRanks {
  double seconds = 0;
  double seconds_before_delivery = 0;  ///< until the last worker had its part of the result
  std::int64_t bytes_received = 0;
  double skew = 1;  ///< the computing time of the busiest rank over the mean
  std::vector<RankDescription> ranks;
};

/// The steps of a query that the ranks of a cluster run, with measurements if it ran.
struct ClusterDescription {
  std::vector<StepDescription> steps;
  double bytes_received = 0;  ///< by all ranks if no tile is all zero
  double bytes_received_by_busiest = 0;
  double peak_bytes_of_busiest = 0;      ///< of tiles that a rank holds at once, if no tile is all zero
  double planning_seconds = 0;           ///< to find or make these steps, and to find the tiles that they read
  PlanSource source = PlanSource::Made;  ///< of the steps; the query's own plan has another
  std::optional<MeasuredRanks> actual = std::nullopt;
};

/// `number_of_vertex` tells which of the vertices that are described a vertex of the graph is.
ClusterDescription describe_cluster(const PlannedQuery& planned, const ClusterProfile& profile,
                                    const std::vector<std::size_t>& number_of_vertex);

}  // namespace eindb
