#include "storage/formats/dense_block_writer.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/formats/block_lines.hpp"
#include "tensor/cell_encoding.hpp"

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

// A bool of a file takes a byte, as an integer of 8 bits does.
void write_dense_block(const Shape& array, const std::vector<std::int64_t>& begin, const Tile& block,
                       const NpyElement& element, const RunSink& put) {
  const auto type = element.kind == 'b' ? with_encoding(Encoding::UInt8) : element.type();
  CHECK(type.values == block.dtype() && !element.big_endian, "a block has the values of its elements");
  if (type.encoding == Encoding::Plain) return write_dense_block(array, begin, block, put);
  const auto cells = block.shape().element_count();
  std::vector<std::byte> bytes(static_cast<std::size_t>(encoded_bytes(type, cells)));
  auto fault = encode_cells(type, block.bytes(), cells, bytes);
  if (element.kind == 'b' && !fault) {
    const auto other = std::find_if(bytes.begin(), bytes.end(), [](std::byte value) { return value > std::byte{1}; });
    if (other != bytes.end()) fault = other - bytes.begin();
  }
  if (fault)
    throw Error(ErrorKind::Value,
                "a value is " + std::to_string(block.data<std::int64_t>()[*fault]) + ", which " +
                    std::string(name_of(element.type())) + " does not hold",
                std::nullopt, "a wider type holds it");
  write_dense_block(array, begin, block.shape(), bytes, static_cast<std::size_t>(element.size), put);
}

void require_regular_file(bool is_seekable, const std::string& path, const std::string& format) {
  if (is_seekable) return;
  throw Error(ErrorKind::Io, "cannot write " + path + " as " + format + ": it is not a regular file", std::nullopt,
              "give the path of a file, or write CSV");
}

}  // namespace eindb
