#include "storage/npy_writer.hpp"

#include <span>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/block_lines.hpp"
#include "storage/npy_header.hpp"

namespace eindb {

NpyWriter::NpyWriter(const std::string& path, DType dtype, Shape shape)
    : file_(path), dtype_(dtype), shape_(std::move(shape)) {
  if (!file_.is_seekable()) {
    throw Error(ErrorKind::Io, "cannot write " + path + " as NPY: it is not a regular file", std::nullopt,
                "give the path of a file, or write CSV");
  }
  const auto header = make_npy_header(dtype_, shape_);
  data_offset_ = static_cast<std::int64_t>(header.size());
  const auto bytes = checked_multiply(shape_.element_count(), static_cast<std::int64_t>(size_of(dtype_)));
  file_.resize(checked_add(data_offset_, bytes));
  file_.write_at(0, std::as_bytes(std::span(header)));
}

void NpyWriter::write_block(const std::vector<std::int64_t>& begin, const Tile& block) {
  CHECK(block.dtype() == dtype_, "a block has the type of its file");
  BlockLines lines(shape_, false, begin, block.shape());
  const auto size = static_cast<std::int64_t>(size_of(dtype_));
  const auto line_bytes = static_cast<std::size_t>(lines.line_length() * size);
  for (BlockLines::Line line; lines.next(line);) {
    file_.write_at(data_offset_ + line.file_offset * size,
                   block.bytes().subspan(static_cast<std::size_t>(line.tile_offset * size), line_bytes));
  }
}

}  // namespace eindb
