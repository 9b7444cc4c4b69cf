#include "executor/block_copy.hpp"

#include "common/check.hpp"
#include "executor/kernels/strided_copy.hpp"

namespace eindb {

void copy_part(const BoxTarget& target, const BoxSource& source, const IndexBox& part, DType dtype) {
  if (element_count(part) == 0) return;
  const auto size = size_of(dtype);
  CHECK(static_cast<std::size_t>(element_count(target.box)) * size <= target.bytes.size() &&
            static_cast<std::size_t>(element_count(source.box)) * size <= source.bytes.size(),
        "a box has memory for its elements");
  const auto target_strides = shape_of(target.box).row_major_strides();
  const auto source_strides = shape_of(source.box).row_major_strides();
  auto* to = target.bytes.data() + static_cast<std::size_t>(offset_in(target.box, part)) * size;
  const auto* from = source.bytes.data() + static_cast<std::size_t>(offset_in(source.box, part)) * size;
  copy_strided({dtype, to, target_strides}, {dtype, from, source_strides}, shape_of(part).extents());
}

}  // namespace eindb
