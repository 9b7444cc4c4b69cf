#include "executor/join_operator.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/kernels/tile_operations.hpp"
#include "executor/sliced_result.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kEpilogueElements = 8192;  // a strip that fits the fast caches

// The epilogue as an EinSum over a strip of the aggregated tile.
std::optional<Kernel> epilogue_of(const JoinNode& join) {
  if (join.einsum.epilogue == nullptr) return std::nullopt;
  LabelTable labels;
  const Labels strip{labels.add("element", kEpilogueElements)};
  const EinSum einsum{.inputs = {strip},
                      .output = strip,
                      .aggregated = {},
                      .expression = join.einsum.epilogue,
                      .aggregate = Aggregate::None};
  return Kernel(einsum, labels, {join.compute_dtype}, join.compute_dtype, join.compute_dtype);
}

// Whether some absent operand, or all of them, can make a call needless, others being harmless.
bool can_be_needless(const JoinNode& join) {
  const auto inputs = join.einsum.inputs.size();
  std::vector<OperandFacts> facts(inputs, OperandFacts{.zero = true});
  if (changes_nothing(join.einsum, facts, join.compute_dtype)) return true;
  for (std::size_t n = 0; n < inputs; ++n) {
    facts.assign(inputs, {});
    facts[n].zero = true;
    if (changes_nothing(join.einsum, facts, join.compute_dtype)) return true;
  }
  return false;
}

bool keeps_zero(const JoinNode& join) {
  const OperandFacts aggregated{.zero = true};
  return join.einsum.epilogue == nullptr ||
         zero_of(*join.einsum.epilogue, std::span(&aggregated, 1), join.compute_dtype) == Zero::Plus;
}

// The kernel of a join with steps. Nothing but its rows is cut, so that each of its calls is the only one of its group.
std::optional<FusedKernel> fused_kernel_of(const JoinNode& join, const LabelTable& labels,
                                           const std::vector<DType>& input_types) {
  if (join.steps.empty()) return std::nullopt;
  std::vector<FusedStep> steps;
  for (const auto& step : join.steps) steps.push_back({step.einsum, step.inputs, step.compute_dtype});
  return FusedKernel(std::move(steps), join.partition.labels, join.rows, join.einsum.inputs, input_types, labels);
}

}  // namespace

JoinOperator::JoinOperator(const JoinNode& join, const LabelTable& labels, const TileGrid& grid, DType result_type,
                           const std::vector<DType>& input_types, const std::vector<const TileGrid*>& input_grids)
    : join_(join),
      grid_(grid),
      result_type_(result_type),
      kernel_(join.einsum, labels, input_types, join.compute_dtype, result_type),
      extents_(labels.extents(join.partition.labels)),
      may_skip_(can_be_needless(join)),
      zero_stays_zero_(keeps_zero(join)),
      fused_(fused_kernel_of(join, labels, input_types)),
      epilogue_(epilogue_of(join)) {
  CHECK(join.partition.labels == join.einsum.labels(), "a partition vector lists the labels in the EinSum's order");
  const auto axis_of = [&](Label label) {
    const auto& output = join.einsum.output;
    const auto& aggregated = join.einsum.aggregated;
    const auto place = std::find(output.begin(), output.end(), label);
    if (place != output.end()) return static_cast<std::size_t>(place - output.begin());
    return output.size() +
           static_cast<std::size_t>(std::find(aggregated.begin(), aggregated.end(), label) - aggregated.begin());
  };
  for (const auto label : join.partition.labels) axis_of_label_.push_back(axis_of(label));
  for (std::size_t n = 0; n < join.inputs.size(); ++n) {
    OperandPlaces places;
    for (const auto label : join.einsum.inputs[n]) places.axes.push_back(axis_of(label));
    const auto& parts = input_grids[n]->partition();
    places.strides.assign(parts.size(), 1);
    for (std::size_t d = parts.size(); d-- > 1;) places.strides[d - 1] = places.strides[d] * parts[d];
    operands_.push_back(std::move(places));
  }
  workspace_bytes_ = find_workspace_bytes();
}

// Of the largest call.
std::int64_t JoinOperator::find_workspace_bytes() const {
  std::vector<std::int64_t> sizes;
  for (std::size_t n = 0; n < extents_.size(); ++n)
    sizes.push_back(largest_part(extents_[n], join_.partition.parts[n]));
  if (std::any_of(sizes.begin(), sizes.end(), [](auto size) { return size == 0; })) return 0;
  return static_cast<std::int64_t>(fused_ ? fused_->workspace_bytes(sizes) : kernel_.workspace_bytes(sizes));
}

// The thread's memory itself comes with the kernel that needs it.
void JoinOperator::take_workspace(const std::shared_ptr<MemoryBudget>& memory, Buffers& buffers) const {
  if (workspace_bytes_ == 0) return;
  if (!buffers.workspace) buffers.workspace.emplace(memory, workspace_bytes_);
  else buffers.workspace->raise_to(workspace_bytes_);
}

std::optional<std::int64_t> JoinOperator::call(const Inputs& inputs, std::span<const std::int64_t> key,
                                               Partial& partial, const std::shared_ptr<MemoryBudget>& memory,
                                               Buffers& buffers) const {
  find_tiles(key, buffers.tiles);
  if (is_needless(inputs, buffers.tiles)) return std::nullopt;
  struct LetGo {
    std::vector<TilePtr>& tiles;
    ~LetGo() { tiles.clear(); }
  } const let_go{buffers.held};
  buffers.operands.clear();
  std::int64_t elements = 0;
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    buffers.held.push_back(inputs[n]->dense_tile(buffers.tiles[n]));
    buffers.operands.push_back(buffers.held.back().get());
    elements += buffers.operands.back()->shape().element_count();
  }
  take_workspace(memory, buffers);
  // Last: what has room for nothing else has accumulated nothing.
  const bool first = !partial.has_value();
  if (first) {
    std::vector<std::int64_t> extents;
    for (std::size_t d = 0; d < grid_.rank(); ++d) extents.push_back(grid_.range(d, key[d]).size);
    partial.emplace(accumulator_of(Shape(std::move(extents)), memory));
  }
  find_ranges(key, buffers.ranges);
  if (fused_) fused_->run(buffers.operands, buffers.ranges, partial->tile);
  else kernel_.run(buffers.operands, buffers.ranges, partial->tile, first);
  return elements;
}

void JoinOperator::combine(Partial& into, Partial from) const {
  if (!from) return;
  if (into) eindb::combine(join_.einsum.aggregate, into->tile, from->tile);
  else into.emplace(std::move(*from));
}

TilePtr JoinOperator::finish(Partial aggregated, std::int64_t tile_id,
                             const std::shared_ptr<MemoryBudget>& memory) const {
  auto partial = aggregated ? std::move(aggregated) : nothing_aggregated(tile_id, memory);
  if (!partial) return nullptr;
  apply_epilogue(partial->tile);
  return finished(std::move(*partial), result_type_, *memory);
}

CountedTile JoinOperator::accumulator_of(Shape shape, const std::shared_ptr<MemoryBudget>& memory) const {
  const auto bytes = checked_multiply(shape.element_count(), static_cast<std::int64_t>(size_of(join_.compute_dtype)));
  MemoryReservation reservation(memory, bytes);
  return {std::move(reservation), Tile::uninitialized(join_.compute_dtype, std::move(shape))};
}

JoinOperator::Partial JoinOperator::nothing_aggregated(std::int64_t tile_id,
                                                       const std::shared_ptr<MemoryBudget>& memory) const {
  if (zero_stays_zero_) return std::nullopt;
  auto zeros = accumulator_of(grid_.tile_shape(grid_.key_of(tile_id)), memory);
  const auto bytes = zeros.tile.mutable_bytes();
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  return zeros;
}

void JoinOperator::find_tiles(std::span<const std::int64_t> key, std::vector<std::int64_t>& tiles) const {
  tiles.clear();
  for (const auto& places : operands_) {
    std::int64_t id = 0;
    for (std::size_t d = 0; d < places.axes.size(); ++d) id += key[places.axes[d]] * places.strides[d];
    tiles.push_back(id);
  }
}

void JoinOperator::find_ranges(std::span<const std::int64_t> key, std::vector<PartRange>& ranges) const {
  ranges.clear();
  for (std::size_t n = 0; n < extents_.size(); ++n)
    ranges.push_back(part_range(extents_[n], join_.partition.parts[n], key[axis_of_label_[n]]));
}

// A pass over the other operands' values is made only where it can make the call needless.
bool JoinOperator::is_needless(const Inputs& inputs, const std::vector<std::int64_t>& tiles) const {
  if (!may_skip_) return false;
  std::vector<OperandFacts> facts;
  bool some_absent = false;
  for (const bool with_magnitude : {false, true}) {
    facts.clear();
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      facts.push_back(inputs[n]->facts(tiles[n], with_magnitude));
      some_absent = some_absent || facts.back().zero;
    }
    if (!some_absent || !changes_nothing(join_.einsum, facts, join_.compute_dtype)) return false;
  }
  return true;
}

// Strip by strip, so that a tile needs no other one of its size.
void JoinOperator::apply_epilogue(Tile& tile) const {
  if (!epilogue_) return;
  const auto count = tile.shape().element_count();
  const auto element_size = static_cast<std::int64_t>(size_of(tile.dtype()));
  for (std::int64_t begin = 0; begin < count; begin += kEpilogueElements) {
    const PartRange range{0, std::min(kEpilogueElements, count - begin)};
    auto* values = tile.mutable_bytes().data() + begin * element_size;
    const auto aggregated = Tile::borrow(tile.dtype(), Shape({range.size}), values);
    auto strip = Tile::uninitialized(tile.dtype(), Shape({range.size}));
    const Tile* operand = aggregated.get();
    epilogue_->run(std::span(&operand, 1), std::span(&range, 1), strip, true);
    std::copy(strip.bytes().begin(), strip.bytes().end(), values);
  }
}

}  // namespace eindb
