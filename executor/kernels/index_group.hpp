#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace eindb {

/// One label of a group, or several nested ones: the number of indices, and the strides in the two tensors that have
/// it.
struct GroupLoop {
  std::int64_t extent = 1;
  std::int64_t first = 0;
  std::int64_t second = 0;

  friend bool operator==(const GroupLoop&, const GroupLoop&) = default;
};

/// The labels of a matrix product that form one dimension of its matrices (rows, columns or contracted), outermost
/// first in the order of their indices. Empty: a dimension of one index.
using IndexGroup = std::vector<GroupLoop>;

/// Sorts by falling stride in one of the tensors, and merges loops that nest in both.
/// Example: (extent 4, strides 5 | 50) and (5, 1 | 10) are one loop of (20, 1 | 10).
IndexGroup sorted_by_first(IndexGroup group);
IndexGroup sorted_by_second(IndexGroup group);
std::int64_t count_of(const IndexGroup& group);

/// The position of the loop with stride 1 in the first or second tensor; -1 if there is none.
int contiguous_in_first(const IndexGroup& group);
int contiguous_in_second(const IndexGroup& group);

/// The sides of the boxes that a group is processed in: at most `limit` indices per box, and boxes as equal as
/// possible. The loops `important` get long sides first, so that a box has runs along each of them; two such loops
/// share the limit. Next come loops that lengthen the runs, beginning with the tensor that has the shorter runs. The
/// innermost side is a multiple of `multiple`, if it is cut at all.
///
/// Example: k = (d 100, e 100), contiguous in one operand along d and in the other along e, at most 256 indices: boxes
/// of 15 x 17, rather than 2 x 100, which would read d in runs of two elements.
std::vector<std::int64_t> box_sides(const IndexGroup& group, std::int64_t limit, std::int64_t multiple,
                                    std::span<const int> important);

/// Iterates over the boxes of a group and lists the offsets of their indices. The caller provides memory for offsets,
/// room() elements per list.
class GroupBoxes {
 public:
  GroupBoxes(const IndexGroup& group, std::vector<std::int64_t> sides);

  std::int64_t room() const { return room_; }
  std::int64_t box_count() const { return box_count_; }
  /// Makes box `number` the current one.
  void go_to(std::int64_t number);
  /// The number of indices in the current box; extents() has the number along each loop.
  std::int64_t count() const { return count_; }
  std::span<const std::int64_t> extents() const { return extents_; }
  /// Offsets of the current box's indices in the two tensors, relative to the group's first index.
  void list_first(std::int64_t* offsets) const { list(offsets, &GroupLoop::first); }
  void list_second(std::int64_t* offsets) const { list(offsets, &GroupLoop::second); }
  /// The offsets of the current box's first index.
  std::int64_t begin_in_first() const { return begin_in(&GroupLoop::first); }
  std::int64_t begin_in_second() const { return begin_in(&GroupLoop::second); }
  /// The indices of the current box in the order of their addresses in the first or second tensor. `outer_only`: only
  /// the indices at which the innermost loop is at its begin. Returns their number.
  std::int64_t order_by_first(std::int64_t* order, bool outer_only = false) const {
    return order_by(order, &GroupLoop::first, outer_only);
  }
  std::int64_t order_by_second(std::int64_t* order, bool outer_only = false) const {
    return order_by(order, &GroupLoop::second, outer_only);
  }

 private:
  std::int64_t begin_in(std::int64_t GroupLoop::*stride) const;
  void list(std::int64_t* offsets, std::int64_t GroupLoop::*stride) const;
  std::int64_t order_by(std::int64_t* order, std::int64_t GroupLoop::*stride, bool outer_only) const;

  const IndexGroup& group_;
  std::vector<std::int64_t> sides_;
  std::vector<std::int64_t> begins_;
  std::vector<std::int64_t> extents_;
  std::int64_t room_ = 1;
  std::int64_t box_count_ = 1;
  std::int64_t count_ = 1;
};

}  // namespace eindb
