#include "optimizer/partitions/calibrated_model.hpp"

#include <algorithm>
#include <cmath>

#include "common/check.hpp"
#include "optimizer/partitions/density.hpp"

namespace eindb {
namespace {

constexpr double kCachedTile = 2 << 20;  // bytes; fits a second-level cache
constexpr double kCacheSpeed = 4;        // speed of caches relative to memory
constexpr double kRunSeconds = 3e-9;     // to begin each contiguous run of a repartition's copies
constexpr double kSortSeconds = 6e-9;    // to find the part that a row lies in, and its place among those of the part
constexpr double kIndexSeconds = 1e-9;   // to look at an index of an access, whose cells may be in another part
// At the end all threads wait for the slowest of the last calls: its excess, relative to a call's time.
constexpr double kUnevenness = 0.03;
constexpr double kUnevennessOfCells = 0.25;  // these lie where they lie, and parts are even ranges of indices
constexpr double kShareOfLook = 0.5;         // of a call, to see that an operand is absent and leave the call out

double bytes_of_input(const VertexShape& shape, std::size_t input) {
  const auto& known = shape.work.input_bytes;
  return static_cast<double>(input < known.size() ? known[input] : size_of(shape.work.compute));
}

RoleSizes sizes_of(const VertexShape& shape, const Partition& d) {
  RoleSizes sizes;
  const auto& roles = shape.work.matrix->roles;
  DCHECK(roles.size() == d.size(), "every label of a matrix product has a role");
  for (std::size_t n = 0; n < roles.size(); ++n) {
    const double size = part_extent(shape.extents[n], d[n]);
    switch (roles[n]) {
      case ContractionRole::Batch: sizes.batch *= size; break;
      case ContractionRole::Left: sizes.left *= size; break;
      case ContractionRole::Right: sizes.right *= size; break;
      case ContractionRole::Contracted: sizes.contracted *= size; break;
      case ContractionRole::SummedLeft:
      case ContractionRole::SummedRight: break;
    }
  }
  return sizes;
}

// Flops per second of a product as efficient as one of squares with this side; interpolated in the logarithm of the
// side.
double rate_of_side(const KernelRates& rates, double side) {
  const double place = std::clamp(std::log2(side) - kFirstMatrixSideLog2, 0.0, static_cast<double>(kMatrixSides - 1));
  const auto below = std::min(static_cast<std::size_t>(place), kMatrixSides - 2);
  const double share = place - static_cast<double>(below);
  return rates.matrix_product[below] * (1 - share) + rates.matrix_product[below + 1] * share;
}

// The throughput of `threads` threads, between that of one and that of all measured ones, which more cannot exceed.
double between(double one, double all, int threads, int measured) {
  if (threads >= measured) return measured > 1 ? all : one;
  return one + (all - one) * (threads - 1) / (measured - 1);
}
double between(const Throughput& throughput, int threads, int measured) {
  return between(throughput.one, throughput.all, threads, measured);
}

double seconds_of(const KernelWork::Operations& operations, const KernelRates& rates) {
  double seconds = 0;
  for (const auto& [operation, count] : operations)
    seconds += count / rates.operations[static_cast<std::size_t>(operation)];
  return seconds;
}

// Whether a call over cells reads or makes a relation that fits a cache as a whole, however it is cut.
bool is_small_of_cells(const VertexShape& shape, const std::vector<std::size_t>& places, double element_bytes) {
  if (shape.cell_seconds == 0) return false;
  double bytes = element_bytes;
  for (const auto place : places) bytes *= static_cast<double>(shape.extents[place]);
  return bytes <= kCachedTile;
}

// The bytes of a call's result that reach memory. A tile that is read soon after it was made stays in the caches, and
// takes memory that was used before. So does a small one that is made of cells, which is not written once from the
// first value to the last.
double stored(const VertexShape& shape, const Partition& d) {
  const double tile =
      tile_elements(shape, d, shape.output) * static_cast<double>(shape.work.output_bytes) * shape.result_share;
  const bool stays =
      shape.stays || (shape.is_read && tile <= kCachedTile) ||
      is_small_of_cells(shape, shape.output, static_cast<double>(shape.work.output_bytes) * shape.result_share);
  return tile / (stays ? kCacheSpeed : 1);
}

// The bytes of a call's operands that come from memory; an operand that was just made or read comes from a cache. So do
// small ones of calls over cells: after the first time such a value is looked up it is in a cache.
double loaded(const VertexShape& shape, const Partition& d) {
  double bytes = 0;
  for (std::size_t n = 0; n < shape.inputs.size(); ++n) {
    const double tile = read_elements(shape, d, n) * bytes_of_input(shape, n) * stored_share(shape, n);
    const bool was_made = n < shape.made.size() && shape.made[n];
    const bool is_near = is_at_hand(shape, n) || (was_made && tile <= kCachedTile) ||
                         is_small_of_cells(shape, shape.inputs[n], bytes_of_input(shape, n) * stored_share(shape, n));
    bytes += tile / (is_near ? kCacheSpeed : 1);
  }
  return bytes;
}

// The number of elements that lie contiguously in the tiles of both partitions.
double contiguous_run(const Partition& producer, const Partition& consumer, const std::vector<std::int64_t>& extents) {
  double run = 1;
  for (auto i = extents.size(); i-- > 0;) {
    run *= part_extent(extents[i], std::max(producer[i], consumer[i]));
    if (producer[i] != 1 || consumer[i] != 1) break;
  }
  return std::max(run, 1.0);
}

bool is_vector(const RoleSizes& sizes) { return std::min(sizes.left, sizes.right) == 1; }

bool sums_side(const VertexShape& shape, ContractionRole side) {
  const auto& roles = shape.work.matrix->roles;
  return std::find(roles.begin(), roles.end(), side) != roles.end();
}

}  // namespace

CalibratedModel::CalibratedModel(const MachineFigures& figures, int threads) : figures_(figures), threads_(threads) {
  CHECK(threads >= 1, "something works on tiles");
  for (int u = 1; u <= threads; ++u) {
    const double speed = between(1, figures.compute_scaling, u, figures.threads);
    crowds_.push_back({std::max(1.0, u / speed), between(figures.load, u, figures.threads),
                       between(figures.store, u, figures.threads), between(figures.repartition, u, figures.threads),
                       between(figures.read, u, figures.threads)});
  }
}

const CalibratedModel::Crowd& CalibratedModel::crowd(double tasks) const {
  DCHECK(tasks >= 0, "tasks are counted from none");
  return crowds_[static_cast<std::size_t>(std::clamp(tasks, 1.0, static_cast<double>(threads_))) - 1];
}

double CalibratedModel::matrices(const VertexShape& shape, const Partition& d, const RoleSizes& sizes) const {
  const auto& work = shape.work;
  const auto& rates = figures_.of(work.compute);
  DCHECK(work.matrix->left < shape.inputs.size() && work.matrix->right < shape.inputs.size(),
         "a matrix product is of operands of its vertex");
  const double flops = 2 * sizes.batch * sizes.left * sizes.right * sizes.contracted;
  const double side = 3 / (1 / sizes.left + 1 / sizes.right + 1 / sizes.contracted);
  double seconds = flops / (is_vector(sizes) ? rates.matrix_vector : rate_of_side(rates, side));

  const auto size = static_cast<double>(size_of(work.compute));
  double copied = 0;
  const auto left = tile_elements(shape, d, shape.inputs[work.matrix->left]);
  const auto right = tile_elements(shape, d, shape.inputs[work.matrix->right]);
  if (work.matrix->packs_left || bytes_of_input(shape, work.matrix->left) != size) copied += left;
  if (work.matrix->packs_right || bytes_of_input(shape, work.matrix->right) != size) copied += right;
  if (work.matrix->packs_output) copied += tile_elements(shape, d, shape.output);
  seconds += copied * size / figures_.repartition.one;
  if (sums_side(shape, ContractionRole::SummedLeft)) seconds += left / rates.fold;
  if (sums_side(shape, ContractionRole::SummedRight)) seconds += right / rates.fold;
  return seconds;
}

// As products are, by what a product of this size takes of the floating-point type of the same width. INT64 has vectors
// like FLOAT64.
double CalibratedModel::pairs(const VertexShape& shape, const Partition& d, const RoleSizes& sizes) const {
  const auto& work = shape.work;
  const bool wide = work.takes_exponentials || work.values == DType::Int64;
  const auto& rates = figures_.of(wide ? DType::Float64 : work.values);
  constexpr double kFlopsPerOperation = 2;  // of a product and its sum, which rates count
  const double side = 3 / (1 / sizes.left + 1 / sizes.right + 1 / sizes.contracted);
  const double count = work.pair_operations * sizes.batch * sizes.left * sizes.right * sizes.contracted;
  const double operands = tile_elements(shape, d, shape.inputs[work.matrix->left]) +
                          tile_elements(shape, d, shape.inputs[work.matrix->right]);
  double seconds = kFlopsPerOperation * count / rate_of_side(rates, side) +
                   operands * static_cast<double>(size_of(work.values)) / figures_.repartition.one;
  if (work.takes_exponentials) {
    const auto rate = [&](Operation operation) { return rates.operations[static_cast<std::size_t>(operation)]; };
    seconds += operands / rate(Operation::Exp) + tile_elements(shape, d, shape.output) / rate(Operation::Log);
  }
  return seconds;
}

double CalibratedModel::loops(const VertexShape& shape, const Partition& d) const {
  const auto& work = shape.work;
  const auto& rates = figures_.of(work.values);
  double per_cell = work.crosswise / rates.crosswise + seconds_of(work.operations, rates);
  if (work.folds) per_cell += 1 / (work.folds_product ? rates.product_fold : rates.fold);

  return per_cell * visited_cells(shape, d);
}

// Cells are copied, or added up, like those of a repartition; calls on the other parts of a determined label find the
// others.
// Each row is copied once, by the thread that makes its tile of the result; they are sorted by the parts of the source
// where these are several, and calls on parts without rows are left out.
double CalibratedModel::rows(const VertexShape& shape, const Partition& d) const {
  const double groups = kernel_calls(project(d, shape.output)) * share_of_groups(shape, d);
  const double calls = kernel_calls(project(d, shape.aggregated));
  const double rows = tile_elements(shape, d, shape.inputs[*shape.rows]);
  const double bytes = tile_elements(shape, d, shape.output) * static_cast<double>(size_of(shape.work.compute));
  const double looks = rows * (calls > 1 ? kRunSeconds + kSortSeconds : kRunSeconds);
  const double starting =
      calls * (kShareOfLook + (1 - kShareOfLook) * share_with_rows(shape, d)) * figures_.call_seconds;
  const auto& abreast = crowd(groups);
  const double of_group = bytes / figures_.repartition.one + looks + starting;
  const double waves = std::ceil(groups / threads_);
  // Threads that copy at once share the memory.
  const double shared = groups * bytes / abreast.repartition;
  return figures_.operator_seconds + std::max(waves * of_group * abreast.slowdown, shared);
}

CalibratedModel::CallCost CalibratedModel::access(const VertexShape& shape, const Partition& d) const {
  const double visited = visited_cells(shape, d);
  const double found = visited / reached_parts(shape, d);
  const double bytes = found * static_cast<double>(size_of(shape.work.compute));
  const auto last = shape.output.empty() ? 0 : shape.output.back();
  const double row = std::max(1.0, part_extent(shape.extents[last], d[last]));
  const double seconds = found / row * kRunSeconds + visited / row * kIndexSeconds;
  return {bytes / figures_.repartition.one + seconds, bytes, stored(shape, d)};
}

// In a call that is one of all: lines that have several cells are cut with the label that they lie along.
double CalibratedModel::lines_of_cells(const VertexShape& shape, const Partition& d) {
  double seconds = 0;
  for (const auto& lines : shape.cell_lines) {
    double cells = lines.cells / static_cast<double>(d[lines.along]);
    double most = 1;
    for (const auto place : lines.outer) {
      cells /= static_cast<double>(d[place]);
      most *= part_extent(shape.extents[place], d[place]);
    }
    if (most > 0) seconds -= most * std::expm1(-cells / most) * lines.seconds;
  }
  return seconds;
}

CalibratedModel::CallCost CalibratedModel::call(const VertexShape& shape, const Partition& d) const {
  if (shape.cell_seconds > 0)
    return {shape.cell_seconds / kernel_calls(d) + lines_of_cells(shape, d), loaded(shape, d), stored(shape, d)};
  if (!shape.determined.empty()) return access(shape, d);
  const auto sizes = shape.work.matrix ? sizes_of(shape, d) : RoleSizes{};
  const auto kind = shape.work.matrix ? kernel_for(shape.work.kernel, sizes) : KernelKind::Loops;
  if (kind == KernelKind::Loops) return {loops(shape, d), loaded(shape, d), stored(shape, d)};
  if (kind == KernelKind::Pairs) return {pairs(shape, d, sizes), loaded(shape, d), stored(shape, d)};
  // The rate of a matrix times a vector already includes reading the matrix.
  return {matrices(shape, d, sizes), is_vector(sizes) ? 0 : loaded(shape, d), stored(shape, d)};
}

// Counted once per tile of the result.
double CalibratedModel::epilogue(const VertexShape& shape, const Partition& d) const {
  if (shape.work.epilogue.empty()) return 0;
  double groups = 1;
  for (const auto n : shape.output) groups *= static_cast<double>(d[n]);
  const double tile =
      tile_elements(shape, d, shape.output) * seconds_of(shape.work.epilogue, figures_.of(shape.work.compute));
  return std::ceil(groups / threads_) * tile * crowd(groups).slowdown;
}

double CalibratedModel::join(const VertexShape& shape, const Partition& d) const {
  CHECK(d.size() == shape.extents.size(), "a partition vector has an entry for every label of its vertex");
  if (shape.is_looked_through) return 0;
  if (shape.rows && shape.cell_seconds == 0) return rows(shape, d);
  const double all = kernel_calls(d);
  const double calls = std::max(1.0, all * share_of_calls(shape, d));
  const double groups = kernel_calls(project(d, shape.output)) * share_of_groups(shape, d);
  const double waves = std::ceil(calls / threads_);
  const auto one = call(shape, d);
  const auto& abreast = crowd(std::floor(calls / waves));
  // Steps of a chain start no operators and no calls of their own.
  const double left_out = (all - calls) / threads_ * kShareOfLook;
  const double starting = shape.stays ? 0 : figures_.operator_seconds + (waves + left_out) * figures_.call_seconds;
  const double working = waves * one.seconds * crowd(calls).slowdown + calls * one.loaded / abreast.load +
                         groups * one.stored / abreast.store + epilogue(shape, d);
  const double excess = shape.cell_seconds == 0 || shape.shares_cells ? kUnevenness : kUnevennessOfCells;
  const bool is_alone = threads_ == 1 || (shape.cell_seconds > 0 && calls <= 1);
  return starting + working * (1 + (is_alone ? 0 : excess / waves));
}

double CalibratedModel::aggregation(const VertexShape& shape, const Partition& d) const {
  if (kernel_calls(project(d, shape.aggregated)) <= 1) return 0;
  if (shape.rows && shape.cell_seconds == 0) return 0;  // each is written once
  const double calls = kernel_calls(d) * share_of_calls(shape, d);
  const double groups = kernel_calls(project(d, shape.output)) * share_of_groups(shape, d);
  const double whole = tile_elements(shape, d, shape.output) * static_cast<double>(size_of(shape.work.compute));
  // The calls of a group follow each other, so a tile of moderate size is still in the caches.
  const auto load = [&](double tile) { return crowd(calls).load * (tile <= kCachedTile ? kCacheSpeed : 1); };
  if (shape.determined.empty()) return std::max(0.0, calls - groups) * 2 * whole / load(whole);
  // A call of an access adds the cells that it finds to those of the others. Threads that share a group each begin with
  // a tile of zeros, and the whole tiles are added up.
  const double found = std::min(
      whole, visited_cells(shape, d) / reached_parts(shape, d) * static_cast<double>(size_of(shape.work.compute)));
  const double shared = std::min(calls, static_cast<double>(threads_)) - groups;
  return std::max(0.0, calls - groups) * 2 * found / load(found) + std::max(0.0, shared) * 3 * whole / load(whole);
}

double CalibratedModel::repartition(const Partition& producer, const Partition& consumer,
                                    const std::vector<std::int64_t>& extents, std::size_t element_bytes) const {
  CHECK(producer.size() == extents.size() && consumer.size() == extents.size(),
        "a partition has one entry per dimension");
  if (producer == consumer) return 0;
  double elements = 1;
  double pieces = 1;  // for nested partitions, the parts of the finer one
  double tiles = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    elements *= static_cast<double>(extents[i]);
    pieces *= static_cast<double>(std::max(producer[i], consumer[i]));
    tiles *= static_cast<double>(consumer[i]);
  }
  if (elements == 0) return 0;
  const auto workers = std::min(tiles, static_cast<double>(threads_));
  const auto& abreast = crowd(workers);
  const double bytes = elements * static_cast<double>(element_bytes);
  // Small tiles are still in the caches when they are read.
  const double through_memory = bytes / tiles > kCachedTile ? bytes / abreast.load : 0;
  const double runs = elements / contiguous_run(producer, consumer, extents);
  return figures_.operator_seconds + bytes / abreast.repartition + through_memory +
         (pieces * figures_.piece_seconds + runs * kRunSeconds) / workers;
}

double CalibratedModel::read(double tiles, double bytes) const {
  const auto workers = std::clamp(tiles, 1.0, static_cast<double>(threads_));
  return tiles * figures_.read_tile_seconds / workers + bytes / crowd(workers).read;
}

double CalibratedModel::scratch(double written, double read) const {
  return written / figures_.write + read / crowd(threads_).read;
}

double CalibratedModel::write(double tiles, double bytes) const {
  return tiles * figures_.write_tile_seconds + bytes / figures_.write;
}

}  // namespace eindb
