#include "tensor/shape.hpp"

#include <utility>

#include "common/checked_math.hpp"
#include "common/error.hpp"

namespace eindb {

Shape::Shape(std::vector<std::int64_t> extents) {
  for (const auto extent : extents)
    if (extent < 0) throw Error(ErrorKind::Shape, "an extent is negative in " + bracketed(extents));
  const auto count = try_product(extents);
  if (!count) {
    throw Error(ErrorKind::Shape, "the shape " + bracketed(extents) + " has more elements than 64 bits can count",
                std::nullopt, "use smaller extents");
  }
  element_count_ = *count;
  if (!extents.empty()) extents_ = std::make_shared<const std::vector<std::int64_t>>(std::move(extents));
}

std::vector<std::int64_t> Shape::row_major_strides() const {
  std::vector<std::int64_t> strides(rank(), 1);
  if (element_count_ == 0) return strides;
  for (std::size_t d = rank(); d-- > 1;) strides[d - 1] = strides[d] * (*extents_)[d];
  return strides;
}

std::string Shape::to_string() const { return bracketed(extents()); }

std::string bracketed(std::span<const std::int64_t> values) {
  std::string out = "[";
  for (std::size_t d = 0; d < values.size(); ++d) out += (d == 0 ? "" : ", ") + std::to_string(values[d]);
  return out + "]";
}

bool next_index(std::vector<std::int64_t>& index, std::span<const std::int64_t> extents) {
  for (std::size_t d = index.size(); d-- > 0;) {
    if (++index[d] < extents[d]) return true;
    index[d] = 0;
  }
  return false;
}

}  // namespace eindb
