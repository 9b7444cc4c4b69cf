#include "plan/redistribution_validator.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

// Checks one step, given the blocks before and after it.
class StepValidator {
 public:
  StepValidator(const RedistributionPlan& plan, std::size_t step)
      : shape_(plan.shape), before_(plan.before(step)), after_(plan.steps[step].result), ranks_(before_.at.size()) {}

  void check(const DynSlice&) const {
    check_same_holders();
    for (std::size_t rank = 0; rank < ranks_; ++rank)
      if (after_.at[rank])
        CHECK(overlap(rank, rank) == elements_after(rank), "a dynslice keeps a part of what a rank holds");
  }

  // Members are in the order of their blocks before; afterwards each holds all of these blocks.
  void check(const AllGather& collective) const {
    check_groups(collective.groups, before_);
    for (const auto& group : collective.groups) {
      for (const auto rank : group)
        CHECK(after_.at[rank] == after_.at[group.front()], "members of an allgather hold the same afterwards");
      for (const auto rank : group)
        CHECK(overlap(rank, rank) == elements_before(rank), "a member's block is a part of what is gathered");
      check_covered(group.front(), group);
    }
  }

  // Members are in the order of their blocks after; each of these consists of parts of all blocks before.
  void check(const AllToAll& collective) const {
    check_groups(collective.groups, after_);
    for (const auto& group : collective.groups)
      for (const auto rank : group) check_covered(rank, group);
  }

  void check(const AllPermute& collective) const {
    check_same_holders();
    CHECK(before_.parts == after_.parts && collective.from.size() == ranks_, "a permutation keeps blocks whole");
    std::vector<bool> sent(ranks_, false);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const auto from = collective.from[rank];
      CHECK(from < ranks_ && !sent[from], "a permutation takes the block of each rank once");
      sent[from] = true;
      CHECK(after_.at[rank] == before_.at[from], "a rank has the block that a permutation gives it");
      CHECK(before_.at[rank] || from == rank, "ranks without a block stand for themselves");
    }
  }

 private:
  void check_same_holders() const {
    for (std::size_t rank = 0; rank < ranks_; ++rank)
      CHECK(before_.at[rank].has_value() == after_.at[rank].has_value(), "a collective keeps who holds blocks");
  }

  // Groups must have equal size and contain every rank with a block exactly once, members in the order of distinct
  // blocks.
  void check_groups(const std::vector<RankGroup>& groups, const BlockPlacement& order) const {
    check_same_holders();
    std::vector<bool> seen(ranks_, false);
    for (const auto& group : groups) {
      CHECK(!group.empty() && group.size() == groups.front().size(), "groups have equally many members");
      for (std::size_t n = 0; n < group.size(); ++n) {
        CHECK(group[n] < ranks_ && before_.at[group[n]] && !seen[group[n]], "a rank with a block is in one group");
        seen[group[n]] = true;
        CHECK(n == 0 || *order.at[group[n - 1]] < *order.at[group[n]], "members stand in the order of their blocks");
      }
    }
    for (std::size_t rank = 0; rank < ranks_; ++rank)
      CHECK(seen[rank] == before_.at[rank].has_value(), "every rank with a block is in a group");
  }

  // The parts that `holders` have of the block of `rank` after the step must cover it without overlap: distinct blocks
  // of one grid are disjoint.
  void check_covered(std::size_t rank, const RankGroup& holders) const {
    std::vector<TileKey> keys;
    std::int64_t covered = 0;
    for (const auto holder : holders) {
      CHECK(holder < ranks_ && before_.at[holder], "who sends holds a block");
      keys.push_back(*before_.at[holder]);
      covered += overlap(holder, rank);
    }
    std::sort(keys.begin(), keys.end());
    CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end(), "nothing is sent twice");
    CHECK(covered == elements_after(rank), "a rank receives all of its block");
  }

  std::int64_t overlap(std::size_t holder, std::size_t rank) const {
    return element_count(common_box(block_box(shape_, before_, holder), block_box(shape_, after_, rank)));
  }
  std::int64_t elements_before(std::size_t rank) const { return element_count(block_box(shape_, before_, rank)); }
  std::int64_t elements_after(std::size_t rank) const { return element_count(block_box(shape_, after_, rank)); }

  const Shape& shape_;
  const BlockPlacement& before_;
  const BlockPlacement& after_;
  const std::size_t ranks_;
};

void check_placement(const Shape& shape, const BlockPlacement& placement, std::size_t ranks) {
  CHECK(placement.at.size() == ranks, "placements are of the same ranks");
  CHECK(placement.parts.size() == shape.rank(), "a grid has the dimensions of its tensor");
  for (std::size_t d = 0; d < shape.rank(); ++d)
    CHECK(placement.parts[d] >= 1 && placement.parts[d] <= std::max<std::int64_t>(1, shape[d]),
          "a grid fits its tensor");
  for (const auto& key : placement.at) {
    if (!key) continue;
    CHECK(key->size() == shape.rank(), "a key has the dimensions of its tensor");
    for (std::size_t d = 0; d < shape.rank(); ++d)
      CHECK((*key)[d] >= 0 && (*key)[d] < placement.parts[d], "a key lies in its grid");
  }
}

}  // namespace

void validate(const RedistributionPlan& plan) {
  check_placement(plan.shape, plan.source, plan.source.at.size());
  for (std::size_t n = 0; n < plan.steps.size(); ++n) {
    const auto& step = plan.steps[n];
    try {
      check_placement(plan.shape, step.result, plan.source.at.size());
      std::visit([&](const auto& collective) { StepValidator(plan, n).check(collective); }, step.collective);
    } catch (const Error& error) {
      throw Error(error.kind(), "step " + std::to_string(n) + ", " + collective_name(step) + ": " + error.message(),
                  error.span(), error.hint());
    }
  }
}

}  // namespace eindb
