#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tensor/dtype.hpp"
#include "tensor/shape.hpp"
#include "tensor/trie_list.hpp"

namespace eindb {

/// Cells in a trie ("compressed sparse fibres"): level l has nodes for the coordinates along dimension order[l] that
/// cells have, under the node of their coordinates along the dimensions before. Nodes of one parent are adjacent and
/// strictly ascending, so that cells are in the order of their coordinates. Nodes of the last level are the cells.
///
/// Example: the cells (0,3), (0,7), (2,3) in order {0, 1} have the levels {0, 2} with the children [0,2) and [2,3), and
/// {3, 7, 3}.
struct CellTrie {
  struct Level {
    TrieList<std::uint32_t> coordinates;  ///< of every node
    /// Node n has the nodes begins[n] to before begins[n + 1] of the next level; empty in the last level.
    TrieList<std::int64_t> begins = {};
  };
  std::vector<std::size_t> order;  ///< the dimension of each level, outermost first: a permutation of all dimensions
  std::vector<Level> levels;
  TrieList<std::byte> values;  ///< of each cell, of the block's type, and aligned for it

  std::int64_t count() const {
    return levels.empty() ? 0 : static_cast<std::int64_t>(levels.back().coordinates.size());
  }
  std::size_t byte_size() const;
  /// Whether some of the lists are views of a program's memory.
  bool is_borrowed() const;
  /// The same trie with lists that it keeps.
  CellTrie kept() const;
  template <class T>
  const T* values_as() const {
    return reinterpret_cast<const T*>(values.data());
  }
};

/// A trie that is being made: the lists of CellTrie as they grow.
struct GrowingTrie {
  struct Level {
    std::vector<std::uint32_t> coordinates;
    std::vector<std::int64_t> begins = {};

    CellTrie::Level take() && { return {std::move(coordinates), std::move(begins)}; }
  };
  std::vector<std::size_t> order;
  std::vector<Level> levels;
  std::vector<std::byte> values;

  CellTrie take() &&;
};

/// A block of cells that is zero but for those that it has: what a tile is in memory where few of its cells are not
/// zero. The rank is at least 1 and every extent at most kMostExtent. Cells may be zero themselves. Immutable and
/// thread-safe; copies share their lists.
class CellBlock {
 public:
  static constexpr std::int64_t kMostExtent = std::int64_t{1} << 31U;

  /// `trie` has the dimensions in their order, and coordinates within the shape.
  CellBlock(DType type, Shape shape, CellTrie trie);
  /// Cells by their row-major numbers in the shape: strictly ascending, each with a value.
  static CellBlock of_numbers(DType type, const Shape& shape, std::span<const std::int64_t> numbers,
                              std::vector<std::byte> values);
  /// The cells of row-major values that are not +0.
  static CellBlock of_dense(DType type, const Shape& shape, std::span<const std::byte> dense);

  /// Whether a block of that shape can be made: see the limits above.
  static bool may_have(const Shape& shape);

  DType dtype() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::int64_t count() const { return trie_.count(); }
  std::size_t byte_size() const { return trie_.byte_size(); }
  /// Whether some of its lists are views of a program's memory.
  bool is_borrowed() const { return trie_.is_borrowed(); }
  /// With dimensions in their order.
  const CellTrie& trie() const { return trie_; }
  /// The cells in another order of dimensions, a permutation; in time in proportion to the cells and extents.
  CellTrie in_order(std::vector<std::size_t> order) const;
  /// The row-major numbers of all cells, ascending.
  std::vector<std::int64_t> numbers() const;
  /// Writes all cells of the shape to `target`, row-major.
  void expand(std::span<std::byte> target) const;

 private:
  DType type_;
  Shape shape_;
  CellTrie trie_;
};
using CellBlockPtr = std::shared_ptr<const CellBlock>;

/// Makes a block of cells from their row-major numbers in the shape, which come in ascending order, each once.
class CellMaker {
 public:
  explicit CellMaker(const Shape& shape);

  /// For that many cells in all, if so many are expected.
  void reserve(std::size_t cells);
  /// Room for that many further ones, without which none may be added.
  void make_room(std::size_t cells);
  /// The next cell, for which there is room.
  void add(std::int64_t number) {
    if (number >= line_end_) begin_line(number);
    last_[count_++] = static_cast<std::uint32_t>(number - line_begin_);
  }
  std::size_t count() const { return count_; }
  /// The block of all cells, with a value of that type for each.
  CellBlock take(DType type, std::vector<std::byte> values);

 private:
  void begin_line(std::int64_t number);

  Shape shape_;
  std::vector<GrowingTrie::Level> outer_;   // all levels but the last
  std::vector<std::uint32_t> last_;         // the coordinates of the last level, with room behind them
  std::vector<std::uint32_t> coordinates_;  // of the line in the outer levels
  std::size_t count_ = 0;
  std::int64_t line_begin_ = 0;  // the numbers of the cells that differ in the last coordinate alone
  std::int64_t line_end_ = 0;
};

/// The bytes that a cell takes in a block of that rank, at most about: its value and a node in every level.
double bytes_of_cell(DType type, std::size_t rank);
/// The bytes that so many cells take in a block of that shape, if they are spread evenly: nodes of outer levels have
/// several of them.
double bytes_of_cells(DType type, const Shape& shape, double cells);

/// Sorts cells by their numbers, which may not occur twice; ascending ones cost a pass. Reorders values with them.
void sort_cells(std::vector<std::int64_t>& numbers, std::vector<std::byte>& values, std::size_t value_bytes);

}  // namespace eindb
