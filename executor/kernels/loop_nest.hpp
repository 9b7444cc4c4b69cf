#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/dtype.hpp"

namespace eindb {

/// A quantity that changes with the loops: an operand, the output, or a number that depends on labels.
struct Stream {
  enum class Kind : std::uint8_t { Operand, Number, Output };
  Kind kind = Kind::Operand;
  std::int64_t element_size = 8;
  bool converted = false;  ///< elements are converted when they are loaded
};

/// One label, or several nested ones: the number of indices, and the step of each stream per index (modulo 2^64).
struct Loop {
  std::int64_t size = 1;
  bool aggregated = false;
  std::vector<std::int64_t> strides;  ///< by stream
};

/// The positions of the streams: an element offset for operands and the output, the value for numbers. Modulo 2^64.
using StreamOffsets = std::vector<std::uint64_t>;

/// Iterates over the indices of some loops and updates the streams' offsets. Owned by one kernel call; the loops must
/// outlive it.
class Odometer {
 public:
  explicit Odometer(const std::vector<Loop>& loops) : loops_(loops), index_(loops.size(), 0) {}

  /// Advances to the next index, the last loop fastest. After the last index returns false and restores the initial
  /// offsets.
  bool advance(StreamOffsets& offsets);
  std::int64_t operator[](std::size_t loop) const { return index_[loop]; }

 private:
  const std::vector<Loop>& loops_;
  std::vector<std::int64_t> index_;
};

/// One side of the box of elements that is computed at once: `chunk` indices of the loop, fewer in the last chunk.
struct BoxSide {
  Loop loop;
  std::int64_t chunk = 1;

  std::int64_t chunk_count() const { return (loop.size + chunk - 1) / chunk; }
  std::int64_t extent(std::int64_t chunk_number) const {
    const auto left = loop.size - chunk_number * chunk;
    return left < chunk ? left : chunk;
  }
};

/// The loop over the chunks of a side.
Loop chunk_loop(const BoxSide& side);

/// The order in which the cells of an EinSum are visited: loops over output labels, outermost first; inside them loops
/// over aggregated labels; inside them a box of rows x columns, computed at once. The chunks of the sides are loops of
/// the nest too: `row_loop` and `column_loop` are their positions in `output` or `aggregated`, depending on the kind of
/// the side's loop.
///
/// Example: D[i,k] = SUM((X[i,j] - Y[k,j])^2) with extents of 1000 and 512 elements per box visits i, then chunks of
/// one k (output), then two chunks of j (aggregated) with a box of 1 x 512.
struct LoopNest {
  std::vector<Loop> output;
  std::vector<Loop> aggregated;
  BoxSide rows;
  BoxSide columns;
  std::size_t row_loop = 0;
  std::size_t column_loop = 0;
};

/// Removes loops of one index, and merges pairs that nest in every stream.
void merge(std::vector<Loop>& loops);

/// Arranges loops (each of size >= 1, with strides for all `streams`) for speed: merges loops that nest in every
/// stream, and chooses the sides of the box by the cost of loading and storing along them. Where `many_results`, a box
/// along an aggregated label is short if it can have many results then.
LoopNest arrange(std::vector<Loop> loops, std::span<const Stream> streams, std::int64_t box_elements,
                 bool many_results = false);

/// The same for aggregates that take the cells of each result in order: `aggregated` has their loops, the first one
/// outermost. The rows of a box are consecutive indices of the last of them, its columns are different results.
LoopNest arrange_in_order(std::vector<Loop> output, std::vector<Loop> aggregated, std::span<const Stream> streams,
                          std::int64_t box_elements);

}  // namespace eindb
