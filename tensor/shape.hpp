#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace eindb {

/// The bound vector of a tensor: one extent per dimension, each >= 0. Rank 0 is a scalar. Invariant: the number of
/// elements fits 63 bits (checked by the constructor; Error{Shape} otherwise).
///
/// Copies share their extents, so that a copy allocates nothing. Immutable but for assignment.
class Shape {
 public:
  Shape() = default;
  explicit Shape(std::vector<std::int64_t> extents);

  std::size_t rank() const { return extents().size(); }
  std::int64_t operator[](std::size_t dimension) const { return (*extents_)[dimension]; }
  const std::vector<std::int64_t>& extents() const { return extents_ != nullptr ? *extents_ : kNone; }
  /// Product of the extents; 1 for rank 0.
  std::int64_t element_count() const { return element_count_; }
  /// Elements between neighbours along each dimension in row-major order.
  std::vector<std::int64_t> row_major_strides() const;
  /// "[2, 3]".
  std::string to_string() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.extents_ == b.extents_ || a.extents() == b.extents();
  }

 private:
  inline static const std::vector<std::int64_t> kNone{};

  std::shared_ptr<const std::vector<std::int64_t>> extents_;  // null for rank 0
  std::int64_t element_count_ = 1;
};

/// "[2, 3]" for any list of integers.
std::string bracketed(std::span<const std::int64_t> values);

/// Advances `index` to the next one in row-major order within `extents`; false after the last.
bool next_index(std::vector<std::int64_t>& index, std::span<const std::int64_t> extents);

}  // namespace eindb
