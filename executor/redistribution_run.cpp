#include "executor/redistribution_run.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "executor/block_copy.hpp"

namespace eindb {
namespace {

bool has_member(const RankGroup& group, Rank rank) {
  return std::find(group.begin(), group.end(), rank) != group.end();
}

// One step of a plan on one rank.
class StepRun {
 public:
  StepRun(const RedistributionPlan& plan, std::size_t step, DType dtype, std::optional<Tile> block, Exchange& exchange)
      : shape_(plan.shape),
        before_(plan.before(step)),
        after_(plan.steps[step].result),
        dtype_(dtype),
        exchange_(exchange),
        rank_(exchange.rank()),
        block_(std::move(block)) {
    CHECK(rank_ < before_.at.size() && rank_ < after_.at.size(), "a placement says of each rank what it holds");
    CHECK(block_.has_value() == before_.at[rank_].has_value(), "a rank has the block that the plan says it holds");
    if (block_) old_box_ = block_box(shape_, before_, rank_);
    if (after_.at[rank_]) new_box_ = block_box(shape_, after_, rank_);
    CHECK(!block_ || block_->shape() == shape_of(old_box_), "a rank's block has the extents that the plan says");
  }

  std::optional<Tile> run(const DynSlice&) {
    if (!block_) return std::nullopt;
    auto out = new_tile();
    copy_part(target(out), source(), new_box_, dtype_);
    return out;
  }

  // Pieces are whole blocks, and arrive in the order of their positions in the new block.
  std::optional<Tile> run(const AllGather& collective) {
    if (!block_) return std::nullopt;
    const auto& group = group_of(collective.groups);
    auto out = new_tile();
    const auto mine = packed({old_box_}, old_box_, block_->bytes());
    const auto boxes = boxes_of(group, before_);
    receive(out, boxes, [&](std::span<std::byte> all) { exchange_.all_gather(group, mine.bytes, all); });
    return out;
  }

  // Each member gets the intersection of this rank's old block with its new one, and sends that of its old block with
  // this rank's new one.
  std::optional<Tile> run(const AllToAll& collective) {
    if (!block_) return std::nullopt;
    const auto& group = group_of(collective.groups);
    auto out = new_tile();
    auto outgoing = boxes_of(group, after_);
    for (auto& box : outgoing) box = common_box(box, old_box_);
    auto incoming = boxes_of(group, before_);
    for (auto& box : incoming) box = common_box(box, new_box_);
    const auto pieces = packed(outgoing, old_box_, block_->bytes());
    receive(out, incoming, [&](std::span<std::byte> in) { exchange_.all_to_all(group, pieces.bytes, in); });
    return out;
  }

  // A rank that keeps its block exchanges nothing.
  std::optional<Tile> run(const AllPermute& collective) {
    const auto from = collective.from[rank_];
    const auto found = std::find(collective.from.begin(), collective.from.end(), rank_);
    CHECK(found != collective.from.end(), "a permutation takes the block of each rank to one rank");
    const auto to = static_cast<Rank>(found - collective.from.begin());
    if (from == rank_) {
      exchange_.permute(to, from, {}, {});
      return std::move(block_);
    }
    CHECK(block_.has_value(), "a rank that takes part in a permutation has a block to give");
    auto out = new_tile();
    exchange_.permute(to, from, block_->bytes(), out.mutable_bytes());
    return out;
  }

 private:
  // Pieces of equal size, one per member, in place in a block or packed.
  struct Pieces {
    std::span<const std::byte> bytes;
    std::optional<Tile> packed = std::nullopt;
  };

  Tile new_tile() const {
    CHECK(after_.at[rank_].has_value(), "a rank makes the block that the plan says it gets");
    return Tile::uninitialized(dtype_, shape_of(new_box_));
  }
  BoxSource source() const { return {old_box_, block_ ? block_->bytes() : std::span<const std::byte>{}}; }
  BoxTarget target(Tile& tile) const { return {new_box_, tile.mutable_bytes()}; }

  const RankGroup& group_of(const std::vector<RankGroup>& groups) const {
    const auto found =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return has_member(group, rank_); });
    CHECK(found != groups.end(), "every rank with a block is in a group");
    return *found;
  }

  std::vector<IndexBox> boxes_of(const RankGroup& group, const BlockPlacement& placement) const {
    std::vector<IndexBox> boxes;
    for (const auto rank : group) boxes.push_back(block_box(shape_, placement, rank));
    return boxes;
  }

  // The bytes of the largest piece, to which all pieces are padded.
  std::size_t slot_bytes() const {
    return static_cast<std::size_t>(padded_piece(shape_, before_.parts, after_.parts)) * size_of(dtype_);
  }

  // Memory for this many pieces. It is tile memory, whose pages are already mapped: mapping fresh pages takes longer
  // than the copies.
  Tile new_slots(std::size_t count) const {
    const auto elements = static_cast<std::int64_t>(count * slot_bytes() / size_of(dtype_));
    return Tile::uninitialized(dtype_, Shape({elements}));
  }

  // Whether the pieces are contiguous in the block in the order of transfer, without gaps or padding.
  bool lie_in_slots(const std::vector<IndexBox>& pieces, const IndexBox& box) const {
    const auto slot = slot_bytes() / size_of(dtype_);
    for (std::size_t n = 0; n < pieces.size(); ++n) {
      if (static_cast<std::size_t>(element_count(pieces[n])) != slot || !is_contiguous(box, pieces[n]) ||
          static_cast<std::size_t>(offset_in(box, pieces[n])) != n * slot)
        return false;
    }
    return true;
  }

  Pieces packed(const std::vector<IndexBox>& pieces, const IndexBox& box, std::span<const std::byte> bytes) const {
    if (lie_in_slots(pieces, box)) return {bytes};
    const auto slot = slot_bytes();
    auto slots = new_slots(pieces.size());
    for (std::size_t n = 0; n < pieces.size(); ++n) {
      const auto piece = slots.mutable_bytes().subspan(n * slot, slot);
      const auto used = static_cast<std::size_t>(element_count(pieces[n])) * size_of(dtype_);
      CHECK(used <= slot, "the largest piece fits its slot");
      copy_part({pieces[n], piece}, {box, bytes}, pieces[n], dtype_);
      std::fill(piece.begin() + static_cast<std::ptrdiff_t>(used), piece.end(), std::byte{0});
    }
    const std::span<const std::byte> sent = slots.bytes();
    return {sent, std::move(slots)};
  }

  template <class F>
  void receive(Tile& tile, const std::vector<IndexBox>& pieces, const F& exchange) const {
    if (lie_in_slots(pieces, new_box_)) return exchange(tile.mutable_bytes());
    const auto slot = slot_bytes();
    auto slots = new_slots(pieces.size());
    exchange(slots.mutable_bytes());
    for (std::size_t n = 0; n < pieces.size(); ++n)
      copy_part(target(tile), {pieces[n], slots.bytes().subspan(n * slot, slot)}, pieces[n], dtype_);
  }

  const Shape& shape_;
  const BlockPlacement& before_;
  const BlockPlacement& after_;
  const DType dtype_;
  Exchange& exchange_;
  const Rank rank_;
  std::optional<Tile> block_;
  IndexBox old_box_;
  IndexBox new_box_;
};

}  // namespace

std::optional<Tile> run_redistribution(const RedistributionPlan& plan, DType dtype, std::optional<Tile> block,
                                       Exchange& exchange) {
  for (std::size_t n = 0; n < plan.steps.size(); ++n) {
    StepRun step(plan, n, dtype, std::move(block), exchange);
    block = std::visit([&](const auto& collective) { return step.run(collective); }, plan.steps[n].collective);
  }
  return block;
}

}  // namespace eindb
