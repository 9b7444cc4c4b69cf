#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/dtype.hpp"

namespace eindb {

/// Something that loops step through: an operand, the output, or a number that depends on labels.
struct Stream {
  enum class Kind : std::uint8_t { Operand, Number, Output };
  Kind kind = Kind::Operand;
  std::int64_t element_size = 8;
  bool converted = false;  ///< elements change their type when they are loaded
};

/// One label, or several that nest: how many indices, and how far each stream moves per index (modulo 2^64).
struct Loop {
  std::int64_t size = 1;
  bool aggregated = false;
  std::vector<std::int64_t> strides;  ///< one per stream
};

/// Where the streams stand: an element offset for operands and the output, the value for numbers. Modulo 2^64.
using StreamOffsets = std::vector<std::uint64_t>;

/// Runs through the indices of some loops and keeps the streams' offsets. Owned by one kernel call; the loops outlive
/// it.
class Odometer {
 public:
  explicit Odometer(const std::vector<Loop>& loops) : loops_(loops), index_(loops.size(), 0) {}

  /// To the next index, the last loop fastest; false after the last, with everything back at the start.
  bool advance(StreamOffsets& offsets);
  std::int64_t operator[](std::size_t loop) const { return index_[loop]; }

 private:
  const std::vector<Loop>& loops_;
  std::vector<std::int64_t> index_;
};

/// One side of the box of elements that is computed at a time: `chunk` of the loop's indices, the last chunk less.
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

/// How the cells of an EinSum are visited: loops over output labels, outermost first; inside them, loops over
/// aggregated labels; inside them a box of rows x columns, computed at once. The chunks of the sides are loops of this
/// kind too: `row_loop` and `column_loop` are their places in `output` or `aggregated`, as the side's loop says.
///
/// Example: D[i,k] = SUM((X[i,j] - Y[k,j])^2) with extents 1000 each and 512 elements a box visits i and then chunks
/// of one k (output), then two chunks of j (aggregated) with a box of 1 x 512.
struct LoopNest {
  std::vector<Loop> output;
  std::vector<Loop> aggregated;
  BoxSide rows;
  BoxSide columns;
  std::size_t row_loop = 0;
  std::size_t column_loop = 0;
};

/// Drops loops of one index, and makes one of two that nest in every stream.
void merge(std::vector<Loop>& loops);

/// Arranges loops (each of size >= 1, all with strides for all `streams`) for speed: merges loops that nest in every
/// stream, and picks the sides of the box by what loading and storing along them costs.
LoopNest arrange(std::vector<Loop> loops, std::span<const Stream> streams, std::int64_t box_elements);

}  // namespace eindb
