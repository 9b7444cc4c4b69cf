#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/check.hpp"
#include "tensor/cell_block.hpp"
#include "tensor/dtype.hpp"
#include "tensor/shape.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

/// A sub-tensor: element type, extents, and row-major values in memory aligned to 64 bytes, or, if borrowed, to their
/// type; a borrowed tile may have other strides. A tile is filled by the one task that makes it and immutable
/// afterwards; tiles are shared as TilePtr. A tile of cells has a block of those that are not zero in place of all
/// values.
class Tile {
 public:
  /// All elements zero.
  static Tile zeros(DType type, Shape shape);
  /// Elements are uninitialised: for callers that write all of them.
  static Tile uninitialized(DType type, Shape shape);
  /// Elements of an encoding, uninitialised: for tiles of stored tensors on their way to kernels. `type` is one to
  /// which the encoding decodes them (tensor/cell_encoding).
  static Tile encoded(DType type, Encoding encoding, Shape shape);
  /// A view of elements in other memory, row-major and aligned to their type. They must stay unchanged during the
  /// tile's life.
  static std::shared_ptr<const Tile> borrow(DType type, Shape shape, const std::byte* values);
  /// The same with a stride, in elements, for each dimension: the values may have gaps, and lie in another order.
  static std::shared_ptr<const Tile> borrow(DType type, Shape shape, const std::byte* values,
                                            std::vector<std::int64_t> strides);
  /// A view of a box of a tile's plain values, which stay as long as it does. `begin`: of the box, by dimension.
  static std::shared_ptr<const Tile> part_of(std::shared_ptr<const Tile> whole, Shape shape,
                                             std::span<const std::int64_t> begin);
  /// A tile whose values lie in a tile of plain values, side by side from its element `first` on: for the task that
  /// fills them. No other tile may have them.
  static Tile in_whole(std::shared_ptr<Tile> whole, Shape shape, std::int64_t first);
  /// A tile of these cells. Only who says that it takes such tiles gets them.
  static Tile of_cells(CellBlockPtr cells);

  DType dtype() const { return dtype_; }
  /// How the elements lie in bytes(). Only who says that it takes encoded tiles gets others than plain ones.
  Encoding encoding() const { return encoding_; }
  bool is_encoded() const { return encoding_ != Encoding::Plain; }
  bool is_of_cells() const { return cells_ != nullptr; }
  /// The cells of a tile that is of cells.
  const CellBlock& cells() const {
    DCHECK(is_of_cells(), "a tile has cells or values");
    return *cells_;
  }
  const Shape& shape() const { return shape_; }
  /// Of the values, or of the cells with their coordinates.
  std::size_t byte_size() const { return byte_size_; }
  /// Whether the values are part of those of another tile, which they keep.
  bool lies_in(const Tile& whole) const { return whole_.get() == &whole; }
  /// Whether the elements, or lists of the cells, are in memory that the tile does not own.
  bool is_borrowed() const { return is_of_cells() ? cells_->is_borrowed() : data_.get_deleter().borrowed; }

  /// Whether the values are not side by side in row-major order. Only who says that it takes such tiles gets them.
  bool has_strides() const { return !strides_.empty(); }
  /// In elements, by dimension.
  std::vector<std::int64_t> strides() const { return has_strides() ? strides_ : shape_.row_major_strides(); }
  /// The first element.
  const std::byte* first() const { return data_.get(); }

  std::span<const std::byte> bytes() const {
    DCHECK(!is_of_cells() && !has_strides(), "cells are expanded first, and values that lie apart are copied");
    return {data_.get(), byte_size_};
  }
  std::span<std::byte> mutable_bytes() {
    DCHECK(!is_of_cells(), "cells are expanded first");
    return {data_.get(), byte_size_};
  }

  /// T must be the C++ type of dtype(), and the elements plain.
  template <class T>
  const T* data() const {
    DCHECK(!is_encoded() && !is_of_cells() && !has_strides(),
           "encoded elements are decoded first, cells expanded, and values that lie apart copied");
    return reinterpret_cast<const T*>(data_.get());
  }
  template <class T>
  T* mutable_data() {
    return reinterpret_cast<T*>(data_.get());
  }

  /// True if every bit is zero; minus zero and NaN are not. Of a tile of cells, whether it has none.
  bool is_all_zero() const;

  /// magnitude_of() (tensor/annihilation) of the values, if somebody has noted it: it is found in a pass, and tiles of
  /// stored tensors are read again and again. Thread-safe for tiles that nobody changes.
  std::optional<int> noted_magnitude() const {
    const auto noted = magnitude_.value.load(std::memory_order_relaxed);
    return noted == Note::kNothing ? std::nullopt : std::optional(noted);
  }
  void note_magnitude(int magnitude) const { magnitude_.value.store(magnitude, std::memory_order_relaxed); }

 private:
  /// A noted magnitude. A tile that is moved loses it, since its new owner may change the values.
  struct Note {
    static constexpr int kNothing = -1;
    Note() = default;
    Note(Note&&) noexcept {}
    Note& operator=(Note&&) noexcept {
      value.store(kNothing, std::memory_order_relaxed);
      return *this;
    }
    std::atomic<int> value{kNothing};
  };
  struct Free {
    bool borrowed;
    std::size_t mapped;  // see TileMemory::Block
    void operator()(std::byte* p) const noexcept;
  };
  Tile(DType type, Encoding encoding, Shape shape, bool zeroed);
  Tile(DType type, Shape shape, const std::byte* values);
  explicit Tile(CellBlockPtr cells);

  DType dtype_;
  Encoding encoding_ = Encoding::Plain;
  Shape shape_;
  std::size_t byte_size_;
  std::unique_ptr<std::byte[], Free> data_;  // null in a tile of cells
  CellBlockPtr cells_;                       // null in others
  std::vector<std::int64_t> strides_;        // empty: row-major
  std::shared_ptr<const Tile> whole_;        // of which it is a part
  mutable Note magnitude_;
};

using TilePtr = std::shared_ptr<const Tile>;

/// The tile with plain elements, decoded into `target`, which has the tile's type and shape.
void decode_into(const Tile& encoded, Tile& target);
Tile decoded(const Tile& encoded);
/// The tile with all values, of a tile of cells.
Tile expanded(const Tile& of_cells);

}  // namespace eindb
