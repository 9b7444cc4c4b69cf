#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace eindb {

/// The measurements of one physical node.
struct NodeProfile {
  /// The average time of the threads that worked on its tasks. Nodes overlap; if all threads are busy, the seconds of
  /// all nodes add up to those of the execution. Reading a stored tile counts for the node that needs it first.
  double seconds = 0;
  std::int64_t kernel_calls = 0;   ///< executed calls
  std::int64_t skipped_calls = 0;  ///< calls skipped: because of absent tiles, or without rows of a gather
  std::int64_t tiles_in = 0;       ///< number of tiles passed to kernels or copied from
  std::int64_t tiles_out = 0;      ///< number of tiles of the result
  std::int64_t bytes = 0;          ///< of the result's tiles
  /// Elements moved, as the cost model `transfers` counts them. For a join: elements of the tiles passed to every
  /// kernel call. For a group-by: elements of the partial result that each call except a group's first adds to. For a
  /// repartition: elements of the tiles it makes, except absent tiles.
  std::int64_t elements = 0;
  std::int64_t cells = 0;  ///< of the result's tiles, as far as these are of cells, or of those read from storage
};

/// The measurements of one step of a plan on one rank.
struct StepProfile {
  double seconds = 0;
  double seconds_exchanging = 0;    ///< in operations of the exchange; part of `seconds`
  double seconds_waiting = 0;       ///< of these for other ranks, with nothing to send or receive
  std::int64_t bytes_sent = 0;      ///< payloads and headers, as Exchange counts
  std::int64_t bytes_received = 0;  ///< likewise
  std::int64_t messages_sent = 0;
  std::int64_t messages_received = 0;
  std::int64_t pieces_received = 0;  ///< in these, of a move in pieces
  std::int64_t tiles = 0;            ///< of the step's result that the rank holds, absent ones, too
  std::int64_t bytes = 0;            ///< of those that are not absent
  NodeProfile compute;               ///< of a compute step: its join and group-by together
};

/// The measurements of the execution of a plan on one rank.
struct ExecutionProfile {
  std::vector<StepProfile> steps;  ///< in the order of the plan; empty for a fragment
  double seconds = 0;
  std::int64_t peak_bytes = 0;       ///< of tiles, and for kernels
  std::int64_t workspace_bytes = 0;  ///< the part of it that was for kernels, at most
  std::vector<NodeProfile> nodes{};  ///< of a fragment, in the order of its nodes; otherwise empty
  /// The checkpoint at which the run ended (executor/checkpoint): nodes behind it did not run.
  std::optional<std::size_t> ended_at = std::nullopt;

  /// Whether the node ran.
  bool ran(std::size_t node) const { return !ended_at || node <= *ended_at; }
};

}  // namespace eindb
