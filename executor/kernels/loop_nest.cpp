#include "executor/kernels/loop_nest.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "common/check.hpp"

namespace eindb {
namespace {

std::int64_t times(std::int64_t stride, std::int64_t count) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) * static_cast<std::uint64_t>(count));
}

bool nests(const Loop& outer, const Loop& inner) {
  DCHECK(outer.strides.size() == inner.strides.size(), "all loops move all streams");
  if (outer.aggregated != inner.aggregated) return false;
  for (std::size_t s = 0; s < inner.strides.size(); ++s)
    if (outer.strides[s] != times(inner.strides[s], inner.size)) return false;
  return true;
}

bool merge_one(std::vector<Loop>& loops) {
  for (std::size_t outer = 0; outer < loops.size(); ++outer)
    for (std::size_t inner = 0; inner < loops.size(); ++inner)
      if (outer != inner && nests(loops[outer], loops[inner])) {
        loops[inner].size *= loops[outer].size;
        loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(outer));
        return true;
      }
  return false;
}

// Costs are approximate nanoseconds per element; only their order matters.
constexpr double kInPlace = 0.05;
constexpr double kReplicated = 0.15;
constexpr double kCopied = 0.25;
constexpr double kGathered = 0.6;
constexpr double kGatheredFar = 1.5;  // one cache line per element
constexpr double kStartOfLoop = 4.0;  // per row, spread over its elements
constexpr std::int64_t kCacheLine = 64;
constexpr std::int64_t kMostTransposed = 64;  // columns, if there are enough rows

double access_cost(const Stream& stream, std::int64_t stride) {
  if (stream.kind == Stream::Kind::Number || stride == 0) return kInPlace;
  if (stride == 1) return stream.converted ? kCopied : kInPlace;
  return std::abs(stride) * stream.element_size >= kCacheLine ? kGatheredFar : kGathered;
}

double column_cost(const Loop& loop, std::span<const Stream> streams, double aggregated_count) {
  double cost = kStartOfLoop / static_cast<double>(loop.size);
  for (std::size_t s = 0; s < streams.size(); ++s) {
    if (streams[s].kind != Stream::Kind::Output) cost += access_cost(streams[s], loop.strides[s]);
    // The output is written once per aggregation, the accumulators every time.
    else if (loop.aggregated) cost += kInPlace;
    else cost += access_cost(streams[s], loop.strides[s]) / aggregated_count + kReplicated;
  }
  return cost;
}

double row_cost(const Loop& rows, const BoxSide& columns, std::span<const Stream> streams, std::int64_t box_elements) {
  const auto height = std::min(rows.size, box_elements / columns.chunk);
  const bool whole = columns.chunk == columns.loop.size;
  double cost = kStartOfLoop * 4 / static_cast<double>(height * columns.chunk);
  for (std::size_t s = 0; s < streams.size(); ++s) {
    const auto row = rows.strides[s];
    const auto column = columns.loop.strides[s];
    const bool goes_on = whole && row == columns.loop.size;
    if (streams[s].kind == Stream::Kind::Number || (row == 0 && column == 0)) cost += kInPlace;
    else if (streams[s].kind == Stream::Kind::Output) cost += (rows.aggregated || goes_on) ? 0 : kInPlace;
    else if (column == 1 && goes_on && !streams[s].converted) cost += 0;
    else if (row == 0) cost += kReplicated;
    else cost += access_cost(streams[s], std::min(std::abs(row), column == 0 ? std::abs(row) : std::abs(column)));
  }
  return cost;
}

// The number of columns of a box. It is small enough that the box has as many rows if an operand is contiguous along
// them and can be transposed. Example: A[i,j] * B[j,i], 1000 x 1000 each, 2048 elements per box: 64 columns by 32 rows.
std::int64_t column_chunk(const Loop& columns, const std::vector<Loop>& others, std::span<const Stream> streams,
                          std::int64_t box_elements) {
  constexpr std::int64_t kShortRun = 8;
  auto chunk = box_elements;
  for (const auto& loop : others)
    for (std::size_t s = 0; s < streams.size(); ++s) {
      const bool across = streams[s].kind != Stream::Kind::Number && loop.strides[s] == 1 && columns.strides[s] > 1;
      if (across && loop.size >= kShortRun)
        chunk = std::max(kMostTransposed, std::min(chunk, box_elements / loop.size));
    }
  return std::min(columns.size, chunk);
}

// The size of the longest loop over results, at least 1.
std::int64_t most_results(const std::vector<Loop>& loops) {
  std::int64_t most = 1;
  for (const auto& loop : loops)
    if (!loop.aggregated) most = std::max(most, loop.size);
  return most;
}

template <class Cost>
std::optional<Loop> take_cheapest(std::vector<Loop>& loops, const Cost& cost) {
  auto best = loops.end();
  double best_cost = std::numeric_limits<double>::infinity();
  for (auto loop = loops.begin(); loop != loops.end(); ++loop) {
    const auto this_cost = cost(*loop);
    if (this_cost < best_cost) {
      best = loop;
      best_cost = this_cost;
    }
  }
  if (best == loops.end()) return std::nullopt;
  auto taken = std::move(*best);
  loops.erase(best);
  return taken;
}

// Whether some operand is visited again for every index of an outer loop; its chunk should then stay in the cache.
bool reused(const Loop& side, const std::vector<Loop>& outer, std::span<const Stream> streams) {
  for (const auto& loop : outer)
    for (std::size_t s = 0; s < streams.size(); ++s)
      if (streams[s].kind == Stream::Kind::Operand && loop.strides[s] == 0 && side.strides[s] != 0) return true;
  return false;
}

void move(StreamOffsets& offsets, const Loop& loop, std::int64_t steps) {
  for (std::size_t s = 0; s < offsets.size(); ++s)
    offsets[s] += static_cast<std::uint64_t>(loop.strides[s]) * static_cast<std::uint64_t>(steps);
}

}  // namespace

bool Odometer::advance(StreamOffsets& offsets) {
  for (std::size_t n = loops_.size(); n-- > 0;) {
    const auto& loop = loops_[n];
    if (loop.size == 1) continue;
    if (++index_[n] < loop.size) {
      move(offsets, loop, 1);
      return true;
    }
    index_[n] = 0;
    move(offsets, loop, 1 - loop.size);
  }
  return false;
}

Loop chunk_loop(const BoxSide& side) {
  Loop loop{side.chunk_count(), side.loop.aggregated, side.loop.strides};
  for (auto& stride : loop.strides) stride = times(stride, side.chunk);
  return loop;
}

void merge(std::vector<Loop>& loops) {
  std::erase_if(loops, [](const Loop& loop) { return loop.size == 1; });
  while (merge_one(loops)) {
  }
}

LoopNest arrange_in_order(std::vector<Loop> output, std::vector<Loop> aggregated, std::span<const Stream> streams,
                          std::int64_t box_elements) {
  CHECK(box_elements > 0 && !streams.empty(), "a box has an element, and the output is a stream");
  merge(output);
  std::erase_if(aggregated, [](const Loop& loop) { return loop.size == 1; });
  for (std::size_t n = 0; n + 1 < aggregated.size();) {
    if (!nests(aggregated[n], aggregated[n + 1])) {
      ++n;
      continue;
    }
    aggregated[n + 1].size *= aggregated[n].size;
    aggregated.erase(aggregated.begin() + static_cast<std::ptrdiff_t>(n));
  }
  LoopNest nest;
  nest.rows.loop = {1, true, std::vector<std::int64_t>(streams.size(), 0)};
  double count = 1;
  for (const auto& loop : aggregated) count *= static_cast<double>(loop.size);
  if (!aggregated.empty()) {
    nest.rows.loop = std::move(aggregated.back());
    aggregated.pop_back();
  }
  nest.columns.loop = take_cheapest(output, [&](const Loop& loop) {
                        return column_cost(loop, streams, count);
                      }).value_or(Loop{1, false, std::vector<std::int64_t>(streams.size(), 0)});
  nest.columns.chunk = column_chunk(nest.columns.loop, {nest.rows.loop}, streams, box_elements);
  nest.rows.chunk = std::min(nest.rows.loop.size, std::max<std::int64_t>(1, box_elements / nest.columns.chunk));
  const auto cells = streams.size() - 1;
  std::stable_sort(output.begin(), output.end(),
                   [&](const Loop& a, const Loop& b) { return a.strides[cells] > b.strides[cells]; });
  nest.output = std::move(output);
  nest.output.push_back(chunk_loop(nest.columns));
  nest.column_loop = nest.output.size() - 1;
  nest.aggregated = std::move(aggregated);
  nest.aggregated.push_back(chunk_loop(nest.rows));
  nest.row_loop = nest.aggregated.size() - 1;
  return nest;
}

LoopNest arrange(std::vector<Loop> loops, std::span<const Stream> streams, std::int64_t box_elements,
                 bool many_results) {
  CHECK(box_elements > 0 && !streams.empty(), "a box has an element, and the output is a stream");
  double aggregated_count = 1;
  for (const auto& loop : loops)
    if (loop.aggregated) aggregated_count *= static_cast<double>(loop.size);
  merge(loops);

  const Loop single{1, false, std::vector<std::int64_t>(streams.size(), 0)};
  LoopNest nest;
  nest.columns.loop = take_cheapest(loops, [&](const Loop& loop) {
                        return column_cost(loop, streams, aggregated_count);
                      }).value_or(single);
  nest.columns.chunk = column_chunk(nest.columns.loop, loops, streams, box_elements);
  if (many_results && nest.columns.loop.aggregated)
    nest.columns.chunk =
        std::min(nest.columns.chunk, std::max(2 * kMostTransposed, box_elements / most_results(loops)));
  nest.rows.loop = single;
  if (nest.columns.chunk * 2 <= box_elements) {
    nest.rows.loop = take_cheapest(loops, [&](const Loop& loop) {
                       return row_cost(loop, nest.columns, streams, box_elements);
                     }).value_or(single);
    nest.rows.chunk = std::min(nest.rows.loop.size, box_elements / nest.columns.chunk);
  }

  // Large strides outside, small strides inside: by the output's strides if cells differ, otherwise by the operands'.
  CHECK(nest.columns.chunk > 0 && nest.rows.chunk > 0, "a box has a row and a column");
  const auto output = streams.size() - 1;
  std::stable_sort(loops.begin(), loops.end(), [&](const Loop& a, const Loop& b) {
    if (a.aggregated != b.aggregated) return !a.aggregated;
    if (!a.aggregated) return a.strides[output] > b.strides[output];
    return *std::max_element(a.strides.begin(), a.strides.end()) >
           *std::max_element(b.strides.begin(), b.strides.end());
  });
  for (auto& loop : loops) (loop.aggregated ? nest.aggregated : nest.output).push_back(std::move(loop));

  const auto place = [&](const BoxSide& side) {
    auto& list = side.loop.aggregated ? nest.aggregated : nest.output;
    list.push_back(chunk_loop(side));
    return list.size() - 1;
  };
  nest.row_loop = place(nest.rows);
  const bool outside = !nest.columns.loop.aggregated && nest.columns.chunk_count() > 1 &&
                       reused(nest.columns.loop, nest.output, streams);
  nest.column_loop = place(nest.columns);
  if (outside) {
    std::rotate(nest.output.begin(), nest.output.end() - 1, nest.output.end());
    nest.column_loop = 0;
    if (!nest.rows.loop.aggregated) ++nest.row_loop;
  }
  return nest;
}

}  // namespace eindb
