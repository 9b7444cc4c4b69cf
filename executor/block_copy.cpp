#include "executor/block_copy.hpp"

#include <algorithm>

#include "executor/kernels/strided_copy.hpp"

namespace eindb {

std::int64_t offset_in(const IndexBox& box, const IndexBox& part) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < box.size(); ++d) offset = offset * box[d].size + part[d].begin - box[d].begin;
  return offset;
}

bool is_contiguous(const IndexBox& box, const IndexBox& part) {
  std::size_t d = 0;
  while (d < box.size() && part[d].size == 1) ++d;
  for (++d; d < box.size(); ++d)
    if (part[d].size != box[d].size) return false;
  return true;
}

void copy_part(const BoxTarget& target, const BoxSource& source, const IndexBox& part, DType dtype) {
  if (element_count(part) == 0) return;
  const auto size = size_of(dtype);
  const auto target_strides = shape_of(target.box).row_major_strides();
  const auto source_strides = shape_of(source.box).row_major_strides();
  auto* to = target.bytes.data() + static_cast<std::size_t>(offset_in(target.box, part)) * size;
  const auto* from = source.bytes.data() + static_cast<std::size_t>(offset_in(source.box, part)) * size;
  copy_strided({dtype, to, target_strides}, {dtype, from, source_strides}, shape_of(part).extents());
}

}  // namespace eindb
