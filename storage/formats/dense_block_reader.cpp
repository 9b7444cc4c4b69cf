#include "storage/formats/dense_block_reader.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/formats/block_lines.hpp"
#include "storage/formats/npy_element.hpp"

namespace eindb {
namespace {

/// Memory of a read window, which also bounds the longest read.
constexpr std::int64_t kWindowBytes = 4 << 20;
/// Lines less than a page apart are read together, since the disk delivers whole pages anyway.
constexpr std::int64_t kLargestGap = 4096;
/// The most lines in one read, which bounds their list.
constexpr std::size_t kMaxPieces = 65536;
/// Native lines of this size and more are read directly into the tile.
constexpr std::int64_t kDirectBytes = 64 << 10;

/// Fills one tile: gathers pieces of lines that are close in the file, reads the window around them at once, and
/// scatters it. Lines longer than the window are read in several pieces.
class BlockLoader {
 public:
  BlockLoader(const InputFile& file, const NpyHeader& array, Tile& tile, std::int64_t stride)
      : file_(file),
        data_offset_(array.data_offset),
        tile_(tile),
        stride_(stride),
        source_size_(array.element.size),
        target_size_(static_cast<std::int64_t>(size_of(tile.dtype()))),
        direct_(is_native(array.element) && stride == 1),
        convert_(npy_conversion(array.element)) {
    CHECK(source_size_ > 0 && data_offset_ >= 0, "an element has bytes, behind the header");
  }

  void add_line(const BlockLines::Line& line, std::int64_t length) {
    if (direct_ && length * source_size_ >= kDirectBytes) {
      flush();
      return read_directly(line, length);
    }
    const auto longest = kWindowBytes / source_size_;
    for (std::int64_t done = 0; done < length; done += longest)
      add({line.file_offset + done, line.tile_offset + done * stride_, std::min(longest, length - done)});
  }

  void flush() {
    if (pieces_.empty()) return;
    const auto begin = pieces_.front().file_offset;
    const auto offset = data_offset_ + begin * source_size_;
    CHECK(pieces_.back().end() > begin, "a window begins with its first piece and ends with its last");
    window_.resize(static_cast<std::size_t>((pieces_.back().end() - begin) * source_size_));
    file_.read(offset, window_);
    for (const auto& piece : pieces_) scatter(piece, begin);
    pieces_.clear();
  }

 private:
  struct Piece {
    std::int64_t file_offset;
    std::int64_t tile_offset;
    std::int64_t length;
    std::int64_t end() const { return file_offset + length; }
  };

  void add(Piece piece) {
    const bool near = !pieces_.empty() && (piece.file_offset - pieces_.back().end()) * source_size_ <= kLargestGap &&
                      (piece.end() - pieces_.front().file_offset) * source_size_ <= kWindowBytes &&
                      pieces_.size() < kMaxPieces;
    DCHECK(pieces_.empty() || pieces_.back().end() <= piece.file_offset, "pieces come in the order of the file");
    if (!near) flush();
    pieces_.push_back(piece);
  }

  void read_directly(const BlockLines::Line& line, std::int64_t length) {
    CHECK(std::cmp_less_equal((line.tile_offset + length) * target_size_, tile_.byte_size()), "a line fits its tile");
    const auto target = tile_.mutable_bytes().subspan(static_cast<std::size_t>(line.tile_offset * target_size_),
                                                      static_cast<std::size_t>(length * target_size_));
    file_.read(data_offset_ + line.file_offset * source_size_, target);
  }

  void scatter(const Piece& piece, std::int64_t window_begin) {
    DCHECK(std::cmp_less((piece.tile_offset + (piece.length - 1) * stride_) * target_size_, tile_.byte_size()),
           "a piece lies in its tile");
    const auto* source = window_.data() + (piece.file_offset - window_begin) * source_size_;
    auto* target = tile_.mutable_bytes().data() + piece.tile_offset * target_size_;
    const auto converted = convert_(source, target, piece.length, stride_);
    if (converted == piece.length) return;
    const auto offset = data_offset_ + (piece.file_offset + converted) * source_size_;
    throw Error(ErrorKind::Value,
                file_.path() + " holds an unsigned integer beyond INT64 at byte " + std::to_string(offset),
                std::nullopt, "save it as 64-bit floats");
  }

  const InputFile& file_;
  std::int64_t data_offset_;
  Tile& tile_;
  std::int64_t stride_;
  std::int64_t source_size_;
  std::int64_t target_size_;
  bool direct_;
  NpyConversion convert_;
  std::vector<Piece> pieces_;
  std::vector<std::byte> window_;
};

}  // namespace

Tile read_dense_block(const InputFile& file, const NpyHeader& array, const std::vector<std::int64_t>& begin,
                      const Shape& extents) {
  BlockLines lines(array.shape, array.column_major, begin, extents);
  auto tile = Tile::uninitialized(array.element.dtype(), extents);
  BlockLoader loader(file, array, tile, lines.tile_stride());
  for (BlockLines::Line line; lines.next(line);) loader.add_line(line, lines.line_length());
  loader.flush();
  return tile;
}

}  // namespace eindb
