#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/ein_graph.hpp"
#include "plan/index_box.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// The parts of a stored tensor that each worker lacks: exactly, for any owners and replicas of its tiles. A worker's
/// tiles are kept as few disjoint boxes, a single one where it holds a block. Immutable, thread-safe.
///
/// Example: 8 x 8 cut [2, 2], tiles 0 and 1 at worker 0: of rows 3 to 5 it lacks 2 x 8 elements, if somebody has them.
class HeldParts {
 public:
  /// `holders` has the ranks that hold each tile of `grid`; those beyond `workers` are the coordinator and workers that
  /// do not compute.
  HeldParts(const TileGrid& grid, const TileHolders& holders, std::size_t workers);

  /// Elements of `box` that the worker must receive. It holds the others, or they are in tiles of zeros, which nobody
  /// holds and nobody sends.
  double missing(const IndexBox& box, std::size_t worker) const;
  /// The boxes of the worker. They do not intersect.
  const std::vector<IndexBox>& held(std::size_t worker) const { return held_[worker]; }
  /// The time of missing() for all workers, in boxes that are looked at.
  std::size_t box_count() const { return box_count_; }

 private:
  std::vector<std::vector<IndexBox>> held_;  // of each worker
  // The tiles of zeros, or those that somebody holds, whichever are fewer boxes.
  std::vector<IndexBox> listed_;
  bool lists_absent_ = true;
  std::size_t box_count_ = 0;
};

/// For each vertex of a graph, the ranks that hold each tile of the tensor or selection that it reads
/// (InputTensor::grid). Empty for vertices that are computed, and for inputs that no result needs. A selection has the
/// holders of the stored tiles that it is taken from.
using InputHolders = std::vector<TileHolders>;

/// The holders of the tiles of one input, from the holders of the tensor's stored tiles.
TileHolders holders_of_input(const InputTensor& input, const TileHolders& stored);
/// Of all inputs, as if each was newly written to `workers` workers (tensor/tile_placement).
InputHolders newly_written(const EinGraph& graph, std::int64_t workers);

/// The places of all inputs of a graph, for plans on so many workers. Immutable, thread-safe.
class InputPlaces {
 public:
  InputPlaces(const EinGraph& graph, const InputHolders& holders, std::int64_t workers);
  /// As newly_written().
  InputPlaces(const EinGraph& graph, std::int64_t workers);

  std::int64_t workers() const { return workers_; }
  /// Equal numbers: inputs that are cut alike and have the same holders.
  std::size_t number_of(VertexId input) const { return numbers_[input.index()]; }
  const HeldParts& parts_of(VertexId input) const { return parts_[number_of(input)]; }
  /// Boxes that are looked at when what all readers lack is counted.
  double boxes_read() const { return boxes_read_; }

 private:
  std::int64_t workers_;
  std::vector<std::size_t> numbers_;  // of each vertex; 0 for those that are computed
  std::vector<HeldParts> parts_;
  double boxes_read_ = 0;
};

}  // namespace eindb
