#include "storage/formats/block_lines.hpp"

#include <algorithm>
#include <numeric>

#include "common/check.hpp"

namespace eindb {
namespace {

std::vector<std::int64_t> file_strides(const Shape& array, bool column_major) {
  if (!column_major) return array.row_major_strides();
  std::vector<std::int64_t> strides(array.rank(), 1);
  for (std::size_t d = 1; d < array.rank() && array.element_count() > 0; ++d)
    strides[d] = strides[d - 1] * array[d - 1];
  return strides;
}

}  // namespace

BlockLines::BlockLines(const Shape& array, bool column_major, const std::vector<std::int64_t>& begin,
                       const Shape& block)
    : done_(block.element_count() == 0) {
  CHECK(begin.size() == array.rank() && block.rank() == array.rank(), "a block has the rank of its array");
  for (std::size_t d = 0; d < array.rank(); ++d)
    CHECK(begin[d] >= 0 && begin[d] <= array[d] && block[d] <= array[d] - begin[d], "a block lies in its array");
  if (done_) return;

  const auto in_file = file_strides(array, column_major);
  const auto in_tile = block.row_major_strides();
  for (std::size_t d = 0; d < array.rank(); ++d) {
    at_.file_offset += begin[d] * in_file[d];
    if (block[d] > 1) outer_.push_back({block[d], in_file[d], in_tile[d]});
  }
  if (column_major) std::reverse(outer_.begin(), outer_.end());
  join(outer_);
  if (!outer_.empty() && outer_.back().file_stride == 1) {
    length_ = outer_.back().extent;
    tile_stride_ = outer_.back().tile_stride;
    outer_.pop_back();
  }
  index_.resize(outer_.size());
  const auto cells = std::accumulate(outer_.begin(), outer_.end(), length_,
                                     [](std::int64_t n, const Dimension& d) { return n * d.extent; });
  CHECK(cells == block.element_count(), "lines make up the block");
}

void BlockLines::join(std::vector<Dimension>& dimensions) {
  std::vector<Dimension> joined;
  for (const auto& d : dimensions) {
    const bool follows = !joined.empty() && joined.back().file_stride == d.file_stride * d.extent &&
                         joined.back().tile_stride == d.tile_stride * d.extent;
    if (follows) joined.back() = {joined.back().extent * d.extent, d.file_stride, d.tile_stride};
    else joined.push_back(d);
  }
  dimensions = std::move(joined);
}

bool BlockLines::next(Line& line) {
  if (done_) return false;
  line = at_;
  for (std::size_t d = outer_.size(); d-- > 0;) {
    at_.file_offset += outer_[d].file_stride;
    at_.tile_offset += outer_[d].tile_stride;
    if (++index_[d] < outer_[d].extent) return true;
    at_.file_offset -= outer_[d].file_stride * outer_[d].extent;
    at_.tile_offset -= outer_[d].tile_stride * outer_[d].extent;
    index_[d] = 0;
  }
  done_ = true;
  return true;
}

}  // namespace eindb
