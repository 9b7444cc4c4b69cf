#include "storage/formats/dense_block_writer.hpp"

#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/formats/block_lines.hpp"

namespace eindb {

void write_dense_block(const Shape& array, const std::vector<std::int64_t>& begin, const Shape& extents,
                       std::span<const std::byte> bytes, std::size_t element_size, const RunSink& put) {
  BlockLines lines(array, false, begin, extents);
  const auto size = static_cast<std::int64_t>(element_size);
  CHECK(std::cmp_equal(bytes.size(), extents.element_count() * size), "a block has the bytes of its elements");
  const auto line_bytes = static_cast<std::size_t>(lines.line_length() * size);
  for (BlockLines::Line line; lines.next(line);)
    put(line.file_offset * size, bytes.subspan(static_cast<std::size_t>(line.tile_offset * size), line_bytes));
}

void write_dense_block(const Shape& array, const std::vector<std::int64_t>& begin, const Tile& block,
                       const RunSink& put) {
  write_dense_block(array, begin, block.shape(), block.bytes(), size_of(block.dtype()), put);
}

void require_regular_file(bool is_seekable, const std::string& path, const std::string& format) {
  if (is_seekable) return;
  throw Error(ErrorKind::Io, "cannot write " + path + " as " + format + ": it is not a regular file", std::nullopt,
              "give the path of a file, or write CSV");
}

}  // namespace eindb
