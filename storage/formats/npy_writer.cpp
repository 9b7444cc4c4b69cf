#include "storage/formats/npy_writer.hpp"

#include <span>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "storage/formats/dense_block_writer.hpp"
#include "storage/formats/npy_header.hpp"

namespace eindb {

NpyWriter::NpyWriter(const FilePath& path, StoredType type, Shape shape)
    : file_(path), dtype_(type.values), element_(npy_file_element_of(type)), shape_(std::move(shape)) {
  require_regular_file(file_.is_seekable(), file_.path(), "NPY");
  const auto header = make_npy_header(element_, shape_);
  data_offset_ = static_cast<std::int64_t>(header.size());
  const auto bytes = checked_multiply(shape_.element_count(), std::int64_t{element_.size});
  file_.resize(checked_add(data_offset_, bytes));
  file_.write_at(0, std::as_bytes(std::span(header)));
}

void NpyWriter::write_block(const std::vector<std::int64_t>& begin, const Tile& block) {
  CHECK(block.dtype() == dtype_, "a block has the type of its file");
  write_dense_block(shape_, begin, block, element_,
                    [&](std::int64_t offset, auto bytes) { file_.write_at(data_offset_ + offset, bytes); });
}

}  // namespace eindb
