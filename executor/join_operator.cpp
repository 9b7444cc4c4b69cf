#include "executor/join_operator.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/kernels/tile_operations.hpp"

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

}  // namespace

JoinOperator::JoinOperator(const JoinNode& join, const LabelTable& labels, const TileGrid& grid, DType result_type,
                           const std::vector<DType>& input_types, ExecutionContext& context)
    : join_(join),
      labels_(labels),
      grid_(grid),
      result_type_(result_type),
      context_(context),
      kernel_(join.einsum, labels, input_types, join.compute_dtype, result_type),
      epilogue_(epilogue_of(join)) {
  CHECK(join.partition.labels == join.einsum.labels(), "a partition vector lists the labels in the EinSum's order");
}

std::shared_ptr<Relation> JoinOperator::run(const Inputs& inputs, const TileWindow& keys, NodeProfile& profile) const {
  const auto work = work_on(inputs, keys);
  std::vector<TilePtr> tiles(static_cast<std::size_t>(work.group_count));
  std::atomic<std::int64_t> bytes{0};
  run_groups(work, profile, [&](std::int64_t group, CountedTile tile) {
    apply_epilogue(tile.tile);
    auto& slot = tiles[static_cast<std::size_t>(group)];
    slot = finished(std::move(tile), result_type_, *context_.memory);
    bytes += static_cast<std::int64_t>(slot->byte_size());
  });
  profile.bytes += bytes;
  return std::make_shared<Relation>(result_type_, grid_, work.groups, std::move(tiles));
}

void JoinOperator::run_into(SlicedResult& result, const Inputs& inputs, const TileWindow& keys,
                            NodeProfile& profile) const {
  const auto work = work_on(inputs, keys);
  run_groups(work, profile, [&](std::int64_t group, CountedTile tile) {
    if (!result.aggregates()) apply_epilogue(tile.tile);
    result.add(grid_.id_of(work.groups.key_of(group)), std::move(tile));
  });
}

JoinOperator::Work JoinOperator::work_on(const Inputs& inputs, const TileWindow& keys) const {
  Work work{inputs, project(keys, join_.einsum.output), project(keys, join_.einsum.aggregated)};
  work.group_count = work.groups.tile_count();
  work.calls_per_group = work.aggregated.tile_count();
  work.chunks = chunks_of(work);
  return work;
}

// Partial results may take half of the memory that is left.
std::int64_t JoinOperator::chunks_of(const Work& work) const {
  const auto wanted = 2 * static_cast<std::int64_t>(context_.scheduler.threads());
  if (context_.scheduler.threads() == 1 || work.group_count >= wanted) return 1;
  auto elements = 1.0;
  for (std::size_t d = 0; d < grid_.rank(); ++d)
    elements *= static_cast<double>(work.groups.size[d] * largest_part(grid_.shape()[d], grid_.partition()[d]));
  const double bytes = elements * static_cast<double>(size_of(join_.compute_dtype));
  const double room = std::clamp(static_cast<double>(context_.memory->left()) / 2 / std::max(1.0, bytes), 1.0,
                                 static_cast<double>(work.calls_per_group));
  return std::clamp<std::int64_t>(ceil_divide(wanted, work.group_count), 1, static_cast<std::int64_t>(room));
}

void JoinOperator::run_groups(const Work& work, NodeProfile& profile, const TakeGroup& take) const {
  std::vector<std::vector<CountedTile>> partials(static_cast<std::size_t>(work.group_count));
  std::mutex partials_mutex;  // guards partials
  std::atomic<std::int64_t> elements{0};

  context_.scheduler.for_each(work.group_count * work.chunks, [&](std::int64_t task) {
    context_.cancellation.check();
    const auto group = task / work.chunks;
    const auto slot = static_cast<std::size_t>(group);
    auto partial = accumulate(work, group, task % work.chunks, elements);
    std::vector<CountedTile> complete;
    {
      const std::lock_guard lock(partials_mutex);
      partials[slot].push_back(std::move(partial));
      if (static_cast<std::int64_t>(partials[slot].size()) < work.chunks) return;
      complete = std::move(partials[slot]);
    }
    take(group, merge(std::move(complete)));
  });

  const auto calls = work.group_count * work.calls_per_group;
  profile.kernel_calls += calls;
  profile.tiles_in += calls * static_cast<std::int64_t>(work.inputs.size());
  profile.tiles_out += work.group_count;
  profile.elements += elements;
}

CountedTile JoinOperator::accumulate(const Work& work, std::int64_t group, std::int64_t chunk,
                                     std::atomic<std::int64_t>& elements) const {
  const auto group_key = work.groups.key_of(group);
  const auto shape = grid_.tile_shape(group_key);
  const auto bytes = checked_multiply(shape.element_count(), static_cast<std::int64_t>(size_of(join_.compute_dtype)));
  MemoryReservation reservation(context_.memory, bytes);
  auto accumulator = Tile::uninitialized(join_.compute_dtype, shape);
  JoinKey key(join_.partition.labels.size(), 0);
  place(key, join_.einsum.output, group_key);
  const auto begin = scaled_floor(chunk, work.calls_per_group, work.chunks);
  const auto end = scaled_floor(chunk + 1, work.calls_per_group, work.chunks);
  for (auto call = begin; call < end; ++call) {
    context_.cancellation.check();
    place(key, join_.einsum.aggregated, work.aggregated.key_of(call));
    elements += call_kernel(work.inputs, key, accumulator, call == begin);
  }
  return {std::move(reservation), std::move(accumulator)};
}

TileWindow JoinOperator::project(const TileWindow& keys, const Labels& labels) const {
  return {project(keys.begin, labels), project(keys.size, labels)};
}

std::int64_t JoinOperator::call_kernel(const Inputs& inputs, const JoinKey& key, Tile& accumulator, bool first) const {
  const auto& all = join_.partition;
  std::vector<PartRange> ranges;
  for (std::size_t n = 0; n < key.size(); ++n)
    ranges.push_back(part_range(labels_.extent(all.labels[n]), all.parts[n], key[n]));

  std::vector<TilePtr> held;
  std::vector<const Tile*> operands;
  std::int64_t elements = 0;
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    const auto id = inputs[n]->grid().id_of(project(key, join_.einsum.inputs[n]));
    held.push_back(inputs[n]->dense_tile(id));
    operands.push_back(held.back().get());
    elements += operands.back()->shape().element_count();
  }
  kernel_.run(operands, ranges, accumulator, first);
  return elements;
}

void JoinOperator::place(JoinKey& key, const Labels& labels, const TileKey& values) const {
  const auto& all = join_.partition.labels;
  for (std::size_t n = 0; n < labels.size(); ++n)
    key[static_cast<std::size_t>(std::find(all.begin(), all.end(), labels[n]) - all.begin())] = values[n];
}

TileKey JoinOperator::project(const JoinKey& key, const Labels& labels) const {
  const auto& all = join_.partition.labels;
  TileKey out;
  for (const auto label : labels)
    out.push_back(key[static_cast<std::size_t>(std::find(all.begin(), all.end(), label) - all.begin())]);
  return out;
}

CountedTile JoinOperator::merge(std::vector<CountedTile> partials) const {
  for (std::size_t n = 1; n < partials.size(); ++n) combine(join_.einsum.aggregate, partials[0].tile, partials[n].tile);
  return std::move(partials[0]);
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
