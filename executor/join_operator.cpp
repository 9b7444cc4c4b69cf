#include "executor/join_operator.hpp"

#include <algorithm>
#include <mutex>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/kernels/tile_operations.hpp"

namespace eindb {
namespace {

std::vector<DType> types_of(const std::vector<std::shared_ptr<Relation>>& inputs) {
  std::vector<DType> types;
  for (const auto& input : inputs) types.push_back(input->dtype());
  return types;
}

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

// The values of a row-major number over `extents`.
TileKey unravel(std::int64_t number, const Partition& extents) {
  TileKey key(extents.size());
  for (std::size_t d = extents.size(); d-- > 0;) {
    key[d] = number % extents[d];
    number /= extents[d];
  }
  return key;
}

}  // namespace

JoinOperator::JoinOperator(const JoinNode& join, const LabelTable& labels, const TileGrid& grid, DType result_type,
                           std::vector<std::shared_ptr<Relation>> inputs, ExecutionContext& context)
    : join_(join),
      labels_(labels),
      grid_(grid),
      result_type_(result_type),
      inputs_(std::move(inputs)),
      context_(context),
      kernel_(join.einsum, labels, types_of(inputs_), join.compute_dtype, result_type),
      epilogue_(epilogue_of(join)),
      aggregated_parts_(join.partition.project(join.einsum.aggregated)),
      calls_per_group_(checked_product(aggregated_parts_)) {
  CHECK(join.partition.labels == join.einsum.labels(), "a partition vector lists the labels in the EinSum's order");
  const auto wanted = 2 * static_cast<std::int64_t>(context.scheduler.threads());
  if (context.scheduler.threads() > 1 && grid_.tile_count() < wanted)
    chunks_ = std::clamp<std::int64_t>(ceil_divide(wanted, grid_.tile_count()), 1, calls_per_group_);
}

std::shared_ptr<Relation> JoinOperator::run(NodeProfile& profile) {
  const auto groups = grid_.tile_count();
  std::vector<TilePtr> tiles(static_cast<std::size_t>(groups));
  std::vector<std::vector<Partial>> partials(static_cast<std::size_t>(groups));
  std::mutex partials_mutex;  // guards partials
  std::atomic<std::int64_t> bytes{0};

  context_.scheduler.for_each(groups * chunks_, [&](std::int64_t task) {
    context_.cancellation.check();
    const auto group = task / chunks_;
    const auto slot = static_cast<std::size_t>(group);
    auto partial = accumulate(group, task % chunks_);
    std::vector<Partial> complete;
    {
      const std::lock_guard lock(partials_mutex);
      partials[slot].push_back(std::move(partial));
      if (static_cast<std::int64_t>(partials[slot].size()) < chunks_) return;
      complete = std::move(partials[slot]);
    }
    tiles[slot] = finish(std::move(complete));
    bytes += static_cast<std::int64_t>(tiles[slot]->byte_size());
  });

  profile.kernel_calls = groups * calls_per_group_;
  profile.tiles_in = profile.kernel_calls * static_cast<std::int64_t>(inputs_.size());
  profile.tiles_out = groups;
  profile.bytes = bytes;
  return std::make_shared<Relation>(result_type_, grid_, std::move(tiles));
}

JoinOperator::Partial JoinOperator::accumulate(std::int64_t group, std::int64_t chunk) const {
  const auto group_key = grid_.key_of(group);
  const auto shape = grid_.tile_shape(group_key);
  const auto bytes = checked_multiply(shape.element_count(), static_cast<std::int64_t>(size_of(join_.compute_dtype)));
  MemoryReservation reservation(context_.memory, bytes);
  auto accumulator = Tile::uninitialized(join_.compute_dtype, shape);
  JoinKey key(join_.partition.labels.size(), 0);
  place(key, join_.einsum.output, group_key);
  const auto begin = scaled_floor(chunk, calls_per_group_, chunks_);
  const auto end = scaled_floor(chunk + 1, calls_per_group_, chunks_);
  for (auto call = begin; call < end; ++call) {
    context_.cancellation.check();
    place(key, join_.einsum.aggregated, unravel(call, aggregated_parts_));
    call_kernel(key, accumulator, call == begin);
  }
  return {std::move(reservation), std::move(accumulator)};
}

void JoinOperator::call_kernel(const JoinKey& key, Tile& accumulator, bool first) const {
  const auto& all = join_.partition;
  std::vector<PartRange> ranges;
  for (std::size_t n = 0; n < key.size(); ++n)
    ranges.push_back(part_range(labels_.extent(all.labels[n]), all.parts[n], key[n]));

  std::vector<TilePtr> held;
  std::vector<const Tile*> operands;
  for (std::size_t n = 0; n < inputs_.size(); ++n) {
    const auto id = inputs_[n]->grid().id_of(project(key, join_.einsum.inputs[n]));
    held.push_back(inputs_[n]->dense_tile(id));
    operands.push_back(held.back().get());
  }
  kernel_.run(operands, ranges, accumulator, first);
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

// Strip by strip, so that a tile needs no other one of its size.
void JoinOperator::apply_epilogue(Tile& tile) const {
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

TilePtr JoinOperator::finish(std::vector<Partial> partials) const {
  auto result = std::move(partials[0].tile);
  for (std::size_t n = 1; n < partials.size(); ++n) combine(join_.einsum.aggregate, result, partials[n].tile);
  if (epilogue_) apply_epilogue(result);
  if (result_type_ != join_.compute_dtype) result = convert(result, result_type_);
  partials.clear();  // gives back the bytes that the tile takes over
  return context_.memory->track(std::move(result));
}

}  // namespace eindb
