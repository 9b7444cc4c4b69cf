#pragma once

#include <cstdint>
#include <vector>

#include "tensor/shape.hpp"

namespace eindb {

/// The lines that make up a block of a dense array in a file. A line is contiguous in the file, and its elements are
/// `tile_stride` apart in the row-major tile of the block. Lines come in ascending order of file offset.
///
/// Example: rows 1-2, columns 0-1 of a 4 x 3 array are lines of two elements at file offsets 3 and 6 and tile offsets 0
/// and 2. Adjacent dimensions that are contiguous in both file and tile are joined: rows 1-2 as a whole are one line of
/// six elements. In a column-major file of the same array the lines run down the columns, with tile_stride 2. Offsets
/// and counts are in elements.
class BlockLines {
 public:
  struct Line {
    std::int64_t file_offset = 0;
    std::int64_t tile_offset = 0;
  };

  /// `begin` and `block` must lie within `array`.
  BlockLines(const Shape& array, bool column_major, const std::vector<std::int64_t>& begin, const Shape& block);

  std::int64_t line_length() const { return length_; }
  std::int64_t tile_stride() const { return tile_stride_; }
  /// False after the last line.
  bool next(Line& line);

 private:
  struct Dimension {
    std::int64_t extent;
    std::int64_t file_stride;
    std::int64_t tile_stride;
  };
  static void join(std::vector<Dimension>& dimensions);

  std::vector<Dimension> outer_;  // slowest in the file first
  std::vector<std::int64_t> index_;
  std::int64_t length_ = 1;
  std::int64_t tile_stride_ = 1;
  Line at_;
  bool done_ = false;
};

}  // namespace eindb
