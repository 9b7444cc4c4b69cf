#include "executor/kernels/cell_panel.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "executor/kernels/strided_copy.hpp"

namespace eindb {
namespace {

std::optional<std::size_t> dimension_of(const Labels& labels, Label label) {
  const auto at = std::find(labels.begin(), labels.end(), label);
  return at == labels.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - labels.begin()));
}

void move_behind(Labels& labels, std::size_t dimension) {
  std::rotate(labels.begin() + static_cast<std::ptrdiff_t>(dimension),
              labels.begin() + static_cast<std::ptrdiff_t>(dimension) + 1, labels.end());
}

// The extents of a tile with one dimension behind the others, of `width` indices.
std::vector<std::int64_t> panel_extents(const Shape& shape, std::size_t dimension, std::int64_t width) {
  auto extents = shape.extents();
  extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(dimension));
  extents.push_back(width);
  return extents;
}

// The strides of the tile itself in that order of dimensions.
std::vector<std::int64_t> strides_behind(const Shape& shape, std::size_t dimension) {
  auto strides = shape.row_major_strides();
  std::rotate(strides.begin() + static_cast<std::ptrdiff_t>(dimension),
              strides.begin() + static_cast<std::ptrdiff_t>(dimension) + 1, strides.end());
  return strides;
}

std::size_t offset_of(const Tile& tile, std::int64_t stride, std::int64_t from) {
  return static_cast<std::size_t>(stride * from) * size_of(tile.dtype());
}

}  // namespace

std::optional<CellPanel> CellPanel::of(const EinSum& einsum, const std::vector<bool>& of_cells) {
  const auto is_of_cells = [&](Label label) {
    for (std::size_t n = 0; n < of_cells.size(); ++n)
      if (of_cells[n] && contains(einsum.inputs[n], label)) return true;
    return false;
  };
  std::optional<Label> found;
  for (const auto label : einsum.labels()) {
    if (is_of_cells(label)) continue;
    bool is_in_dense = false;
    bool is_last = true;
    for (const auto& input : einsum.inputs) {
      const auto uses = std::count(input.begin(), input.end(), label);
      if (uses > 1) return std::nullopt;
      is_in_dense = is_in_dense || uses == 1;
      is_last = is_last && (uses == 0 || input.back() == label);
    }
    if (!is_in_dense) continue;
    if (is_last) return std::nullopt;  // there is a run already
    if (!found) found = label;
  }
  return found ? std::optional(CellPanel(einsum, of_cells, *found)) : std::nullopt;
}

CellPanel::CellPanel(const EinSum& einsum, const std::vector<bool>& of_cells, Label label) : panel_(einsum) {
  const auto labels = einsum.labels();
  place_ = dimension_of(labels, label).value();
  for (std::size_t n = 0; n < of_cells.size(); ++n) {
    operand_dimension_.push_back(dimension_of(einsum.inputs[n], label));
    if (has_operand(n)) move_behind(panel_.inputs[n], *operand_dimension_[n]);
  }
  result_dimension_ = dimension_of(einsum.output, label);
  if (result_dimension_) move_behind(panel_.output, *result_dimension_);
  for (const auto each : panel_.labels()) places_.push_back(dimension_of(labels, each).value());
}

bool CellPanel::pays(std::span<const Tile* const> operands, const Shape& result, std::int64_t cells) const {
  constexpr std::int64_t kLeastWidth = 4;
  constexpr std::int64_t kStepsPerCopy = 2;
  std::int64_t copied = 0;
  std::int64_t width = 0;
  for (std::size_t n = 0; n < operands.size(); ++n) {
    if (!has_operand(n)) continue;
    width = operands[n]->shape()[*operand_dimension_[n]];
    if (width < kLeastWidth) return false;
    copied += operands[n]->shape().element_count() / width;
  }
  if (result_dimension_) copied += result.element_count() / width;
  return cells / kStepsPerCopy >= copied;
}

std::size_t CellPanel::workspace_bytes(std::span<const Tile* const> operands, const Shape& result,
                                       DType compute) const {
  std::size_t bytes = 0;
  const auto add = [&](const Shape& shape, std::size_t dimension, DType type) {
    const auto extent = shape[dimension];
    if (extent == 0) return;
    bytes += static_cast<std::size_t>(shape.element_count() / extent * std::min(extent, kWidth)) * size_of(type);
  };
  for (std::size_t n = 0; n < operands.size(); ++n)
    if (has_operand(n)) add(operands[n]->shape(), *operand_dimension_[n], operands[n]->dtype());
  if (result_dimension_) add(result, *result_dimension_, compute);
  return bytes;
}

std::vector<PartRange> CellPanel::ranges(std::span<const PartRange> whole, std::int64_t from,
                                         std::int64_t width) const {
  std::vector<PartRange> ranges;
  for (const auto place : places_)
    ranges.push_back(place == place_ ? PartRange{whole[place].begin + from, width} : whole[place]);
  return ranges;
}

Tile CellPanel::operand(std::size_t n, const Tile& tile, std::int64_t from, std::int64_t width) const {
  const auto dimension = operand_dimension_[n].value();
  const auto extents = panel_extents(tile.shape(), dimension, width);
  auto panel = Tile::uninitialized(tile.dtype(), Shape(extents));
  const auto strides = strides_behind(tile.shape(), dimension);
  copy_strided({panel.dtype(), panel.mutable_bytes().data(), panel.shape().row_major_strides()},
               {tile.dtype(), tile.bytes().data() + offset_of(tile, strides.back(), from), strides}, extents);
  return panel;
}

Tile CellPanel::result(const Tile& accumulator, std::int64_t width) const {
  return Tile::uninitialized(accumulator.dtype(),
                             Shape(panel_extents(accumulator.shape(), result_dimension_.value(), width)));
}

void CellPanel::read_result(Tile& panel, const Tile& accumulator, std::int64_t from) const {
  const auto strides = strides_behind(accumulator.shape(), result_dimension_.value());
  copy_strided(
      {panel.dtype(), panel.mutable_bytes().data(), panel.shape().row_major_strides()},
      {accumulator.dtype(), accumulator.bytes().data() + offset_of(accumulator, strides.back(), from), strides},
      panel.shape().extents());
}

void CellPanel::write_result(const Tile& panel, Tile& accumulator, std::int64_t from) const {
  const auto strides = strides_behind(accumulator.shape(), result_dimension_.value());
  copy_strided(
      {accumulator.dtype(), accumulator.mutable_bytes().data() + offset_of(accumulator, strides.back(), from), strides},
      {panel.dtype(), panel.bytes().data(), panel.shape().row_major_strides()}, panel.shape().extents());
}

}  // namespace eindb
