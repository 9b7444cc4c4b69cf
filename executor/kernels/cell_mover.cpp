#include "executor/kernels/cell_mover.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/check.hpp"
#include "common/poll_steps.hpp"

namespace eindb {

CellMover::CellMover(CellMove move, const EinSum& einsum) : move_(std::move(move)) {
  const auto all = einsum.labels();
  const auto place_among_all = [&](Label label) {
    const auto place = static_cast<std::size_t>(std::find(all.begin(), all.end(), label) - all.begin());
    CHECK(place < all.size(), "a label of a move has a place");
    return place;
  };
  for (const auto label : einsum.output) output_.push_back(place_among_all(label));
  for (const auto label : einsum.inputs[move_.source]) source_.push_back(place_among_all(label));
  std::vector<bool> is_told(all.size(), false);
  for (const auto& turn : move_.turns) {
    if (turn.indices) {
      gathered_ = place_among_all(*turn.label);
      gathered_dimension_ = turn.dimension;
      continue;
    }
    Step step{turn.dimension, source_[turn.dimension], kNone, turn.coefficient, turn.offset, false};
    if (turn.label) {
      step.label = place_among_all(*turn.label);
      step.tells = !is_told[step.label];
      is_told[step.label] = true;
    }
    steps_.push_back(step);
  }
}

// The cells of one call, as they find their places.
class CellMover::Call {
 public:
  Call(const CellMover& mover, std::span<const Tile* const> operands, std::span<const PartRange> ranges)
      : mover_(mover),
        ranges_(ranges),
        source_(operands[mover.move_.source]->cells()),
        value_bytes_(size_of(source_.dtype())),
        strides_(ranges.size(), 0),
        indices_(ranges.size(), 0),
        coordinates_(source_.shape().rank(), 0) {
    std::vector<std::int64_t> extents;
    for (const auto place : mover.output_) extents.push_back(ranges[place].size);
    shape_ = Shape(std::move(extents));
    const auto row_major = shape_.row_major_strides();
    for (std::size_t d = 0; d < mover.output_.size(); ++d) strides_[mover.output_[d]] = row_major[d];
    if (mover.gathers()) list_readers(operands);
  }

  CellBlock make() {
    const auto& trie = source_.trie();
    visit(trie, 0, 0, trie.levels.empty() ? 0 : static_cast<std::int64_t>(trie.levels.front().coordinates.size()));
    sort_cells(numbers_, values_, value_bytes_);
    return CellBlock::of_numbers(source_.dtype(), shape_, numbers_, std::move(values_));
  }

 private:
  // The indices of the gathered label by the index that they read, ascending.
  void list_readers(std::span<const Tile* const> operands) {
    const auto turn = std::find_if(mover_.move_.turns.begin(), mover_.move_.turns.end(),
                                   [](const auto& of_one) { return of_one.indices.has_value(); });
    const auto& tile = *operands[*turn->indices];
    const auto* elements = tile.data<std::int64_t>();
    for (std::int64_t i = 0; i < tile.shape().element_count(); ++i) readers_.emplace_back(elements[i], i);
    std::sort(readers_.begin(), readers_.end());
  }

  void visit(const CellTrie& trie, std::size_t level, std::int64_t begin, std::int64_t end) {
    const auto dimension = trie.order[level];
    const auto& nodes = trie.levels[level];
    const bool is_last = level + 1 == trie.levels.size();
    poll_cancellation_after(static_cast<std::size_t>(end - begin));
    for (auto node = begin; node < end; ++node) {
      coordinates_[dimension] =
          ranges_[mover_.source_[dimension]].begin + nodes.coordinates[static_cast<std::size_t>(node)];
      if (!may_be_read(dimension)) continue;
      if (is_last) place(node);
      else
        visit(trie, level + 1, nodes.begins[static_cast<std::size_t>(node)],
              nodes.begins[static_cast<std::size_t>(node) + 1]);
    }
  }

  // Whether some index of the result reads this index of the dimension; tells it where there is one alone.
  bool may_be_read(std::size_t dimension) {
    for (const auto& step : mover_.steps_) {
      if (step.dimension != dimension) continue;
      const auto from_offset = coordinates_[dimension] - step.offset;
      if (step.label == kNone) return from_offset == 0;
      if (from_offset % step.coefficient != 0) return false;
      const auto index = from_offset / step.coefficient - ranges_[step.label].begin;
      if (index < 0 || index >= ranges_[step.label].size) return false;
      if (step.tells) indices_[step.label] = index;
      return true;
    }
    return true;
  }

  // All conditions are looked at once the cell's coordinates are known: a label may be told after its condition.
  bool meets_conditions() const {
    return std::all_of(mover_.steps_.begin(), mover_.steps_.end(), [&](const Step& step) {
      if (step.tells || step.label == kNone) return true;
      return coordinates_[step.dimension] - step.offset ==
             step.coefficient * (indices_[step.label] + ranges_[step.label].begin);
    });
  }

  void place(std::int64_t cell) {
    if (!meets_conditions()) return;
    std::int64_t number = 0;
    for (const auto place_of_label : mover_.output_) number += indices_[place_of_label] * strides_[place_of_label];
    if (!mover_.gathers()) return add(number, cell);
    number -= indices_[mover_.gathered_] * strides_[mover_.gathered_];
    const auto index = coordinates_[mover_.gathered_dimension_];
    for (auto reader = std::lower_bound(readers_.begin(), readers_.end(), std::pair(index, std::int64_t{0}));
         reader != readers_.end() && reader->first == index; ++reader)
      add(number + reader->second * strides_[mover_.gathered_], cell);
  }

  void add(std::int64_t number, std::int64_t cell) {
    numbers_.push_back(number);
    const auto* value = source_.trie().values.data() + static_cast<std::size_t>(cell) * value_bytes_;
    values_.insert(values_.end(), value, value + value_bytes_);
  }

  const CellMover& mover_;
  std::span<const PartRange> ranges_;
  const CellBlock& source_;
  std::size_t value_bytes_;
  Shape shape_;
  std::vector<std::int64_t> strides_;      // in the result, by label
  std::vector<std::int64_t> indices_;      // of the current cell, by label, in its range
  std::vector<std::int64_t> coordinates_;  // in the whole operand
  std::vector<std::pair<std::int64_t, std::int64_t>> readers_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::byte> values_;
};

CellBlock CellMover::make_cells(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges) const {
  return Call(*this, operands, label_ranges).make();
}

std::size_t CellMover::workspace_bytes(std::span<const Tile* const> operands) const {
  // The numbers and values of the cells, and their sorted copies.
  auto cells = static_cast<std::size_t>(operands[move_.source]->cells().count());
  std::size_t indices = 0;
  for (const auto& turn : move_.turns)
    if (turn.indices) indices = static_cast<std::size_t>(operands[*turn.indices]->shape().element_count());
  if (gathers()) cells += indices;
  return cells * 3 * (sizeof(std::int64_t) + size_of(operands[move_.source]->dtype())) +
         indices * 2 * sizeof(std::int64_t);
}

}  // namespace eindb
