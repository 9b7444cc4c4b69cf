#include "executor/join_operator.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "executor/kernels/tile_operations.hpp"
#include "executor/sliced_result.hpp"

namespace eindb {
namespace {

// Whether absent operands, some or all, can make a call needless, assuming that the others are harmless.
bool can_be_needless(const JoinNode& join, const std::vector<DType>& input_types) {
  const auto inputs = join.einsum.inputs.size();
  std::vector<OperandFacts> facts(inputs, OperandFacts{.zero = true});
  if (changes_nothing(join.einsum, facts, input_types)) return true;
  for (std::size_t n = 0; n < inputs; ++n) {
    facts.assign(inputs, {});
    facts[n].zero = true;
    if (changes_nothing(join.einsum, facts, input_types)) return true;
  }
  return false;
}

std::vector<DType> types_of(const std::vector<JoinInput>& inputs) {
  std::vector<DType> types;
  for (const auto& input : inputs) types.push_back(input.dtype);
  return types;
}

}  // namespace

FusedKernel fused_kernel_of(const JoinNode& join, const LabelTable& labels, const std::vector<DType>& input_types) {
  CHECK(!join.steps.empty(), "a fused join has steps");
  std::vector<FusedStep> steps;
  for (const auto& step : join.steps) steps.push_back({step.einsum, step.inputs, step.compute_dtype});
  return FusedKernel(std::move(steps), join.partition.labels, join.rows, join.einsum.inputs, input_types, labels);
}

JoinOperator::JoinOperator(const JoinNode& join, const LabelTable& labels, const TileGrid& grid, DType result_type,
                           const std::vector<JoinInput>& inputs, bool makes_cells)
    : join_(join),
      grid_(grid),
      result_type_(result_type),
      kernel_(join.einsum, labels, types_of(inputs), join.compute_dtype, result_type, preferred_level_table(),
              hold_bytes(inputs)),
      extents_(labels.extents(join.partition.labels)),
      input_types_(types_of(inputs)),
      makes_cells_(makes_cells),
      may_skip_(can_be_needless(join, input_types_)),
      epilogue_(join.einsum, join.compute_dtype) {
  for (const auto& input : inputs) may_be_encoded_.push_back(input.may_be_encoded);
  if (!join.steps.empty()) fused_.emplace(fused_kernel_of(join, labels, input_types_));
  if (std::any_of(inputs.begin(), inputs.end(), [](const auto& input) { return input.of_cells; })) {
    CHECK(join.steps.empty(), "a fused chain reads no cells");
    cells_.emplace(join, labels, inputs);
  }
  CHECK(join.partition.labels == join.einsum.labels(), "a partition vector lists the labels in the EinSum's order");
  CHECK(inputs.size() == join.inputs.size() && join.einsum.inputs.size() == join.inputs.size(),
        "a join knows the labels and the grid of every input");
  const auto axis_of = [&](Label label) {
    const auto& output = join.einsum.output;
    const auto& aggregated = join.einsum.aggregated;
    const auto place = std::find(output.begin(), output.end(), label);
    if (place != output.end()) return static_cast<std::size_t>(place - output.begin());
    return output.size() +
           static_cast<std::size_t>(std::find(aggregated.begin(), aggregated.end(), label) - aggregated.begin());
  };
  const auto axes = join.einsum.output.size() + join.einsum.aggregated.size();
  for (const auto label : join.partition.labels) {
    axis_of_label_.push_back(axis_of(label));
    CHECK(axis_of_label_.back() < axes, "a label of a join is in its output or aggregated");
  }
  const auto place_of = [&](Label label) {
    const auto& all = join.partition.labels;
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), label) - all.begin());
  };
  for (const auto& halo : join.halos) halos_.push_back({place_of(halo.label), place_of(halo.leader), halo.reach});
  for (std::size_t n = 0; n < join.inputs.size(); ++n) {
    OperandPlaces places;
    for (const auto label : join.cutting_labels(n)) places.axes.push_back(axis_of(label));
    const auto& parts = inputs[n].grid->partition();
    CHECK(places.axes.size() == parts.size(), "an input has a label per dimension");
    places.strides.assign(parts.size(), 1);
    for (std::size_t d = parts.size(); d-- > 1;) places.strides[d - 1] = places.strides[d] * parts[d];
    if (join.reads_parts_of(n)) {
      CHECK(!fused_ && !cells_ && !inputs[n].may_be_encoded, "tiles that are read in parts have plain values");
      places.in_parts = inputs[n].grid;
      for (const auto label : join.einsum.inputs[n]) places.labels.push_back(place_of(label));
    }
    operands_.push_back(std::move(places));
  }
  sorts_rows_ = !fused_ && !cells_ && kernel_.row_gather() != nullptr && join.is_partial();
  CHECK(!makes_cells_ || (cells_ && !join.is_partial() && epilogue_.keeps_zero()),
        "cells are made of cells, in one call for each tile");
  workspace_bytes_ = find_workspace_bytes();
  if (cells_ && !makes_cells_) lent_bytes_ = static_cast<std::int64_t>(cells_->kernel().lent_bytes(largest_sizes()));
  if (fused_ || cells_) return;
  kernel_.plan_calls_of(largest_sizes());
  lent_bytes_ = static_cast<std::int64_t>(kernel_.lent_bytes(largest_sizes()));
}

// Of the largest parts of all labels, which most calls are of.
std::vector<std::int64_t> JoinOperator::largest_sizes() const {
  std::vector<std::int64_t> sizes;
  for (std::size_t n = 0; n < extents_.size(); ++n)
    sizes.push_back(largest_part(extents_[n], join_.partition.parts[n]));
  for (const auto& [label, leader, reach] : halos_)
    sizes[label] = reach.largest(extents_[label], join_.partition.parts[leader]);
  return sizes;
}

// The workspace of the largest call.
std::int64_t JoinOperator::find_workspace_bytes() const {
  const auto sizes = largest_sizes();
  if (std::any_of(sizes.begin(), sizes.end(), [](auto size) { return size == 0; })) return 0;
  // The workspace for cells depends on their number, so that each call computes it from its operands.
  if (cells_) return decoded_bytes(sizes);
  const auto bytes =
      checked_add(static_cast<std::int64_t>(fused_ ? fused_->workspace_bytes(sizes) : kernel_.workspace_bytes(sizes)),
                  decoded_bytes(sizes));
  return sorts_rows_ ? checked_add(bytes, sorted_bytes(sizes)) : bytes;
}

// For the rows of a group by part.
std::int64_t JoinOperator::sorted_bytes(std::span<const std::int64_t> sizes) const {
  std::int64_t rows = 1;
  for (const auto label : join_.einsum.inputs[kernel_.row_gather()->index_operand()]) {
    const auto place = std::find(join_.partition.labels.begin(), join_.partition.labels.end(), label);
    rows = checked_multiply(rows, sizes[static_cast<std::size_t>(place - join_.partition.labels.begin())]);
  }
  std::int64_t parts = 1;
  for (const auto label : join_.einsum.aggregated) parts = checked_multiply(parts, join_.partition.of(label));
  return RowGather::bytes_of(rows, parts);
}

std::int64_t JoinOperator::decoded_bytes(std::span<const std::int64_t> sizes) const {
  std::int64_t bytes = 0;
  for (std::size_t n = 0; n < may_be_encoded_.size(); ++n) {
    if (!may_be_encoded_[n]) continue;
    auto decoded = static_cast<std::int64_t>(size_of(input_types_[n]));
    for (const auto label : join_.einsum.inputs[n]) {
      const auto place = std::find(join_.partition.labels.begin(), join_.partition.labels.end(), label);
      decoded = checked_multiply(decoded, sizes[static_cast<std::size_t>(place - join_.partition.labels.begin())]);
    }
    bytes = checked_add(bytes, decoded);
  }
  return bytes;
}

bool JoinOperator::are_read_as_bytes(const Buffers& buffers) const {
  return !fused_ && !cells_ && kernel_.reads_bytes(buffers.ranges);
}

// A tile that the kernel cannot read as it is stored is decoded for one call, while it is in the caches.
const Tile* JoinOperator::readable(std::size_t operand, const Tile& tile, Buffers& buffers) const {
  if (!tile.is_encoded()) return &tile;
  CHECK(may_be_encoded_[operand] && tile.dtype() == input_types_[operand], "encoded tiles come where they may");
  if (!fused_ && !cells_ && kernel_.reads_encoded(operand, tile.encoding(), buffers.ranges)) return &tile;
  buffers.decoded.resize(input_types_.size());
  auto& room = buffers.decoded[operand];
  if (!room || room->dtype() != tile.dtype() || room->shape() != tile.shape())
    room.emplace(Tile::uninitialized(tile.dtype(), tile.shape()));
  decode_into(tile, *room);
  return &*room;
}

// Only the reservation is made here; the kernel allocates the thread's memory.
void JoinOperator::take_workspace(const std::shared_ptr<MemoryBudget>& memory, Buffers& buffers, std::int64_t bytes) {
  if (bytes == 0) return;
  if (!buffers.workspace) buffers.workspace.emplace(memory, bytes);
  else buffers.workspace->raise_to(bytes);
}

TilePtr JoinOperator::operand_tile(std::size_t operand, Relation& input, const Buffers& buffers) const {
  const auto tile_id = buffers.tiles[operand];
  const auto& [axes, strides, labels, grid_in_parts] = operands_[operand];
  if (grid_in_parts != nullptr) {
    const auto tile_begin = grid_in_parts->tile_begin(grid_in_parts->key_of(tile_id));
    std::vector<std::int64_t> begin;
    std::vector<std::int64_t> extents;
    for (std::size_t d = 0; d < labels.size(); ++d) {
      begin.push_back(buffers.ranges[labels[d]].begin - tile_begin[d]);
      extents.push_back(buffers.ranges[labels[d]].size);
    }
    return Tile::part_of(input.dense_tile(tile_id), Shape(std::move(extents)), begin);
  }
  if (!cells_ || !cells_->is_of_cells(operand)) {
    if (fused_ || cells_ || kernel_.access() != nullptr) return input.dense_stored_tile(tile_id);
    return input.operand_tile(tile_id,
                              kernel_.reads_any_order(buffers.ranges) ? ValueOrder::AnyOrder : ValueOrder::RowsApart);
  }
  auto tile = input.stored_tile(tile_id);
  if (tile == nullptr) {
    const auto& grid = input.grid();
    const auto empty = CellBlock::of_numbers(input.dtype(), grid.tile_shape(grid.key_of(tile_id)), {}, {});
    return std::make_shared<const Tile>(Tile::of_cells(std::make_shared<const CellBlock>(empty)));
  }
  CHECK(tile->is_of_cells(), "cells are read where a join wants them");
  return tile;
}

// The kernel for the values of a call; null if it has to be computed from all of them.
std::shared_ptr<const CellKernel> JoinOperator::cell_kernel(const Inputs& inputs, Buffers& buffers) const {
  using Facts = Relation::Facts;
  auto& facts = buffers.facts;
  facts.assign(inputs.size() == 1 ? 1 : 0, {});
  if (inputs.size() == 1) return cells_->kernel_for(facts);
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    const bool asks_for_zeros = cells_->asks_for_zeros(n);
    auto known = inputs[n]->facts(buffers.tiles[n], asks_for_zeros ? Facts::Zeros : Facts::Magnitude);
    known.zero = false;
    // Of a tensor in the program's memory nothing is kept from call to call.
    if (known.magnitude == kUnbounded) {
      known.magnitude = magnitude_of(*buffers.operands[n]);
      known.nonzero = asks_for_zeros && !buffers.operands[n]->is_of_cells() && !has_zeros(*buffers.operands[n]);
    }
    facts.push_back(known);
  }
  return cells_->kernel_for(facts);
}

void JoinOperator::expand_cells(const std::shared_ptr<MemoryBudget>& memory, Buffers& buffers) const {
  for (std::size_t n = 0; n < buffers.held.size(); ++n) {
    if (!buffers.operands[n]->is_of_cells()) continue;
    const auto& cells = buffers.operands[n]->cells();
    const auto bytes = static_cast<double>(cells.shape().element_count()) * static_cast<double>(size_of(cells.dtype()));
    if (bytes > static_cast<double>(memory->limit())) {
      throw Error(ErrorKind::MemoryLimit,
                  "an operand has NaN or infinities, which zeros do not annihilate, or zeros that are divided by, so "
                  "that all " +
                      std::to_string(cells.shape().element_count()) + " cells of the other one count",
                  std::nullopt,
                  "replace them where they may occur, as in CASE WHEN isfinite(x) THEN x ELSE 0 END, or CASE "
                  "WHEN x = 0 THEN 1 ELSE x END for a divisor");
    }
    MemoryReservation room(memory, static_cast<std::int64_t>(bytes));
    buffers.held[n] = memory->track(CountedTile{std::move(room), expanded(*buffers.operands[n])});
    buffers.operands[n] = buffers.held[n].get();
  }
  std::vector<std::int64_t> sizes;
  for (const auto& range : buffers.ranges) sizes.push_back(range.size);
  take_workspace(memory, buffers,
                 checked_add(workspace_bytes_, static_cast<std::int64_t>(kernel_.workspace_bytes(sizes))));
}

std::optional<std::int64_t> JoinOperator::call(const Inputs& inputs, std::span<const std::int64_t> key,
                                               Partial& partial, const std::shared_ptr<MemoryBudget>& memory,
                                               Buffers& buffers) const {
  CHECK(inputs.size() == operands_.size() && key.size() >= grid_.rank(), "a call has its inputs and a key");
  buffers.broke_off = false;
  find_ranges(key, buffers.ranges);
  find_tiles(key, buffers);  // also of a call that reads none of them, for those who release them
  if (buffers.rows) return call_of_rows(inputs, key, partial, memory, buffers);
  if (!fused_ && kernel_.is_empty(buffers.ranges)) return std::nullopt;
  if (is_needless(inputs, buffers)) {
    if (!fused_ && kernel_.access() != nullptr) check_indices(*kernel_.access(), inputs, buffers);
    return std::nullopt;
  }
  struct LetGo {
    std::vector<TilePtr>& tiles;
    ~LetGo() { tiles.clear(); }
  } const let_go{buffers.held};
  buffers.operands.clear();
  std::int64_t elements = 0;
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    buffers.held.push_back(operand_tile(n, *inputs[n], buffers));
    const auto& tile = *buffers.held.back();
    elements += tile.is_of_cells() ? tile.cells().count() : tile.shape().element_count();
  }
  take_workspace(memory, buffers, workspace_bytes_);
  const bool are_bytes = are_read_as_bytes(buffers);
  for (std::size_t n = 0; n < inputs.size(); ++n)
    buffers.operands.push_back(are_bytes ? buffers.held[n].get() : readable(n, *buffers.held[n], buffers));
  std::shared_ptr<const CellKernel> cells;
  const CellKernel::CallPlan* cell_plan = nullptr;
  if (cells_) {
    cells = cell_kernel(inputs, buffers);
    if (cells != nullptr && kernel_.access() != nullptr) check_indices(*kernel_.access(), inputs, buffers);
    if (cells == nullptr) {
      expand_cells(memory, buffers);
    } else {
      cell_plan = &buffers.cell_plans.plan(cells, buffers.operands, buffers.ranges, makes_cells_);
      take_workspace(memory, buffers,
                     checked_add(workspace_bytes_, static_cast<std::int64_t>(cell_plan->workspace_bytes)));
    }
  }
  const bool first = !partial.has_value();
  Partial made;  // becomes the partial result once the kernel has filled it
  if (makes_cells_) {
    CHECK(first, "the cells of a tile are made in one call");
    partial.emplace(make_cells(cells.get(), cell_plan, memory, buffers));
    return elements;
  }
  if (first) {
    made.emplace(tile_at(key, memory, buffers));
  }
  buffers.broke_off = !first;
  auto& tile = first ? made->tile : partial->tile;
  if (fused_) fused_->run(buffers.operands, buffers.ranges, tile);
  else if (cells != nullptr) cells->run(buffers.operands, buffers.ranges, tile, first, *cell_plan);
  else kernel_.run(buffers.operands, buffers.ranges, tile, first);
  buffers.broke_off = false;
  if (first) partial = std::move(made);
  return elements;
}

CountedTile JoinOperator::tile_at(std::span<const std::int64_t> key, const std::shared_ptr<MemoryBudget>& memory,
                                  const Buffers& buffers) const {
  auto shape = grid_.tile_shape(key.first(grid_.rank()));
  if (buffers.whole != nullptr) {
    auto tile = Tile::in_whole(buffers.whole, std::move(shape), grid_.first_element(key));
    MemoryReservation reservation(memory, static_cast<std::int64_t>(tile.byte_size()));
    return {std::move(reservation), std::move(tile)};
  }
  return counted_tile(memory, join_.compute_dtype, std::move(shape), result_type_);
}

void JoinOperator::sort_rows(const Inputs& inputs, std::span<const std::int64_t> key, std::span<const AxisRange> calls,
                             const std::shared_ptr<MemoryBudget>& memory, Buffers& buffers) const {
  CHECK(sorts_rows_ && key.size() == grid_.rank() + calls.size(), "rows are sorted for the calls of a gather");
  std::vector<std::int64_t> first(key.begin(), key.end());
  std::vector<GatherAxis> axes;
  for (std::size_t a = 0; a < calls.size(); ++a) {
    first[grid_.rank() + a] = calls[a].begin;
    axes.push_back({join_.partition.of(join_.einsum.aggregated[a]), calls[a].begin, calls[a].size});
  }
  find_ranges(first, buffers.ranges);
  find_tiles(first, buffers);
  const auto operand = kernel_.row_gather()->index_operand();
  take_workspace(memory, buffers, workspace_bytes_);
  auto indices = inputs[operand]->dense_tile(buffers.tiles[operand]);
  if (std::cmp_greater(indices->shape().element_count(), RowGather::kMostRows)) return;
  kernel_.access()->check_indices(operand, *indices, buffers.ranges);
  buffers.rows = std::make_shared<const SortedRows>(kernel_.row_gather()->sort(std::move(indices), std::move(axes)));
}

CountedTile JoinOperator::tile_of_rows(std::span<const std::int64_t> key, const std::shared_ptr<MemoryBudget>& memory,
                                       const Buffers& buffers) const {
  CHECK(buffers.rows != nullptr, "rows that threads share are sorted");
  auto made = tile_at(key, memory, buffers);
  kernel_.row_gather()->clear_before(*buffers.rows, 0, buffers.ranges, made.tile);
  return made;
}

// The call of a group whose rows are sorted. Until one of them has rows that are not zero there is no partial result,
// and the one that makes it writes the zeros of those before it.
std::optional<std::int64_t> JoinOperator::call_of_rows(const Inputs& inputs, std::span<const std::int64_t> key,
                                                       Partial& partial, const std::shared_ptr<MemoryBudget>& memory,
                                                       Buffers& buffers) const {
  const auto& rows = *buffers.rows;
  const auto& gather = *kernel_.row_gather();
  const auto part = rows.part_at(key.subspan(grid_.rank()));
  if (rows.count_of(part) == 0) return std::nullopt;
  const auto stored = inputs[gather.source()]->stored_tile(buffers.tiles[gather.source()]);
  if (stored == nullptr) {
    if (partial) gather.clear(rows, part, buffers.ranges, partial->tile);
    return std::nullopt;
  }
  take_workspace(memory, buffers, workspace_bytes_);
  const auto& source = *readable(gather.source(), *stored, buffers);
  if (!partial) {
    partial.emplace(tile_at(key, memory, buffers));
    gather.clear_before(rows, part, buffers.ranges, partial->tile);
  }
  gather.copy(rows, part, buffers.ranges, source, partial->tile);
  return source.shape().element_count() + rows.indices->shape().element_count();
}

// Indices out of bounds are an error, though the tile that they point to is absent.
void JoinOperator::check_indices(const AccessKernel& access, const Inputs& inputs, const Buffers& buffers) const {
  for (std::size_t n = 0; n < inputs.size(); ++n)
    if (access.has_indices(n)) access.check_indices(n, *inputs[n]->dense_tile(buffers.tiles[n]), buffers.ranges);
}

CountedTile JoinOperator::make_cells(const CellKernel* cells, const CellKernel::CallPlan* plan,
                                     const std::shared_ptr<MemoryBudget>& memory, const Buffers& buffers) const {
  std::optional<CellBlock> block;
  if (cells != nullptr) {
    block.emplace(cells->make_cells(buffers.operands, buffers.ranges, *plan));
  } else {
    std::vector<std::int64_t> extents;
    for (std::size_t d = 0; d < grid_.rank(); ++d) {
      const auto place =
          std::find(join_.partition.labels.begin(), join_.partition.labels.end(), join_.einsum.output[d]);
      extents.push_back(buffers.ranges[static_cast<std::size_t>(place - join_.partition.labels.begin())].size);
    }
    auto dense = counted_tile(memory, join_.compute_dtype, Shape(std::move(extents)));
    kernel_.run(buffers.operands, buffers.ranges, dense.tile, true);
    block.emplace(CellBlock::of_dense(dense.tile.dtype(), dense.tile.shape(), dense.tile.bytes()));
  }
  MemoryReservation room(memory, static_cast<std::int64_t>(block->byte_size()));
  return {std::move(room), Tile::of_cells(std::make_shared<const CellBlock>(*std::move(block)))};
}

// Values become final ones in a tile of their own.
TilePtr JoinOperator::finish_cells(CountedTile made, MemoryBudget& memory) const {
  const auto& cells = made.tile.cells();
  if (cells.count() == 0) return nullptr;
  const bool is_final = cells.dtype() == result_type_ && join_.einsum.epilogue == nullptr;
  if (is_final) return memory.track(std::move(made));
  auto values = Tile::uninitialized(cells.dtype(), Shape({cells.count()}));
  std::copy(cells.trie().values.begin(), cells.trie().values.end(), values.mutable_bytes().begin());
  epilogue_.apply(values);
  if (values.dtype() != result_type_) values = convert(values, result_type_);
  CellTrie trie{cells.trie().order, cells.trie().levels,
                std::vector<std::byte>(values.bytes().begin(), values.bytes().end())};
  auto block = std::make_shared<const CellBlock>(result_type_, cells.shape(), std::move(trie));
  made.reservation.raise_to(static_cast<std::int64_t>(block->byte_size()));
  made.reservation.shrink_to(static_cast<std::int64_t>(block->byte_size()));
  return memory.track(CountedTile{std::move(made.reservation), Tile::of_cells(std::move(block))});
}

std::int64_t JoinOperator::bytes_of_partial(const Tile& partial) const {
  if (partial.is_of_cells()) return static_cast<std::int64_t>(partial.byte_size());
  const auto size = std::max(size_of(join_.compute_dtype), size_of(result_type_));
  return partial.shape().element_count() * static_cast<std::int64_t>(size);
}

void JoinOperator::combine(Partial& into, Partial from) const {
  if (!from) return;
  if (into) eindb::combine(join_.einsum, into->tile, from->tile);
  else into.emplace(std::move(*from));
}

TilePtr JoinOperator::finish(Partial aggregated, std::int64_t tile_id,
                             const std::shared_ptr<MemoryBudget>& memory) const {
  auto partial = aggregated ? std::move(aggregated) : nothing_aggregated(tile_id, memory);
  if (!partial) return nullptr;
  if (makes_cells_) return finish_cells(std::move(*partial), *memory);
  apply_epilogue(partial->tile);
  return finished(std::move(*partial), result_type_, *memory);
}

JoinOperator::Partial JoinOperator::nothing_aggregated(std::int64_t tile_id,
                                                       const std::shared_ptr<MemoryBudget>& memory) const {
  if (epilogue_.keeps_zero()) return std::nullopt;
  auto zeros = counted_tile(memory, join_.compute_dtype, grid_.tile_shape(grid_.key_of(tile_id)), result_type_);
  const auto bytes = zeros.tile.mutable_bytes();
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  return zeros;
}

void JoinOperator::find_tiles(std::span<const std::int64_t> key, Buffers& buffers) const {
  buffers.tiles.clear();
  for (const auto& places : operands_) {
    std::int64_t id = 0;
    for (std::size_t d = 0; d < places.axes.size(); ++d) {
      auto part = key[places.axes[d]];
      if (const auto* grid = places.in_parts)
        part = part_of(grid->shape()[d], grid->partition()[d], buffers.ranges[places.labels[d]].begin);
      id += part * places.strides[d];
    }
    buffers.tiles.push_back(id);
  }
}

void JoinOperator::find_ranges(std::span<const std::int64_t> key, std::vector<PartRange>& ranges) const {
  ranges.clear();
  for (std::size_t n = 0; n < extents_.size(); ++n)
    ranges.push_back(part_range(extents_[n], join_.partition.parts[n], key[axis_of_label_[n]]));
  for (const auto& [label, leader, reach] : halos_)
    ranges[label] = reach.range(extents_[label], join_.partition.parts[leader], key[axis_of_label_[leader]]);
}

// The values of other operands are examined only if that can make the call needless.
bool JoinOperator::is_needless(const Inputs& inputs, Buffers& buffers) const {
  if (!may_skip_) return false;
  auto& facts = buffers.facts;
  bool some_absent = false;
  for (const auto wanted : {Relation::Facts::Presence, Relation::Facts::Magnitude}) {
    facts.clear();
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      facts.push_back(inputs[n]->facts(buffers.tiles[n], wanted));
      some_absent = some_absent || facts.back().zero;
    }
    if (!some_absent || !changes_nothing(join_.einsum, facts, input_types_)) return false;
  }
  return true;
}

}  // namespace eindb
